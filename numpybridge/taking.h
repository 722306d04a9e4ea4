/* Loops over rows of Arrow's columns: which of them are taken, in any order. */
#ifndef DTL_TAKING_H
#define DTL_TAKING_H

#include "interpreter.h"

#pragma GCC visibility push(hidden)

extern const char take_bits_doc[], take_fixed_doc[], take_offsets_doc[], take_text_doc[];
PyObject *bridge_take_bits(PyObject *module, PyObject *args);
PyObject *bridge_take_fixed(PyObject *module, PyObject *args);
PyObject *bridge_take_offsets(PyObject *module, PyObject *args);
PyObject *bridge_take_text(PyObject *module, PyObject *args);

#pragma GCC visibility pop

#endif
