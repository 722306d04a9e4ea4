//go:build cpython

/* Whether NumPy's arrays have the layout of ndarray.h. */
#include "ndarray.h"

PyTypeObject *ndarray_known;

void ndarray_learn(PyObject *sample) {
    Py_buffer view;
    dtl_array a;
    int64_t shape[DTL_MAX_DIMS];
    ndarray_known = NULL;
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
}
