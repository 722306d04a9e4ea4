//go:build cpython

/* The turn at the collective calls of a context, for calls that consist of several. */
#include "module.h"

const char hold_doc[] = PyDoc_STR(
"hold($module, ranks, op, /)\n--\n\n"
"Take the turn at collective calls on ranks for what this thread calls until let_go, which are parts of op. Returns the\n"
"handle to let go; 0 where there is nothing to, for this is a part of a call that has the turn, or the ranks are closed.");

PyObject *bridge_hold(PyObject *module, PyObject *args) {
    HandleObject *ranks;
    const char *op;
    char *error = NULL;
    int64_t handle;
    int first;
    if (!PyArg_ParseTuple(args, "O!s:hold", &HandleType, &ranks, &op))
        return NULL;
    if (state.forked)
        return fail_forked();
    handle = ranks->handle; /* which another thread may close meanwhile */
    Py_BEGIN_ALLOW_THREADS
    first = dtl_hold(handle, (char *)op, &error);
    Py_END_ALLOW_THREADS
    if (error != NULL)
        return fail_with(error);
    return PyLong_FromLongLong(first ? handle : 0);
}

const char let_go_doc[] = PyDoc_STR(
"let_go($module, handle, /)\n--\n\n"
"End what hold has begun on the ranks that have this handle.");

PyObject *bridge_let_go(PyObject *module, PyObject *number) {
    char *error = NULL;
    int64_t handle = PyLong_AsLongLong(number);
    if (handle == -1 && PyErr_Occurred())
        return NULL;
    if (state.forked)
        Py_RETURN_NONE;
    Py_BEGIN_ALLOW_THREADS
    dtl_let_go(handle, &error);
    Py_END_ALLOW_THREADS
    if (error != NULL)
        return fail_with(error);
    Py_RETURN_NONE;
}
