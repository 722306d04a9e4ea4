/*
 * A short cut to NumPy: the fields of its arrays, which the buffer protocol takes 100 ns to tell, and new arrays, for
 * which np.asarray of a buffer takes 200.
 *
 * The layout is that of PyArrayObject_fields and PyArray_Descr in NumPy's ndarraytypes.h, and the functions are those
 * of its table _ARRAY_API. Both have been NumPy's binary interface since 1.7. They are declared here so that building
 * needs no NumPy; ndarray_learn holds them against an array whose fields are known. Where they differ, the buffer
 * protocol goes on serving.
 */
#ifndef DTL_NUMPY_H
#define DTL_NUMPY_H

#include "interpreter.h"
#include "state.h"

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

/* The most dimensions that an array of every NumPy has. */
enum { NDARRAY_MAX_DIMS = 32 };

/* NumPy's type numbers of what Python's scalars become, and one more than that of any number. */
enum { NDARRAY_BOOL = 0, NDARRAY_LONG = 7, NDARRAY_DOUBLE = 12, NDARRAY_CDOUBLE = 15, NDARRAY_TYPES = 24 };

/* What is known of one of NumPy's types. */
typedef struct {
    char format[4]; /* PEP 3118 */
    int size;
    int number; /* the core's; 0: the core does not have it */
    ndarray_descr *descr;
} array_type;

/* By NumPy's type number. */
extern array_type array_types[NDARRAY_TYPES];

/* elements_of returns how many elements an array has. */
static inline double elements_of(const ndarray *array) {
    double count = 1;
    for (int i = 0; i < array->nd; i++)
        count *= (double)array->dimensions[i];
    return count;
}

/* bytes_of returns how many bytes the elements of an array of a type of the core's take. */
static inline double bytes_of(const ndarray *array) { return elements_of(array) * array_types[array->descr->type_num].size; }

/* is_small says whether a result of an array's size may be made by a short way: what NumPy computes of a larger one would be thrown
 * away. */
static inline int is_small(const ndarray *array) { return bytes_of(array) < state.least_queued; }

/* A Python scalar's value, for as long as a call lasts. */
typedef union {
    double real;
    long long integer;
    Py_complex complex_;
    char truth;
} scalar;

/* The bytes of an element of each type, by the core's number; 0: there is none. */
extern uint8_t type_sizes[DTL_TYPE_NUMBERS];

/* The type whose instances have this layout; NULL until it is known to. */
extern PyTypeObject *ndarray_known;

/* Whether NumPy's functions are known, and the core's types are all among NumPy's: array_new and those below may be
 * called. */
extern int numpy_known;

/* ndarray_take describes a C-contiguous array of the known type in native byte order, and says whether it could.
 * The shape is copied to shape, unless that is NULL: another thread may give the array a new one during the call. */
static inline int ndarray_take(PyObject *value, dtl_array *a, int64_t *shape, int writable) {
    if (Py_TYPE(value) != ndarray_known)
        return 0;
    const ndarray *n = (const ndarray *)value;
    int flags = NDARRAY_C_CONTIGUOUS | NDARRAY_ALIGNED | (writable ? NDARRAY_WRITEABLE : 0);
    unsigned type = (unsigned)n->descr->type_num;
    if ((n->flags & flags) != flags || (n->descr->byteorder != '=' && n->descr->byteorder != '|') ||
        type >= NDARRAY_TYPES || array_types[type].number == 0)
        return 0;
    int64_t count = 1;
    for (int i = 0; i < n->nd; i++)
        count *= n->dimensions[i];
    for (int i = 0; shape != NULL && i < n->nd; i++)
        shape[i] = n->dimensions[i];
    a->given = 1;
    a->type = array_types[type].number;
    a->data = n->data;
    a->format = array_types[type].format;
    a->itemsize = array_types[type].size;
    a->count = count;
    a->shape = shape;
    a->ndim = shape != NULL ? n->nd : 0;
    a->kind = DTL_NDARRAY;
    return 1;
}

/* ndarray_learn takes the type of a sample, an array of float64 and two dimensions, if the layout holds for it, and
 * NumPy's functions if they are those of a version that is known. */
void ndarray_learn(PyObject *sample);

/* numpy_module returns the module that has NumPy's functions, or NULL. */
PyObject *numpy_module(void);

/* numpy_functions returns the table of NumPy's functions, or NULL where it is not known. */
void **numpy_functions(void);

/* type_numbered returns the type with one of the core's numbers; NULL if there is none. */
const array_type *type_numbered(unsigned number);

/* array_new returns an array of a type with undefined elements. */
PyObject *array_new(const ndarray_descr *descr, int ndim, const int64_t *shape);

/* array_over returns an array with elements at an address in C order, and keeps their owner, of which it takes a reference, also
 * when it fails. */
PyObject *array_over(const ndarray_descr *descr, int ndim, const Py_ssize_t *shape, void *data, PyObject *owner);

/* array_copy copies the elements of an array to another one. It returns -1 with an exception where that fails. */
int array_copy(PyObject *to, PyObject *from);

/* array_of returns what arrived as an array or a NumPy scalar. It takes over the call's storage, also when it fails. */
PyObject *array_of(dtl_call *call);

/* generic_take takes the value of a NumPy scalar of exactly one of NumPy's own types, and says which. */
const array_type *generic_take(PyObject *value, dtl_array *a, scalar *s);

/* generic_new returns a NumPy scalar. */
PyObject *generic_new(const ndarray_descr *descr, void *data);

/* dtype_resolved returns the dtype that a dtype or scalar type of the core's stands for, borrowed; NULL without an exception for others. */
PyObject *dtype_resolved(PyObject *dtype);

/* dtype_take reads the core's number of a NumPy dtype or scalar type: 0 of None, -1 of anything that takes more. */
int dtype_take(PyObject *dtype);

#pragma GCC visibility pop

#endif
