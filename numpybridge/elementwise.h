/* NumPy's operators and ufuncs on containers. */
#ifndef DTL_ELEMENTWISE_H
#define DTL_ELEMENTWISE_H

#include "interpreter.h"

#pragma GCC visibility push(hidden)

extern PyNumberMethods elementwise_operators;
extern const char learn_ufuncs_doc[];
PyObject *bridge_learn_ufuncs(PyObject *module, PyObject *args);
PyObject *elementwise_compare(PyObject *one, PyObject *other, int how);
PyObject *elementwise_ufunc(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *words);

#pragma GCC visibility pop

#endif
