/* Folds of the columns of a matrix. */
#ifndef DTL_COLUMN_FOLDS_H
#define DTL_COLUMN_FOLDS_H

#include "interpreter.h"

#pragma GCC visibility push(hidden)

extern const char fold_columns_doc[], sum_columns_doc[];
PyObject *bridge_fold_columns(PyObject *module, PyObject *args);
PyObject *bridge_sum_columns(PyObject *module, PyObject *args);

#pragma GCC visibility pop

#endif
