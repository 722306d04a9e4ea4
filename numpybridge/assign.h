/* Copies and conversions of arrays on the threads of this rank. */
#ifndef DTL_ASSIGN_H
#define DTL_ASSIGN_H

#include "interpreter.h"

#pragma GCC visibility push(hidden)

extern const char copy_elements_doc[], take_elements_doc[];
PyObject *bridge_copy_elements(PyObject *module, PyObject *args);
PyObject *bridge_take_elements(PyObject *module, PyObject *args);

#pragma GCC visibility pop

#endif
