/* Buffers that a call borrows of Python's objects. */
#ifndef DTL_BORROWED_H
#define DTL_BORROWED_H

#include "interpreter.h"

typedef struct {
    Py_buffer views[9];
    int count;
} borrowed;

/* release gives back the buffers of a call. */
static inline void release(borrowed *b) {
    while (b->count > 0)
        PyBuffer_Release(&b->views[--b->count]);
}

/* borrow borrows a contiguous buffer of at least so many bytes; the name is for errors. */
static inline void *borrow(borrowed *b, PyObject *from, int writable, int64_t bytes, const char *name) {
    Py_buffer *view = &b->views[b->count];
    if (PyObject_GetBuffer(from, view, writable ? PyBUF_WRITABLE : PyBUF_SIMPLE) < 0)
        return NULL;
    b->count++;
    if (view->len < bytes) {
        PyErr_Format(PyExc_ValueError, "%s has %zd bytes, and needs %lld", name, view->len, (long long)bytes);
        return NULL;
    }
    return view->buf == NULL ? (void *)"" : view->buf;
}

#endif
