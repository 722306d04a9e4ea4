/* The call that serves every operation. */
#ifndef DTL_CALL_H
#define DTL_CALL_H

#include "arguments.h"
#include "interpreter.h"

#pragma GCC visibility push(hidden)

/* perform makes the call with the GIL released, and returns its result: None where there is none. */
PyObject *perform(dtl_call *call);

/* take_call reads what call and start have in common: the code, the owner, four integers and the lists, which are
 * borrowed until release_lists. name is the function's, for errors. */
taken take_call(const char *name, PyObject *const *args, Py_ssize_t nargs, dtl_call *call, Py_buffer *views);

/* add_list borrows the next list of a call, or notes that there is none. What is borrowed is released by release_lists, also where this fails. */
taken add_list(dtl_call *call, PyObject *value, Py_buffer *views);

void release_lists(const dtl_call *call, Py_buffer *views);

extern const char call_doc[];
PyObject *bridge_call(PyObject *module, PyObject *const *args, Py_ssize_t nargs);

/* operation_code returns the number of an operation by its name, or -1. */
int64_t operation_code(const char *name);

/* with_value borrows the input, if there is one, and makes the call. */
PyObject *with_value(dtl_call *call, PyObject *value, PyObject *out);

#pragma GCC visibility pop

#endif
