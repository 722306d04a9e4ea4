/* Folds of the rows and of the columns of a matrix, each to one element. */
#ifndef DTL_MATRIX_FOLDS_H
#define DTL_MATRIX_FOLDS_H

#include "interpreter.h"

#pragma GCC visibility push(hidden)

extern const char fold_rows_doc[], dot_rows_doc[], find_in_rows_doc[], fold_columns_doc[], sum_lines_doc[];
PyObject *bridge_fold_rows(PyObject *module, PyObject *args);
PyObject *bridge_dot_rows(PyObject *module, PyObject *args);
PyObject *bridge_find_in_rows(PyObject *module, PyObject *args);
PyObject *bridge_fold_columns(PyObject *module, PyObject *args);
PyObject *bridge_sum_lines(PyObject *module, PyObject *args);

#pragma GCC visibility pop

#endif
