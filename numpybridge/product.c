//go:build cpython

/* Products of rows of sparse matrices with vectors. The loops do not hold the interpreter's lock, so that threads take parts of the rows. */
#include "product.h"
#include "../core/kernel/sparse/product.h"
#include "borrowed.h"

/* MULTIPLIED calls a loop for numbers of size bytes and elements of width bytes. */
#define MULTIPLIED(loop, ...)                                                                                          \
    Py_BEGIN_ALLOW_THREADS                                                                                             \
    if (size == 4 && width == 4)                                                                                       \
        loop##_int32_t_float(begins, columns, values, __VA_ARGS__);                                                    \
    else if (size == 4)                                                                                                \
        loop##_int32_t_double(begins, columns, values, __VA_ARGS__);                                                   \
    else if (width == 4)                                                                                               \
        loop##_int64_t_float(begins, columns, values, __VA_ARGS__);                                                    \
    else                                                                                                               \
        loop##_int64_t_double(begins, columns, values, __VA_ARGS__);                                                   \
    Py_END_ALLOW_THREADS

const char multiply_rows_doc[] = PyDoc_STR(
"multiply_rows($module, rows, begin, behind, vector, out, adds, /)\n--\n\n"
"Write the products of rows from begin to behind with a vector to out, or add them.\n\n"
"rows are indptr, indices, the bytes of their numbers, 4 or 8, the elements, and the bytes of one: 4 of float32, 8 of float64.\n"
"The vector and out have elements of the same type. Columns are in the vector: nobody checks that.");

PyObject *bridge_multiply_rows(PyObject *module, PyObject *args) {
    PyObject *indptr, *indices, *data, *vector, *out, *answer = NULL;
    int size, width, adds;
    long long begin, behind;
    if (!PyArg_ParseTuple(args, "(OOiOi)LLOOp:multiply_rows", &indptr, &indices, &size, &data, &width, &begin, &behind, &vector, &out, &adds))
        return NULL;
    borrowed b = {.count = 0};
    const void *begins = borrow(&b, indptr, 0, (behind + 1) * size, "indptr");
    const void *columns = begins == NULL ? NULL : borrow(&b, indices, 0, 0, "indices");
    const void *values = columns == NULL ? NULL : borrow(&b, data, 0, 0, "data");
    const void *factors = values == NULL ? NULL : borrow(&b, vector, 0, 0, "vector");
    void *sums = factors == NULL ? NULL : borrow(&b, out, 1, behind * width, "out");
    if (sums != NULL) {
        MULTIPLIED(dtl_multiply, begin, behind, factors, sums, adds)
        answer = Py_NewRef(Py_None);
    }
    release(&b);
    return answer;
}

const char multiply_back_doc[] = PyDoc_STR(
"multiply_back($module, rows, count, vector, out, /)\n--\n\n"
"Add the products of so many transposed rows, as of multiply_rows, with a vector to out, whose elements belong to columns.");

PyObject *bridge_multiply_back(PyObject *module, PyObject *args) {
    PyObject *indptr, *indices, *data, *vector, *out, *answer = NULL;
    int size, width;
    long long rows;
    if (!PyArg_ParseTuple(args, "(OOiOi)LOO:multiply_back", &indptr, &indices, &size, &data, &width, &rows, &vector, &out))
        return NULL;
    borrowed b = {.count = 0};
    const void *begins = borrow(&b, indptr, 0, (rows + 1) * size, "indptr");
    const void *columns = begins == NULL ? NULL : borrow(&b, indices, 0, 0, "indices");
    const void *values = columns == NULL ? NULL : borrow(&b, data, 0, 0, "data");
    const void *factors = values == NULL ? NULL : borrow(&b, vector, 0, rows * width, "vector");
    void *sums = factors == NULL ? NULL : borrow(&b, out, 1, 0, "out");
    if (sums != NULL) {
        MULTIPLIED(dtl_multiply_back, rows, factors, sums)
        answer = Py_NewRef(Py_None);
    }
    release(&b);
    return answer;
}
