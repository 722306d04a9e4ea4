/* Calls that are under way. */
#ifndef DTL_REQUESTS_H
#define DTL_REQUESTS_H

#include "interpreter.h"

#pragma GCC visibility push(hidden)

extern PyTypeObject PendingCallType;

extern const char start_doc[];
extern const char pends_doc[];
PyObject *bridge_pends(PyObject *module, PyObject *object);

PyObject *bridge_start(PyObject *module, PyObject *const *args, Py_ssize_t nargs);

#pragma GCC visibility pop

#endif
