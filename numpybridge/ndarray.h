/*
 * A short cut to the fields of a NumPy array, which the buffer protocol takes 100 ns to tell.
 *
 * The layout is that of PyArrayObject_fields and PyArray_Descr in NumPy's ndarraytypes.h, which has been part of
 * NumPy's binary interface since 1.7. It is declared here so that building needs no NumPy; ndarray_learn holds it
 * against an array whose fields are known, and where they differ the buffer protocol goes on serving.
 */
#ifndef DTL_NDARRAY_H
#define DTL_NDARRAY_H

#include "module.h"

#pragma GCC visibility push(hidden)

typedef struct {
    PyObject_HEAD
    PyTypeObject *typeobj;
    char kind, type, byteorder, unused;
    int type_num;
} ndarray_descr;

typedef struct {
    PyObject_HEAD
    char *data;
    int nd;
    Py_ssize_t *dimensions, *strides;
    PyObject *base;
    ndarray_descr *descr;
    int flags;
} ndarray;

enum { NDARRAY_C_CONTIGUOUS = 0x1, NDARRAY_ALIGNED = 0x100, NDARRAY_WRITEABLE = 0x400 };

/* By NumPy's type number, up to complex128: the PEP 3118 format and the item's size. */
static const struct {
    const char *format;
    int size;
} ndarray_types[] = {
    {"?", 1}, {"b", 1}, {"B", 1}, {"h", 2}, {"H", 2}, {"i", 4}, {"I", 4}, {"l", 8},
    {"L", 8}, {"q", 8}, {"Q", 8}, {"f", 4}, {"d", 8}, {NULL, 0}, {"Zf", 8}, {"Zd", 16},
};

/* The type whose instances have this layout; NULL until it is known to. */
extern PyTypeObject *ndarray_known;

/* ndarray_take describes a C-contiguous array of the known type in native byte order, and says whether it could.
 * The shape is copied to shape, unless that is NULL: another thread may give the array a new one during the call. */
static inline int ndarray_take(PyObject *value, dtl_array *a, int64_t *shape, int writable) {
    if (Py_TYPE(value) != ndarray_known)
        return 0;
    const ndarray *n = (const ndarray *)value;
    int flags = NDARRAY_C_CONTIGUOUS | NDARRAY_ALIGNED | (writable ? NDARRAY_WRITEABLE : 0);
    unsigned type = (unsigned)n->descr->type_num;
    if ((n->flags & flags) != flags || (n->descr->byteorder != '=' && n->descr->byteorder != '|') ||
        type >= sizeof ndarray_types / sizeof *ndarray_types || ndarray_types[type].format == NULL)
        return 0;
    int64_t count = 1;
    for (int i = 0; i < n->nd; i++)
        count *= n->dimensions[i];
    for (int i = 0; shape != NULL && i < n->nd; i++)
        shape[i] = n->dimensions[i];
    a->given = 1;
    a->data = n->data;
    a->format = ndarray_types[type].format;
    a->itemsize = ndarray_types[type].size;
    a->count = count;
    a->shape = shape;
    a->ndim = shape != NULL ? n->nd : 0;
    a->kind = DTL_NDARRAY;
    return 1;
}

/* ndarray_learn takes the type of a sample, an array of float64 and two dimensions, if the layout holds for it. */
void ndarray_learn(PyObject *sample);

#pragma GCC visibility pop

#endif
