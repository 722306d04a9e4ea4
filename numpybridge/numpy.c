//go:build cpython

/* Whether NumPy's arrays have the layout of numpy.h, and what NumPy's functions make. */
#include "numpy.h"
#include "objects.h"

PyTypeObject *ndarray_known;
int numpy_known;

array_type array_types[NDARRAY_TYPES];
uint8_t type_sizes[DTL_TYPE_NUMBERS];

/* The types by the core's number; 0 is none. */
static const array_type *by_number[DTL_TYPE_NUMBERS];

/* NumPy's functions, as its table of the C interface numbers them. */
static struct {
    PyTypeObject *array, *descr;
    PyObject *(*scalar_new)(void *, ndarray_descr *, PyObject *);
    void (*scalar_value)(PyObject *, void *);
    PyObject *(*array_new)(PyTypeObject *, ndarray_descr *, int, const Py_ssize_t *, const Py_ssize_t *, void *, int, PyObject *);
    int (*copy)(PyObject *, PyObject *);
    int (*set_base)(PyObject *, PyObject *);
} numpy;

/* The table itself; NULL until it is known. */
static void **functions;

enum { VERSION_1 = 0x01000009, VERSION_2 = 0x02000000 };

const array_type *type_numbered(unsigned number) { return number < DTL_TYPE_NUMBERS ? by_number[number] : NULL; }

PyObject *numpy_module(void) {
    PyObject *modules = PyImport_GetModuleDict(), *module = PyDict_GetItemString(modules, "numpy._core._multiarray_umath");
    return module != NULL ? module : PyDict_GetItemString(modules, "numpy.core._multiarray_umath");
}

void **numpy_functions(void) { return numpy_known ? functions : NULL; }

/* numpy_table returns the table of NumPy's functions, if it is there and of a known version. */
static void **numpy_table(PyObject *module) {
    PyObject *capsule = module == NULL ? NULL : PyObject_GetAttrString(module, "_ARRAY_API");
    void **table = capsule != NULL && PyCapsule_CheckExact(capsule) ? PyCapsule_GetPointer(capsule, NULL) : NULL;
    Py_XDECREF(capsule); /* the module keeps the table */
    PyErr_Clear();
    if (table == NULL)
        return NULL;
    unsigned version = ((unsigned (*)(void))table[0])();
    return version == VERSION_1 || version == VERSION_2 ? table : NULL;
}

/* learn_type keeps what NumPy and the core say of one of NumPy's types, if the core has it. */
static void learn_type(PyObject *dtype, char letter) {
    PyObject *descr = PyObject_CallFunction(dtype, "s#", &letter, (Py_ssize_t)1);
    PyObject *size = descr == NULL ? NULL : PyObject_GetAttrString(descr, "itemsize");
    PyObject *number = descr == NULL ? NULL : PyObject_GetAttrString(descr, "num");
    long at = number == NULL ? -1 : PyLong_AsLong(number);
    if (at >= 0 && at < NDARRAY_TYPES && size != NULL && array_types[at].number == 0) {
        array_type *type = &array_types[at];
        int is_complex = strchr("FDG", letter) != NULL;
        type->format[0] = is_complex ? 'Z' : letter;
        type->format[1] = is_complex ? (char)(letter - 'A' + 'a') : 0;
        type->size = (int)PyLong_AsLong(size);
        type->number = dtl_type(type->format, type->size);
        if (type->number > 0 && type->number < DTL_TYPE_NUMBERS) {
            type->descr = (ndarray_descr *)Py_NewRef(descr);
            if (by_number[type->number] == NULL)
                by_number[type->number] = type;
            type_sizes[type->number] = (uint8_t)type->size;
        }
    }
    Py_XDECREF(number);
    Py_XDECREF(size);
    Py_XDECREF(descr);
    PyErr_Clear();
}

/* learn_types learns which of NumPy's types the core has, and says whether the core has no others. */
static int learn_types(void) {
    static const char letters[] = "?bBhHiIlLqQefdgFDG"; /* of NumPy's types of numbers */
    int found = 0;
    PyObject *module = PyImport_ImportModule("numpy"), *dtype = module == NULL ? NULL : PyObject_GetAttrString(module, "dtype");
    for (const char *letter = letters; dtype != NULL && *letter != 0; letter++)
        learn_type(dtype, *letter);
    Py_XDECREF(dtype);
    Py_XDECREF(module);
    PyErr_Clear();
    for (int i = 1; i < DTL_TYPE_NUMBERS; i++)
        found += by_number[i] != NULL;
    return found == dtl_types();
}

static int learn_functions(void) {
    void **table = numpy_table(numpy_module());
    if (table == NULL || table[2] != ndarray_known)
        return 0;
    numpy.array = table[2];
    numpy.descr = table[3];
    numpy.scalar_new = table[60];
    numpy.scalar_value = table[62];
    numpy.array_new = table[94];
    numpy.copy = table[50];
    numpy.set_base = table[282];
    functions = table;
    return 1;
}

void ndarray_learn(PyObject *sample) {
    Py_buffer view;
    dtl_array a;
    int64_t shape[DTL_MAX_DIMS];
    ndarray_known = NULL;
    numpy_known = 0;
    int all = learn_types();
    if (PyObject_GetBuffer(sample, &view, PyBUF_FULL) < 0) {
        PyErr_Clear();
        return;
    }
    if (Py_TYPE(sample)->tp_basicsize >= (Py_ssize_t)sizeof(ndarray) && view.ndim == 2 &&
        ((const ndarray *)sample)->data == view.buf && ((const ndarray *)sample)->nd == 2) {
        ndarray_known = Py_TYPE(sample);
        if (!ndarray_take(sample, &a, shape, 1) || strcmp(a.format, view.format) != 0 || a.itemsize != view.itemsize ||
            a.shape[0] != view.shape[0] || a.shape[1] != view.shape[1] || a.count * a.itemsize != view.len)
            ndarray_known = NULL;
    }
    PyBuffer_Release(&view);
    numpy_known = ndarray_known != NULL && all && learn_functions();
}

/* over returns an array with elements at an address, or its own where that is NULL. */
static PyObject *over(const ndarray_descr *descr, int ndim, const int64_t *shape, const int64_t *strides, void *data) {
    int flags = data != NULL ? NDARRAY_ALIGNED | NDARRAY_WRITEABLE : 0;
    Py_INCREF(descr);
    return numpy.array_new(numpy.array, (ndarray_descr *)descr, ndim, (const Py_ssize_t *)shape, (const Py_ssize_t *)strides,
                           data, flags, NULL);
}

PyObject *array_new(const ndarray_descr *descr, int ndim, const int64_t *shape) { return over(descr, ndim, shape, NULL, NULL); }

PyObject *generic_new(const ndarray_descr *descr, void *data) { return numpy.scalar_new(data, (ndarray_descr *)descr, NULL); }

PyObject *array_over(const ndarray_descr *descr, int ndim, const Py_ssize_t *shape, void *data, PyObject *owner) {
    PyObject *array = over(descr, ndim, (const int64_t *)shape, NULL, data);
    if (array == NULL) {
        Py_DECREF(owner);
    } else if (numpy.set_base(array, owner) < 0) { /* which has taken owner */
        Py_DECREF(array);
        return NULL;
    }
    return array;
}

int array_copy(PyObject *to, PyObject *from) { return numpy.copy(to, from); }

PyObject *array_of(dtl_call *call) {
    const dtl_array *r = &call->result;
    const ndarray_descr *descr = by_number[r->type]->descr;
    PyObject *array, *owner = NULL;
    if (call->storage == 0) { /* the elements lie in the call */
        if (r->kind == DTL_NUMPY_SCALAR)
            return generic_new(descr, r->data);
        if ((array = array_new(descr, r->ndim, r->shape)) != NULL)
            memcpy(((ndarray *)array)->data, r->data, (size_t)(r->count * r->itemsize));
        return array;
    }
    if ((owner = buffer_new(call)) == NULL)
        return NULL;
    if (r->kind == DTL_NUMPY_SCALAR) {
        array = generic_new(descr, r->data);
        Py_DECREF(owner);
        return array;
    }
    array = over(descr, r->ndim, r->shape, r->strides, r->data);
    if (array == NULL) {
        Py_DECREF(owner);
    } else if (numpy.set_base(array, owner) < 0) { /* which has taken owner */
        Py_DECREF(array);
        return NULL;
    }
    return array;
}

const array_type *generic_take(PyObject *value, dtl_array *a, scalar *s) {
    PyTypeObject *type = Py_TYPE(value);
    for (int i = 0; numpy_known && i < NDARRAY_TYPES; i++) {
        const array_type *known = &array_types[i];
        if (known->number == 0 || known->descr->typeobj != type)
            continue;
        numpy.scalar_value(value, s);
        *a = (dtl_array){.given = 1, .type = known->number, .data = s, .format = known->format, .itemsize = known->size,
                         .count = 1, .kind = DTL_NUMPY_SCALAR};
        return known;
    }
    return NULL;
}

PyObject *dtype_resolved(PyObject *dtype) {
    for (int i = 0; PyType_Check(dtype) && numpy_known && i < NDARRAY_TYPES; i++)
        if (array_types[i].number != 0 && (PyObject *)array_types[i].descr->typeobj == dtype)
            return (PyObject *)array_types[i].descr;
    return !PyType_Check(dtype) && dtype_take(dtype) > 0 ? dtype : NULL;
}

int dtype_take(PyObject *dtype) {
    if (dtype == Py_None)
        return 0;
    if (!numpy_known)
        return -1;
    if (PyType_Check(dtype)) {
        dtype = dtype_resolved(dtype);
        return dtype == NULL ? -1 : array_types[((const ndarray_descr *)dtype)->type_num].number;
    }
    if (!PyObject_TypeCheck(dtype, numpy.descr))
        return -1;
    const ndarray_descr *descr = (const ndarray_descr *)dtype;
    if ((descr->byteorder != '=' && descr->byteorder != '|') || (unsigned)descr->type_num >= NDARRAY_TYPES ||
        array_types[descr->type_num].number == 0)
        return -1;
    return array_types[descr->type_num].number;
}
