/* Exceptions of errors of the core. */
#ifndef DTL_ERRORS_H
#define DTL_ERRORS_H

#include "interpreter.h"

#pragma GCC visibility push(hidden)

/* errors_setup takes the function that makes an exception of an error's text. */
void errors_setup(PyObject *make_error);

/* fail raises the exception that "[code op] cause" stands for, and returns NULL. */
PyObject *fail(const char *text);

/* fail_as raises the exception of a code of the core's, for an operation, or "", and a text that is written as by printf. */
PyObject *fail_as(int code, const char *op, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* fail_with raises an error of Go's, frees it, and returns NULL. */
PyObject *fail_with(char *error);

/* fail_alone is fail_with of an error that no other rank knows of. */
PyObject *fail_alone(char *error);

/* fail_forked says that this process is a forked child, and returns NULL. */
PyObject *fail_forked(void);

#pragma GCC visibility pop

#endif
