//go:build cpython

/* What the core asks of the program around it while a call waits. */
#include "module.h"

#if PY_VERSION_HEX < 0x030d0000
#define Py_IsFinalizing _Py_IsFinalizing
#endif

/* Python's function that names the place a thread is at. */
static PyObject *where;

/* The exception that a signal's handler raised during a call, which fails because of it. */
static PyObject *raised_type, *raised_value, *raised_traceback;

void program_setup(PyObject *where_) {
    Py_INCREF(where_);
    Py_XSETREF(where, where_);
}

static int no_python(void) {
    return disabled || !Py_IsInitialized() || Py_IsFinalizing();
}

int dtl_where(long thread, char *text, int size) {
    int length = 0;
    if (no_python())
        return 0;
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *place = where != NULL ? PyObject_CallFunction(where, "l", thread) : NULL;
    const char *utf8 = place != NULL ? PyUnicode_AsUTF8(place) : NULL;
    if (utf8 != NULL)
        length = snprintf(text, (size_t)size, "%s", utf8);
    PyErr_Clear();
    Py_XDECREF(place);
    PyGILState_Release(state);
    return length < size ? length : size - 1;
}

int dtl_interrupted(void) {
    if (no_python())
        return 0;
    PyGILState_STATE state = PyGILState_Ensure();
    int interrupted = PyErr_CheckSignals() < 0;
    if (interrupted) {
        Py_CLEAR(raised_type);
        Py_CLEAR(raised_value);
        Py_CLEAR(raised_traceback);
        PyErr_Fetch(&raised_type, &raised_value, &raised_traceback);
    }
    PyGILState_Release(state);
    return interrupted;
}

int raise_interruption(void) {
    if (raised_type == NULL)
        return 0;
    PyErr_Restore(raised_type, raised_value, raised_traceback);
    raised_type = raised_value = raised_traceback = NULL;
    return 1;
}

const char interruption_doc[] = PyDoc_STR(
"interruption($module, /)\n--\n\n"
"Raise what a signal's handler raised during the call that failed; do nothing if none did.");

PyObject *bridge_interruption(PyObject *module, PyObject *unused) {
    if (raise_interruption())
        return NULL;
    Py_RETURN_NONE;
}
