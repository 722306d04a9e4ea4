/* Calls that compute with buffers of any objects, and with no object of the core. */
#ifndef DTL_OVER_BUFFERS_H
#define DTL_OVER_BUFFERS_H

#include "interpreter.h"

#pragma GCC visibility push(hidden)

extern const char over_buffers_doc[];
PyObject *bridge_over_buffers(PyObject *module, PyObject *const *args, Py_ssize_t nargs);

#pragma GCC visibility pop

#endif
