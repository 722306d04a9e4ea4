/* Loops of expressions. */
#ifndef DTL_EXPRESSIONS_H
#define DTL_EXPRESSIONS_H

#include "interpreter.h"

#pragma GCC visibility push(hidden)

extern const char compute_doc[], fault_doc[];
PyObject *bridge_compute(PyObject *module, PyObject *args);
PyObject *bridge_fault(PyObject *module, PyObject *args);

#pragma GCC visibility pop

#endif
