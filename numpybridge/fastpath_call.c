//go:build cpython

/* One call of the fast path: its input, its output, and what comes back. */
#include "arguments.h"
#include "call.h"
#include "fastpath_call.h"
#include "numpy.h"

int take_value(fast_call *t) {
    dtl_array *in = &t->call.in;
    return t->value == Py_None || ndarray_take(t->value, in, t->call.in_shape, 0) || take_scalar(t->value, in, &t->input) == TAKEN ||
           (t->generic = generic_take(t->value, in, &t->input)) != NULL;
}

PyObject *scalar_result(fast_call *t) {
    t->call.out = t->call.in;
    t->call.out.data = &t->result;
    return t->generic != NULL ? generic_new(t->generic->descr, &t->result) : give_scalar(&t->call.out);
}

const array_type *type_of(const fast_call *t) {
    if (t->call.in.kind == DTL_NDARRAY)
        return &array_types[((ndarray *)t->value)->descr->type_num];
    if (t->generic != NULL)
        return t->generic;
    return type_numbered((unsigned)t->call.in.type);
}

PyObject *new_result(const fast_call *t, int64_t count) {
    int64_t shape[NDARRAY_MAX_DIMS + 1];
    int ndim = 0, more = t->call.in.ndim;
    if (!numpy_known || more > NDARRAY_MAX_DIMS - 1)
        Py_RETURN_NOTIMPLEMENTED;
    if (count >= 0)
        shape[ndim++] = count;
    for (int i = 0; i < more; i++)
        shape[ndim++] = t->call.in.shape[i];
    PyObject *made = array_new(type_of(t)->descr, ndim, shape);
    if (made != NULL)
        return made;
    PyErr_Clear(); /* Python finds out what is wrong, and says it better */
    Py_RETURN_NOTIMPLEMENTED;
}

PyObject *given_out(fast_call *t) {
    if (t->out != Py_None && !ndarray_take(t->out, &t->call.out, NULL, 1))
        Py_RETURN_NOTIMPLEMENTED;
    t->call.inline_result = numpy_known;
    PyObject *answer = perform(&t->call);
    if (t->call.retained)
        Py_INCREF(t->out); /* for good */
    if (answer != Py_None || t->out == Py_None)
        return answer;
    Py_DECREF(answer);
    return Py_NewRef(t->out);
}

PyObject *like_scalar(fast_call *t) {
    t->call.out = t->call.in;
    t->call.out.data = &t->result;
    PyObject *answer = perform(&t->call);
    if (answer != Py_None)
        return answer;
    Py_DECREF(answer);
    return scalar_result(t);
}

PyObject *made_out(fast_call *t, int64_t count) {
    PyObject *out = new_result(t, count);
    if (out == Py_NotImplemented)
        return out;
    if (!ndarray_take(out, &t->call.out, NULL, 1)) {
        Py_DECREF(out);
        Py_RETURN_NOTIMPLEMENTED;
    }
    PyObject *answer = perform(&t->call);
    if (answer != Py_None) {
        Py_DECREF(out);
        return answer;
    }
    Py_DECREF(answer);
    return out;
}
