//go:build cpython

/* Errors of the core as Python's exceptions. */
#include "errors.h"
#include "interrupts.h"
#include <stdarg.h>

/* What makes an exception of "[code op] cause". */
static PyObject *make_error;

void errors_setup(PyObject *make) {
    Py_INCREF(make);
    Py_XSETREF(make_error, make);
}

PyObject *fail(const char *text) {
    if (raise_interruption())
        return NULL;
    PyObject *error = NULL, *string = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace"); /* or cut short */
    if (string != NULL) {
        error = PyObject_CallFunctionObjArgs(make_error, string, NULL);
        Py_DECREF(string);
    }
    if (error != NULL) {
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
        Py_DECREF(error);
    }
    return NULL;
}

PyObject *fail_as(int code, const char *op, const char *format, ...) {
    char text[300];
    int length = snprintf(text, sizeof text, "[%d %s] ", code, op);
    va_list values;
    va_start(values, format);
    vsnprintf(text + length, sizeof text - (size_t)length, format, values);
    va_end(values);
    return fail(text);
}

PyObject *fail_with(char *error) {
    fail(error);
    free(error);
    return NULL;
}

PyObject *fail_alone(char *text) {
    fail_with(text);
    PyObject *type, *error, *where;
    PyErr_Fetch(&type, &error, &where);
    PyErr_NormalizeException(&type, &error, &where);
    if (PyObject_SetAttrString(error, "_told", Py_False) < 0)
        PyErr_Clear();
    PyErr_Restore(type, error, where);
    return NULL;
}

PyObject *fail_forked(void) {
    return fail_as(DTL_BACKEND, "", "DTL cannot be used in a forked child; start the child with the spawn method instead");
}
