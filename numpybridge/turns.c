//go:build cpython

/* The turn at the collective calls of a context, for calls that consist of several. */
#include "errors.h"
#include "objects.h"
#include "state.h"
#include "turns.h"

const char take_turn_doc[] = PyDoc_STR(
"take_turn($module, ranks, op, /)\n--\n\n"
"Take the turn at collective calls on ranks for what this thread calls until end_turn, which are parts of op. Returns the\n"
"handle for end_turn; 0 where there is no turn to end, because this is a part of a call that has the turn, or the ranks are closed.");

PyObject *bridge_take_turn(PyObject *module, PyObject *args) {
    HandleObject *ranks;
    const char *op;
    char *error = NULL;
    int64_t handle;
    int first;
    if (!PyArg_ParseTuple(args, "O!s:take_turn", &HandleType, &ranks, &op))
        return NULL;
    if (state.forked)
        return fail_forked();
    handle = ranks->handle; /* which another thread may close meanwhile */
    Py_BEGIN_ALLOW_THREADS
    first = dtl_take_turn(handle, (char *)op, &error);
    Py_END_ALLOW_THREADS
    if (error != NULL)
        return fail_with(error);
    return PyLong_FromLongLong(first ? handle : 0);
}

const char end_turn_doc[] = PyDoc_STR(
"end_turn($module, handle, /)\n--\n\n"
"End the turn that take_turn has taken on the ranks that have this handle.");

PyObject *bridge_end_turn(PyObject *module, PyObject *number) {
    char *error = NULL;
    int64_t handle = PyLong_AsLongLong(number);
    if (handle == -1 && PyErr_Occurred())
        return NULL;
    if (state.forked)
        Py_RETURN_NONE;
    Py_BEGIN_ALLOW_THREADS
    dtl_end_turn(handle, &error);
    Py_END_ALLOW_THREADS
    if (error != NULL)
        return fail_with(error);
    Py_RETURN_NONE;
}
