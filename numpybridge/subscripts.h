/* Subscripts of containers, and NumPy's functions that only move elements. */
#ifndef DTL_SUBSCRIPTS_H
#define DTL_SUBSCRIPTS_H

#include "interpreter.h"

#pragma GCC visibility push(hidden)

extern PyMappingMethods subscripts_mapping;
extern PySequenceMethods subscripts_sequence;
extern const char learn_subscripts_doc[];
PyObject *bridge_learn_subscripts(PyObject *module, PyObject *args);
PyObject *subscripts_function(PyObject *self, PyObject *const *args, Py_ssize_t nargs);
PyObject *subscripts_transpose(PyObject *self, void *unused);

#pragma GCC visibility pop

#endif
