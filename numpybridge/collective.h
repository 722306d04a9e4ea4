/* The type Collective. */
#ifndef DTL_COLLECTIVE_H
#define DTL_COLLECTIVE_H

#include "interpreter.h"

#pragma GCC visibility push(hidden)

extern PyTypeObject CollectiveType;

/* collective_failed does what a call of a Collective does where its function raises the exception that is set. */
PyObject *collective_failed(PyObject *collective, PyObject *const *args, Py_ssize_t count);

#pragma GCC visibility pop

#endif
