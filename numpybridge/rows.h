/* Loops over rows of Arrow's columns: which are taken, which have a key, and hashes. */
#ifndef DTL_ROW_LOOPS_H
#define DTL_ROW_LOOPS_H

#include "interpreter.h"

#pragma GCC visibility push(hidden)

extern const char find_rows_doc[], hash_texts_doc[], part_fixed_doc[], place_rows_doc[], take_bits_doc[], take_fixed_doc[], take_offsets_doc[], take_text_doc[];
PyObject *bridge_find_rows(PyObject *module, PyObject *args);
PyObject *bridge_hash_texts(PyObject *module, PyObject *args);
PyObject *bridge_part_fixed(PyObject *module, PyObject *args);
PyObject *bridge_place_rows(PyObject *module, PyObject *args);
PyObject *bridge_take_bits(PyObject *module, PyObject *args);
PyObject *bridge_take_fixed(PyObject *module, PyObject *args);
PyObject *bridge_take_offsets(PyObject *module, PyObject *args);
PyObject *bridge_take_text(PyObject *module, PyObject *args);

#pragma GCC visibility pop

#endif
