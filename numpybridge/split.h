/* Rows of sparse matrices, divided by columns. */
#ifndef DTL_SPLIT_LOOPS_H
#define DTL_SPLIT_LOOPS_H

#include "interpreter.h"

#pragma GCC visibility push(hidden)

extern const char count_within_doc[], renumber_doc[], split_rows_doc[];
PyObject *bridge_count_within(PyObject *module, PyObject *args);
PyObject *bridge_renumber(PyObject *module, PyObject *args);
PyObject *bridge_split_rows(PyObject *module, PyObject *args);

#pragma GCC visibility pop

#endif
