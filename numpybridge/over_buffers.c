//go:build cpython

/* Calls that compute with buffers of any objects, such as Arrow's, and with no object of the core. */
#include "over_buffers.h"
#include "call.h"
#include "errors.h"
#include "numpy.h"
#include "state.h"

const char over_buffers_doc[] = PyDoc_STR(
"over_buffers($module, code, buffers, numbers, a, b, c, d, /)\n--\n\n"
"Run operation code on a tuple of contiguous buffers, of which None is an empty one and the first is written to, a tuple\n"
"of integers, and four integers.");

/* borrow borrows buffers, whose addresses and lengths become words. It returns how many it has borrowed: fewer than there are where it fails. */
static Py_ssize_t borrow(PyObject *buffers, Py_buffer *views, int64_t *words) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(buffers); i++) {
        PyObject *object = PyTuple_GET_ITEM(buffers, i);
        views[i] = (Py_buffer){0};
        if (object != Py_None && PyObject_GetBuffer(object, &views[i], i == 0 ? PyBUF_WRITABLE : PyBUF_SIMPLE) < 0)
            return i;
        words[2 * i] = (int64_t)(intptr_t)views[i].buf;
        words[2 * i + 1] = views[i].len;
    }
    return PyTuple_GET_SIZE(buffers);
}

static PyObject *perform_over(dtl_call *call, PyObject *numbers, int64_t *words, Py_ssize_t count) {
    Py_buffer view;
    call->borrowed = 1;
    call->list_count = 2;
    call->lists[0] = (dtl_array){.given = 1, .type = array_types[NDARRAY_LONG].number, .data = words, .itemsize = 8, .count = 2 * count};
    if (take_list(numbers, &call->lists[1], &view) != TAKEN)
        return PyErr_Format(PyExc_TypeError, "over_buffers takes a tuple of integers of 64 bits");
    PyObject *answer = perform(call);
    PyBuffer_Release(&view);
    return answer;
}

PyObject *bridge_over_buffers(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    enum { FIXED = 3 };
    if (nargs != FIXED + DTL_ARGS || !PyTuple_CheckExact(args[1]) || !PyTuple_CheckExact(args[2]))
        return PyErr_Format(PyExc_TypeError, "over_buffers takes a code, two tuples and %d integers", DTL_ARGS);
    if (state.forked)
        return fail_forked();
    dtl_call call;
    memset(&call, 0, offsetof(dtl_call, shape));
    if (take_args(args, 1, &call.code) != TAKEN || take_args(args + FIXED, DTL_ARGS, call.args) != TAKEN)
        return PyErr_Format(PyExc_TypeError, "over_buffers takes integers of 64 bits");
    Py_ssize_t count = PyTuple_GET_SIZE(args[1]);
    Py_buffer *views = PyMem_Malloc((size_t)(count + 1) * (sizeof(Py_buffer) + 2 * sizeof(int64_t)));
    if (views == NULL)
        return PyErr_NoMemory();
    int64_t *words = (int64_t *)(views + count + 1);
    Py_ssize_t borrowed = borrow(args[1], views, words);
    PyObject *answer = borrowed < count ? NULL : perform_over(&call, args[2], words, count);
    while (borrowed-- > 0)
        PyBuffer_Release(&views[borrowed]);
    PyMem_Free(views);
    return answer;
}
