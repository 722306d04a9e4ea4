/* Arguments borrowed for a call, and scalars given back. */
#ifndef DTL_ARGUMENTS_H
#define DTL_ARGUMENTS_H

#include "interpreter.h"
#include "numpy.h"

#pragma GCC visibility push(hidden)

/* Taken is the result of borrowing an argument. */
typedef enum { FAILED = -1, TAKEN, UNSUITABLE } taken;

/* take_scalar takes the value of a Python scalar. */
taken take_scalar(PyObject *value, dtl_array *a, scalar *s);

/* give_scalar returns a Python scalar. */
PyObject *give_scalar(const dtl_array *a);

/* take_list borrows a list of integers, which is an array or a tuple, until PyBuffer_Release(view). */
taken take_list(PyObject *value, dtl_array *a, Py_buffer *view);

/* take_buffer borrows a C-contiguous buffer until PyBuffer_Release(view). The caller holds value meanwhile.
 * shape has room for DTL_MAX_DIMS dimensions; it is NULL where nobody asks for them. */
taken take_buffer(PyObject *value, dtl_array *a, int64_t *shape, Py_buffer *view, int flags);

/* take_handle reads an object's native handle, when what is pending on it is computed. */
taken take_handle(PyObject *object, int64_t *handle);

/* take_args reads n integers. Anything else is Python's to resolve. */
taken take_args(PyObject *const *args, Py_ssize_t n, int64_t *into);

#pragma GCC visibility pop

#endif
