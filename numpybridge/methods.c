//go:build cpython

/*
 * The operations as functions of the module, each with the parameters that the table in operations.go gives it.
 *
 * bridge.get(container, indices) is call(GET, container, indices, None, 0, 0, 0, 0): a parameter that is left out is 0, or None.
 */
#include <ctype.h>
#include "arguments.h"
#include "call.h"
#include "errors.h"
#include "methods.h"
#include "state.h"

enum { SLOT_IN = DTL_ARGS, SLOT_OUT, SLOT_LIST };

/* Where the parameters of an operation go in a call, behind the owner. Slots below DTL_ARGS are integers. */
typedef struct {
    int64_t code;
    int count;
    unsigned char slots[DTL_ARGS + 2 + DTL_MAX_LISTS];
    PyMethodDef definition;
    char name[32], signature[256];
} method;

/* take_arguments fills in a call from arguments behind the owner. It borrows the lists. */
static taken take_arguments(const method *m, PyObject *const *args, Py_ssize_t n, dtl_call *call, Py_buffer *views, PyObject **in, PyObject **out) {
    for (Py_ssize_t i = 0; i < n; i++) {
        int slot = m->slots[i];
        taken could = TAKEN;
        if (slot < DTL_ARGS)
            could = take_args(args + i, 1, call->args + slot);
        else if (slot == SLOT_IN)
            *in = args[i];
        else if (slot == SLOT_OUT)
            *out = args[i];
        else
            could = add_list(call, args[i], views);
        if (could != TAKEN)
            return could;
    }
    return TAKEN;
}

static PyObject *method_call(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    const method *m = (const method *)PyBytes_AS_STRING(self);
    if (nargs < 1 || nargs > 1 + m->count)
        return PyErr_Format(PyExc_TypeError, "%s takes 1 to %d arguments, not %zd", m->name, 1 + m->count, nargs);
    if (state.forked)
        return fail_forked(), NULL;
    dtl_call call;
    Py_buffer views[DTL_MAX_LISTS];
    memset(&call, 0, offsetof(dtl_call, shape));
    call.code = m->code;
    if (take_handle(args[0], &call.handle) != TAKEN)
        return NULL;
    PyObject *in = Py_None, *out = Py_None;
    taken could = take_arguments(m, args + 1, nargs - 1, &call, views, &in, &out);
    PyObject *answer = could == TAKEN ? with_value(&call, in, out) : could == FAILED ? NULL : Py_NewRef(Py_NotImplemented);
    release_lists(&call, views);
    return answer;
}

/* read_parameters reads where parameters go, and writes the signature that Python shows. */
static int read_parameters(method *m, const char *parameters) {
    int integers = 0, at = snprintf(m->signature, sizeof m->signature, "%s($module", m->name);
    char word[32], names[256] = "";
    for (int length; sscanf(parameters, " %31s%n", word, &length) == 1; parameters += length) {
        const char *colon = strchr(word, ':'), *name = colon != NULL ? colon + 1 : word;
        if (strcmp(word, "owner") != 0)
            m->slots[m->count++] = colon == NULL ? integers++ : word[0] == 'i' ? SLOT_IN : word[0] == 'o' ? SLOT_OUT : SLOT_LIST;
        snprintf(names + strlen(names), sizeof names - strlen(names), ", %s%s", name, strcmp(word, "owner") == 0 ? "" : colon != NULL ? "=None" : "=0");
    }
    return snprintf(m->signature + at, sizeof m->signature - (size_t)at, "%s, /)\n--\n\n", names) < (int)sizeof m->signature - at;
}

int add_methods(PyObject *module) {
    const char *key, *parameters;
    for (int64_t code = 0; (key = dtl_operation(code)) != NULL; code++) {
        if (*(parameters = dtl_operation_parameters(code)) == '\0')
            continue;
        PyObject *self = PyBytes_FromStringAndSize(NULL, sizeof(method)); /* lives as long as the function that it belongs to */
        if (self == NULL)
            return -1;
        method *m = (method *)PyBytes_AS_STRING(self);
        *m = (method){.code = code, .definition = {m->name, (PyCFunction)(void (*)(void))method_call, METH_FASTCALL, m->signature}};
        for (size_t i = 0; key[i] != '\0' && i + 1 < sizeof m->name; i++)
            m->name[i] = (char)tolower((unsigned char)key[i]);
        if (!read_parameters(m, parameters)) {
            Py_DECREF(self);
            PyErr_Format(PyExc_SystemError, "the parameters of %s are too long", key);
            return -1;
        }
        PyObject *function = PyCFunction_NewEx(&m->definition, self, NULL);
        Py_DECREF(self);
        if (function == NULL || PyModule_AddObject(module, m->name, function) < 0)
            return -1;
    }
    return 0;
}
