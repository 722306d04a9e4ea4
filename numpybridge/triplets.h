/* Triplets of sparse matrices, counted, written by blocks of rows, and sorted. */
#ifndef DTL_TRIPLET_LOOPS_H
#define DTL_TRIPLET_LOOPS_H

#include "interpreter.h"

#pragma GCC visibility push(hidden)

extern const char count_triplets_doc[], sort_triplets_doc[], write_triplets_doc[];
PyObject *bridge_count_triplets(PyObject *module, PyObject *args);
PyObject *bridge_sort_triplets(PyObject *module, PyObject *args);
PyObject *bridge_write_triplets(PyObject *module, PyObject *args);

#pragma GCC visibility pop

#endif
