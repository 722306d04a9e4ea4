//go:build cpython

/* Rows of sparse matrices, divided by columns. The loops do not hold the interpreter's lock, so that threads take parts of the rows. */
#include "split.h"
#include "../core/kernel/sparse/split.h"
#include "borrowed.h"

const char count_within_doc[] = PyDoc_STR(
"count_within($module, indptr, indices, size, rows, first, end, counts, /)\n--\n\n"
"Write to counts how many elements each row has in columns from the first to the end. Columns ascend in each row. All arrays\n"
"have numbers of size bytes, 4 or 8.");

PyObject *bridge_count_within(PyObject *module, PyObject *args) {
    PyObject *indptr, *indices, *counts, *answer = NULL;
    int size;
    long long rows, first, end;
    if (!PyArg_ParseTuple(args, "OOiLLLO:count_within", &indptr, &indices, &size, &rows, &first, &end, &counts))
        return NULL;
    borrowed b = {.count = 0};
    const void *begins = borrow(&b, indptr, 0, (rows + 1) * size, "indptr");
    const void *columns = begins == NULL ? NULL : borrow(&b, indices, 0, 0, "indices");
    void *found = columns == NULL ? NULL : borrow(&b, counts, 1, rows * size, "counts");
    if (found != NULL) {
        Py_BEGIN_ALLOW_THREADS
        if (size == 4)
            dtl_count_within_int32_t(begins, columns, rows, first, end, found);
        else
            dtl_count_within_int64_t(begins, columns, rows, first, end, found);
        Py_END_ALLOW_THREADS
        answer = Py_NewRef(Py_None);
    }
    release(&b);
    return answer;
}

const char renumber_doc[] = PyDoc_STR(
"renumber($module, indices, size, begin, end, numbers, /)\n--\n\n"
"Write the number that each column from begin to end has in numbers in its place. Both have numbers of size bytes, 4 or 8.");

PyObject *bridge_renumber(PyObject *module, PyObject *args) {
    PyObject *indices, *numbers, *answer = NULL;
    int size;
    long long begin, end;
    if (!PyArg_ParseTuple(args, "OiLLO:renumber", &indices, &size, &begin, &end, &numbers))
        return NULL;
    borrowed b = {.count = 0};
    char *columns = borrow(&b, indices, 1, end * size, "indices");
    const void *table = columns == NULL ? NULL : borrow(&b, numbers, 0, 0, "numbers");
    if (table != NULL) {
        columns += begin * size;
        Py_BEGIN_ALLOW_THREADS
        if (size == 4)
            dtl_renumber_int32_t((void *)columns, end - begin, table);
        else
            dtl_renumber_int64_t((void *)columns, end - begin, table);
        Py_END_ALLOW_THREADS
        answer = Py_NewRef(Py_None);
    }
    release(&b);
    return answer;
}

/* DIVIDED divides rows with values of one type. */
#define DIVIDED(value)                                                                                                 \
    if (width == (int)sizeof(value) && size == 4)                                                                      \
        dtl_split_int32_t_##value(begins, columns, values, begin, behind, first, end, upto, near, near_values, far, far_values, mark); \
    if (width == (int)sizeof(value) && size == 8)                                                                      \
        dtl_split_int64_t_##value(begins, columns, values, begin, behind, first, end, upto, near, near_values, far, far_values, mark);

const char split_rows_doc[] = PyDoc_STR(
"split_rows($module, rows, first, end, ends, own, other, begin, behind, /)\n--\n\n"
"Divide rows from begin to behind in what is in columns from the first to the end, which are counted from 0 then, and the rest.\n\n"
"rows are indptr, indices, the bytes of their numbers, the elements, and the bytes of one. ends say where those within begin\n"
"in own, of each row. own and other are indices and elements; other has a third array, for a 1 in each column that it has, or\n"
"None. All numbers have as many bytes as those of rows.");

PyObject *bridge_split_rows(PyObject *module, PyObject *args) {
    PyObject *rows, *own, *other, *indptr, *indices, *data, *ends, *own_indices, *own_data, *other_indices, *other_data, *there, *answer = NULL;
    int size, width;
    long long first, end, begin, behind;
    if (!PyArg_ParseTuple(args, "O!LLOO!O!LL:split_rows", &PyTuple_Type, &rows, &first, &end, &ends, &PyTuple_Type, &own, &PyTuple_Type,
                          &other, &begin, &behind) ||
        !PyArg_ParseTuple(rows, "OOiOi:rows", &indptr, &indices, &size, &data, &width) ||
        !PyArg_ParseTuple(own, "OO:own", &own_indices, &own_data) ||
        !PyArg_ParseTuple(other, "OOO:other", &other_indices, &other_data, &there))
        return NULL;
    borrowed b = {.count = 0};
    const void *begins = borrow(&b, indptr, 0, (behind + 1) * size, "indptr");
    const void *columns = begins == NULL ? NULL : borrow(&b, indices, 0, 0, "indices");
    const void *values = columns == NULL ? NULL : borrow(&b, data, 0, 0, "data");
    const void *upto = values == NULL ? NULL : borrow(&b, ends, 0, behind * size, "ends");
    void *near = upto == NULL ? NULL : borrow(&b, own_indices, 1, 0, "own indices");
    void *near_values = near == NULL ? NULL : borrow(&b, own_data, 1, 0, "own data");
    void *far = near_values == NULL ? NULL : borrow(&b, other_indices, 1, 0, "other indices");
    void *far_values = far == NULL ? NULL : borrow(&b, other_data, 1, 0, "other data");
    uint8_t *mark = far_values == NULL || there == Py_None ? NULL : borrow(&b, there, 1, 0, "columns");
    if (far_values != NULL && (mark != NULL || there == Py_None)) {
        Py_BEGIN_ALLOW_THREADS
        DIVIDED(uint8_t)
        DIVIDED(uint16_t)
        DIVIDED(uint32_t)
        DIVIDED(uint64_t)
        DIVIDED(dtl_wide)
        Py_END_ALLOW_THREADS
        answer = Py_NewRef(Py_None);
    }
    release(&b);
    return answer;
}
