/* Products of rows of sparse matrices with vectors. */
#ifndef DTL_PRODUCT_LOOPS_H
#define DTL_PRODUCT_LOOPS_H

#include "interpreter.h"

#pragma GCC visibility push(hidden)

extern const char multiply_back_doc[], multiply_rows_doc[];
PyObject *bridge_multiply_back(PyObject *module, PyObject *args);
PyObject *bridge_multiply_rows(PyObject *module, PyObject *args);

#pragma GCC visibility pop

#endif
