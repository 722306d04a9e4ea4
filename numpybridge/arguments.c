//go:build cpython

/* Arguments borrowed for a call, and scalars given back. */
#include "arguments.h"
#include "errors.h"
#include "numpy.h"
#include "objects.h"
#include "state.h"

/* describe_scalar describes a Python scalar as an element of one of NumPy's types. */
static void describe_scalar(dtl_array *a, int type, scalar *s) {
    const array_type *t = &array_types[type];
    *a = (dtl_array){.given = 1, .type = t->number, .data = s, .format = t->format, .itemsize = t->size, .count = 1,
                     .kind = DTL_PYTHON_SCALAR};
}

taken take_scalar(PyObject *value, dtl_array *a, scalar *s) {
    if (PyFloat_CheckExact(value)) {
        s->real = PyFloat_AS_DOUBLE(value);
        describe_scalar(a, NDARRAY_DOUBLE, s);
    } else if (PyLong_CheckExact(value)) {
        int overflow;
        s->integer = PyLong_AsLongLongAndOverflow(value, &overflow);
        if (overflow)
            return UNSUITABLE;
        describe_scalar(a, NDARRAY_LONG, s);
    } else if (PyBool_Check(value)) {
        s->truth = value == Py_True;
        describe_scalar(a, NDARRAY_BOOL, s);
    } else if (PyComplex_CheckExact(value)) {
        s->complex_ = PyComplex_AsCComplex(value);
        describe_scalar(a, NDARRAY_CDOUBLE, s);
    } else {
        return UNSUITABLE;
    }
    return TAKEN;
}

PyObject *give_scalar(const dtl_array *a) {
    const scalar *s = a->data;
    if (a->type == array_types[NDARRAY_DOUBLE].number)
        return PyFloat_FromDouble(s->real);
    if (a->type == array_types[NDARRAY_BOOL].number)
        return PyBool_FromLong(s->truth);
    if (a->type == array_types[NDARRAY_CDOUBLE].number)
        return PyComplex_FromCComplex(s->complex_);
    return PyLong_FromLongLong(s->integer);
}

taken take_buffer(PyObject *value, dtl_array *a, int64_t *shape, Py_buffer *view, int flags) {
    view->obj = NULL; /* so that PyBuffer_Release does nothing */
    if (ndarray_take(value, a, shape, flags & PyBUF_WRITABLE))
        return TAKEN;
    if (!(flags & PyBUF_WRITABLE) && Py_TYPE(value) != (PyTypeObject *)ndarray_type &&
        PyObject_TypeCheck(value, (PyTypeObject *)ndarray_type))
        return UNSUITABLE; /* a subclass may mean more than its elements, as a masked array does */
    if (!PyObject_CheckBuffer(value) || PyObject_GetBuffer(value, view, flags | PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) < 0) {
        PyErr_Clear(); /* Python finds out what is wrong, and says it better */
        return UNSUITABLE;
    }
    a->given = 1;
    a->data = view->buf;
    a->format = view->format;
    a->itemsize = view->itemsize;
    a->count = view->itemsize > 0 ? view->len / view->itemsize : 0;
    a->shape = shape != NULL ? (const int64_t *)view->shape : NULL;
    a->ndim = shape != NULL ? view->ndim : 0;
    a->kind = DTL_NDARRAY;
    if (PyObject_TypeCheck(value, (PyTypeObject *)ndarray_type) || !PyObject_TypeCheck(value, (PyTypeObject *)generic_type))
        return TAKEN;
    if (view->ndim != 0) { /* dates and records show themselves as arrays of bytes */
        PyBuffer_Release(view);
        return UNSUITABLE;
    }
    a->kind = DTL_NUMPY_SCALAR;
    return TAKEN;
}

taken take_list(PyObject *value, dtl_array *a, Py_buffer *view) {
    if (!PyTuple_CheckExact(value))
        return take_buffer(value, a, NULL, view, 0);
    Py_ssize_t count = PyTuple_GET_SIZE(value);
    view->obj = PyBytes_FromStringAndSize(NULL, 8 * count);
    if (view->obj == NULL || take_args(&PyTuple_GET_ITEM(value, 0), count, (int64_t *)PyBytes_AS_STRING(view->obj)) != TAKEN) {
        PyErr_Clear();
        Py_CLEAR(view->obj);
        return UNSUITABLE;
    }
    const array_type *t = &array_types[NDARRAY_LONG];
    *a = (dtl_array){.given = 1, .type = t->number, .data = PyBytes_AS_STRING(view->obj), .itemsize = t->size, .count = count,
                     .kind = DTL_NDARRAY};
    return TAKEN;
}

taken take_handle(PyObject *object, int64_t *handle) {
    if (!PyObject_TypeCheck(object, &HandleType)) {
        fail_as(DTL_INVALID_TYPE, "", "a dtl object with a native handle is wanted, not %.100s", Py_TYPE(object)->tp_name);
        return FAILED;
    }
    if (use_handle((HandleObject *)object) < 0)
        return FAILED;
    *handle = ((HandleObject *)object)->handle;
    return TAKEN;
}

taken take_args(PyObject *const *args, Py_ssize_t n, int64_t *into) {
    for (Py_ssize_t i = 0; i < n; i++) {
        if (!PyLong_Check(args[i]))
            return UNSUITABLE;
        into[i] = PyLong_AsLongLong(args[i]);
        if (into[i] == -1 && PyErr_Occurred()) {
            PyErr_Clear();
            return UNSUITABLE;
        }
    }
    return TAKEN;
}
