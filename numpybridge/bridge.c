//go:build cpython

/*
 * The module _bridge: the data plane between Python and the Go core.
 *
 * It borrows buffers, lets the GIL go, makes one call into Go, and hands back what came: a scalar, or a Buffer
 * that owns the memory. It knows no operation. Where an argument needs more than borrowing (a list, a strided
 * array, a missing output) it returns NotImplemented, and Python prepares the argument and calls again.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <structmember.h>

#if PY_VERSION_HEX < 0x03090000
#define PyObject_Vectorcall _PyObject_Vectorcall
#endif
#if PY_VERSION_HEX < 0x030a0000
static inline PyObject *Py_NewRef(PyObject *object) {
    Py_INCREF(object);
    return object;
}
#endif

#include "_cgo_export.h"
#include "bridge.h"
#include "ndarray.h"

/* Set once by setup(): the two NumPy types that tell kinds apart, and what makes an exception of a text. */
static PyObject *ndarray_type, *generic_type, *make_error;

/* The Go runtime does not survive fork: in a child without exec no call may reach it. */
static int disabled;

static PyObject *fail(const char *text) {
    PyObject *error = PyObject_CallFunction(make_error, "s", text);
    if (error != NULL) {
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
        Py_DECREF(error);
    }
    return NULL;
}

/* ---- Handle: the base class of everything that has a native handle ---- */

typedef struct {
    PyObject_HEAD
    long long handle;
} HandleObject;

static PyMemberDef handle_members[] = {
    {"_handle", T_LONGLONG, offsetof(HandleObject, handle), 0, "the native handle; 0 once it is closed"},
    {NULL},
};

static PyTypeObject HandleType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "dtl._bridge.Handle",
    .tp_basicsize = sizeof(HandleObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_doc = "An object with a native handle.",
    .tp_members = handle_members,
    .tp_new = PyType_GenericNew,
};

/* ---- Buffer: memory of the core, kept alive by whoever looks at it ---- */

typedef struct {
    PyObject_HEAD
    uintptr_t storage;
    void *data;
    Py_ssize_t itemsize, count;
    int ndim, kind;
    char format[4];
    Py_ssize_t *strides;
    Py_ssize_t shape[1]; /* ndim of them, then as many strides */
} BufferObject;

static int buffer_get(PyObject *self, Py_buffer *view, int flags) {
    BufferObject *b = (BufferObject *)self;
    Py_INCREF(self);
    view->obj = self;
    view->buf = b->data;
    view->len = b->count * b->itemsize;
    view->itemsize = b->itemsize;
    view->readonly = 0;
    view->ndim = b->ndim;
    view->format = (flags & PyBUF_FORMAT) ? b->format : NULL;
    view->shape = (flags & PyBUF_ND) ? b->shape : NULL;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? b->strides : NULL;
    view->suboffsets = NULL;
    view->internal = NULL;
    return 0;
}

static void buffer_dealloc(PyObject *self) {
    if (!disabled)
        dtl_release(((BufferObject *)self)->storage);
    Py_TYPE(self)->tp_free(self);
}

static PyBufferProcs buffer_procs = {.bf_getbuffer = buffer_get};

static PyMemberDef buffer_members[] = {
    {"kind", T_INT, offsetof(BufferObject, kind), READONLY, "what the sender passed: NDARRAY, NUMPY_SCALAR or PYTHON_SCALAR"},
    {NULL},
};

static PyTypeObject BufferType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "dtl._bridge.Buffer",
    .tp_basicsize = offsetof(BufferObject, shape),
    .tp_itemsize = sizeof(Py_ssize_t),
    .tp_dealloc = buffer_dealloc,
    .tp_as_buffer = &buffer_procs,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Memory of the core. It lives as long as anything that looks at it.",
    .tp_members = buffer_members,
};

/* buffer_new takes over the result's storage, also when it fails. */
static PyObject *buffer_new(const dtl_call *call) {
    const dtl_array *r = &call->result;
    BufferObject *b = PyObject_NewVar(BufferObject, &BufferType, 2 * r->ndim);
    if (b == NULL) {
        dtl_release(call->storage);
        return NULL;
    }
    b->storage = call->storage;
    b->data = r->data;
    b->itemsize = r->itemsize;
    b->count = r->count;
    b->ndim = r->ndim;
    b->kind = r->kind;
    strncpy(b->format, r->format, sizeof b->format - 1);
    b->format[sizeof b->format - 1] = 0;
    b->strides = b->shape + r->ndim;
    Py_ssize_t stride = r->itemsize;
    for (int i = r->ndim - 1; i >= 0; i--) {
        b->shape[i] = r->shape[i];
        b->strides[i] = stride;
        stride *= r->shape[i];
    }
    return (PyObject *)b;
}

/* ---- Arguments ---- */

/* A Python scalar's value, for as long as a call lasts. */
typedef union {
    double real;
    long long integer;
    Py_complex complex_;
    char truth;
} scalar;

/* Taken is the result of borrowing an argument. */
typedef enum { FAILED = -1, TAKEN, UNSUITABLE } taken;

static void describe_scalar(dtl_array *a, const char *format, int64_t itemsize, scalar *s) {
    *a = (dtl_array){.data = s, .format = format, .itemsize = itemsize, .count = 1, .kind = DTL_PYTHON_SCALAR};
}

static taken take_scalar(PyObject *value, dtl_array *a, scalar *s) {
    if (PyFloat_CheckExact(value)) {
        s->real = PyFloat_AS_DOUBLE(value);
        describe_scalar(a, "d", 8, s);
    } else if (PyLong_CheckExact(value)) {
        int overflow;
        s->integer = PyLong_AsLongLongAndOverflow(value, &overflow);
        if (overflow)
            return UNSUITABLE;
        describe_scalar(a, "l", 8, s);
    } else if (PyBool_Check(value)) {
        s->truth = value == Py_True;
        describe_scalar(a, "?", 1, s);
    } else if (PyComplex_CheckExact(value)) {
        s->complex_ = PyComplex_AsCComplex(value);
        describe_scalar(a, "Zd", 16, s);
    } else {
        return UNSUITABLE;
    }
    return TAKEN;
}

static PyObject *give_scalar(const dtl_array *a) {
    const scalar *s = a->data;
    switch (a->format[0]) {
    case 'd':
        return PyFloat_FromDouble(s->real);
    case '?':
        return PyBool_FromLong(s->truth);
    case 'Z':
        return PyComplex_FromCComplex(s->complex_);
    default:
        return PyLong_FromLongLong(s->integer);
    }
}

/* take_buffer borrows a C-contiguous buffer until PyBuffer_Release(view). The caller holds value meanwhile. */
static taken take_buffer(PyObject *value, dtl_array *a, Py_buffer *view, int flags) {
    view->obj = NULL; /* so that PyBuffer_Release does nothing */
    if (ndarray_take(value, a, flags & PyBUF_WRITABLE))
        return TAKEN;
    if (!PyObject_CheckBuffer(value) || PyObject_GetBuffer(value, view, flags | PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) < 0) {
        PyErr_Clear(); /* Python finds out what is wrong, and says it better */
        return UNSUITABLE;
    }
    a->data = view->buf;
    a->format = view->format;
    a->itemsize = view->itemsize;
    a->count = view->itemsize > 0 ? view->len / view->itemsize : 0;
    a->shape = (const int64_t *)view->shape;
    a->ndim = view->ndim;
    a->kind = DTL_NDARRAY;
    if (PyObject_TypeCheck(value, (PyTypeObject *)ndarray_type) || !PyObject_TypeCheck(value, (PyTypeObject *)generic_type))
        return TAKEN;
    if (view->ndim != 0) { /* dates and records show themselves as arrays of bytes */
        PyBuffer_Release(view);
        return UNSUITABLE;
    }
    a->kind = DTL_NUMPY_SCALAR;
    return TAKEN;
}

static taken take_handle(PyObject *object, int64_t *handle) {
    if (!PyObject_TypeCheck(object, &HandleType)) {
        char text[200];
        snprintf(text, sizeof text, "[101 ] a dtl object with a native handle is wanted, not %.100s", Py_TYPE(object)->tp_name);
        fail(text);
        return FAILED;
    }
    *handle = ((HandleObject *)object)->handle;
    return TAKEN;
}

/* take_args reads the integers. Anything else is Python's to resolve. */
static taken take_args(PyObject *const *args, Py_ssize_t n, int64_t *into) {
    for (Py_ssize_t i = 0; i < n; i++) {
        if (!PyLong_Check(args[i]))
            return UNSUITABLE;
        into[i] = PyLong_AsLongLong(args[i]);
        if (into[i] == -1 && PyErr_Occurred()) {
            PyErr_Clear();
            return UNSUITABLE;
        }
    }
    return TAKEN;
}

/* ---- The call ---- */

/* perform makes the call with the GIL released, and returns its result: None where there is none. */
static PyObject *perform(dtl_call *call) {
    Py_BEGIN_ALLOW_THREADS
    dtl_perform(call);
    Py_END_ALLOW_THREADS
    if (call->error != NULL) {
        fail(call->error);
        free(call->error);
        return NULL;
    }
    if (call->unsuitable)
        Py_RETURN_NOTIMPLEMENTED;
    if (call->storage == 0)
        Py_RETURN_NONE;
    if (call->result.kind != DTL_PYTHON_SCALAR)
        return buffer_new(call);
    PyObject *value = give_scalar(&call->result);
    dtl_release(call->storage);
    return value;
}

/* reduce_scalar makes a call whose result is a Python scalar like its input. Sums of truth values are
 * integers: Python's business. */
static PyObject *reduce_scalar(dtl_call *call, scalar *result) {
    if (call->in.format[0] == '?')
        Py_RETURN_NOTIMPLEMENTED;
    call->out = call->in;
    call->out.data = result;
    PyObject *answer = perform(call);
    if (answer != Py_None)
        return answer;
    Py_DECREF(answer);
    return give_scalar(&call->out);
}

/* with_out borrows the output, if there is one, and makes the call. */
static PyObject *with_out(dtl_call *call, PyObject *out) {
    if (out == Py_None)
        return perform(call);
    Py_buffer view;
    if (take_buffer(out, &call->out, &view, PyBUF_WRITABLE) != TAKEN)
        Py_RETURN_NOTIMPLEMENTED;
    PyObject *answer = perform(call);
    PyBuffer_Release(&view);
    if (answer != Py_None)
        return answer;
    Py_DECREF(answer);
    Py_INCREF(out);
    return out;
}

PyDoc_STRVAR(call_doc,
"call($module, code, owner, value, out, a, b, c, d, /)\n--\n\n"
"Run operation code on owner's native object, with value as input and out as output, either of which may be\n"
"None, and up to four integers. Returns out, a scalar, a Buffer, None, or NotImplemented where an argument has\n"
"to be prepared first.");

static PyObject *bridge_call(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    dtl_call call;
    Py_buffer view;
    scalar input, result;
    int64_t code;
    PyObject *value, *answer;

    if (nargs != 8) {
        PyErr_Format(PyExc_TypeError, "call takes 8 arguments, not %zd", nargs);
        return NULL;
    }
    if (disabled)
        return fail("[400 ] DTL cannot be used in a forked child; start the child with the spawn method instead");
    memset(&call, 0, offsetof(dtl_call, shape));
    call.error = NULL;
    if (take_handle(args[1], &call.handle) != TAKEN)
        return NULL;
    if (take_args(args, 1, &code) != TAKEN || take_args(args + 4, 4, call.args) != TAKEN)
        Py_RETURN_NOTIMPLEMENTED;
    call.code = code;
    value = args[2];
    if (value == Py_None)
        return with_out(&call, args[3]);
    if (take_scalar(value, &call.in, &input) == TAKEN) {
        if (args[3] != Py_None || code != DTL_ALLREDUCE)
            return with_out(&call, args[3]);
        return reduce_scalar(&call, &result);
    }
    if (take_buffer(value, &call.in, &view, 0) != TAKEN)
        Py_RETURN_NOTIMPLEMENTED;
    answer = with_out(&call, args[3]);
    PyBuffer_Release(&view);
    return answer;
}

/* ---- allreduce, without the detour through Python ---- */

/* The parameters by keyword, interned: a caller's keywords are the same objects. */
static PyObject *word_op, *word_out;

/* take_keywords reads op and out; it says no to any other keyword. */
static int take_keywords(PyObject *const *values, PyObject *words, PyObject **op, PyObject **out) {
    Py_ssize_t n = words == NULL ? 0 : PyTuple_GET_SIZE(words);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *word = PyTuple_GET_ITEM(words, i);
        if (word == word_out)
            *out = values[i];
        else if (word == word_op)
            *op = values[i];
        else
            return 0;
    }
    return 1;
}

/* try_allreduce makes the call if its arguments need no preparing, else returns NotImplemented. */
static PyObject *try_allreduce(PyObject *ctx, PyObject *value, PyObject *op, PyObject *out) {
    dtl_call call;
    scalar input, result;
    memset(&call, 0, offsetof(dtl_call, shape));
    call.error = NULL;
    call.code = DTL_ALLREDUCE;
    if (disabled || !PyObject_TypeCheck(ctx, &HandleType) || (op != NULL && take_args(&op, 1, call.args) != TAKEN))
        Py_RETURN_NOTIMPLEMENTED;
    call.handle = ((HandleObject *)ctx)->handle;
    if (out == NULL)
        return take_scalar(value, &call.in, &input) == TAKEN ? reduce_scalar(&call, &result) : Py_NewRef(Py_NotImplemented);
    if (!ndarray_take(value, &call.in, 0) || !ndarray_take(out, &call.out, 1))
        Py_RETURN_NOTIMPLEMENTED;
    PyObject *answer = perform(&call);
    if (answer != Py_None)
        return answer;
    Py_DECREF(answer);
    return Py_NewRef(out);
}

/* fast_allreduce is dtl.allreduce. self is the function in Python that prepares arguments. */
static PyObject *fast_allreduce(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *words) {
    PyObject *op = nargs == 3 ? args[2] : NULL, *out = NULL;
    if ((nargs == 2 || nargs == 3) && take_keywords(args + nargs, words, &op, &out)) {
        PyObject *answer = try_allreduce(args[0], args[1], op, out);
        if (answer != Py_NotImplemented)
            return answer;
        Py_DECREF(answer);
    }
    return PyObject_Vectorcall(self, args, (size_t)nargs, words);
}

PyDoc_STRVAR(fast_doc,
"fast_allreduce($module, prepare, signature, /)\n--\n\n"
"Return allreduce(ctx, value, op=0, *, out=None), which calls prepare where arguments need preparing, with the\n"
"text of its signature and prepare's documentation.");

static PyObject *bridge_fast(PyObject *module, PyObject *args) {
    static PyMethodDef method = {"allreduce", (PyCFunction)(void (*)(void))fast_allreduce, METH_FASTCALL | METH_KEYWORDS, NULL};
    PyObject *prepare, *name, *answer;
    const char *doc;
    if (!PyArg_ParseTuple(args, "Os:fast_allreduce", &prepare, &doc))
        return NULL;
    char *kept = strdup(doc); /* for good: the function may live as long as the process */
    if (kept == NULL)
        return PyErr_NoMemory();
    method.ml_doc = kept;
    if ((name = PyObject_GetAttrString(prepare, "__module__")) == NULL)
        return NULL;
    answer = PyCFunction_NewEx(&method, prepare, name);
    Py_DECREF(name);
    return answer;
}

PyDoc_STRVAR(setup_doc,
"setup($module, sample, generic, make_error, /)\n--\n\n"
"Tell the bridge an array of float64 and two dimensions, NumPy's scalar type, and the function that makes an\n"
"exception of an error's text.");

static PyObject *bridge_setup(PyObject *module, PyObject *args) {
    PyObject *sample, *scalar_, *make;
    if (!PyArg_ParseTuple(args, "OO!O:setup", &sample, &PyType_Type, &scalar_, &make))
        return NULL;
    ndarray_learn(sample);
    Py_INCREF(Py_TYPE(sample));
    Py_XSETREF(ndarray_type, (PyObject *)Py_TYPE(sample));
    Py_INCREF(scalar_);
    Py_XSETREF(generic_type, scalar_);
    Py_INCREF(make);
    Py_XSETREF(make_error, make);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(disable_doc,
"disable($module, /)\n--\n\n"
"Refuse every call from now on: this process is a forked child.");

static PyObject *bridge_disable(PyObject *module, PyObject *unused) {
    disabled = 1;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"call", (PyCFunction)(void (*)(void))bridge_call, METH_FASTCALL, call_doc},
    {"disable", bridge_disable, METH_NOARGS, disable_doc},
    {"fast_allreduce", bridge_fast, METH_VARARGS, fast_doc},
    {"setup", bridge_setup, METH_VARARGS, setup_doc},
    {NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_bridge",
    .m_doc = "The data plane between Python and the Go core.",
    .m_size = -1,
    .m_methods = methods,
};

static int add_type(PyObject *module, const char *name, PyTypeObject *type) {
    if (PyType_Ready(type) < 0)
        return -1;
    Py_INCREF(type);
    return PyModule_AddObject(module, name, (PyObject *)type);
}

PyMODINIT_FUNC PyInit__bridge(void) {
    static const struct {
        const char *name;
        long value;
    } constants[] = {
        {"BARRIER", DTL_BARRIER},     {"ALLREDUCE", DTL_ALLREDUCE}, {"REDUCE", DTL_REDUCE},
        {"BROADCAST", DTL_BROADCAST}, {"GATHER", DTL_GATHER},       {"SCATTER", DTL_SCATTER},
        {"ALLGATHER", DTL_ALLGATHER}, {"SEND", DTL_SEND},           {"RECV", DTL_RECV},
        {"SENDRECV", DTL_SENDRECV},   {"VIEW", DTL_VIEW},           {"NDARRAY", DTL_NDARRAY},
        {"NUMPY_SCALAR", DTL_NUMPY_SCALAR}, {"PYTHON_SCALAR", DTL_PYTHON_SCALAR},
    };
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL)
        return NULL;
    if (word_op == NULL)
        word_op = PyUnicode_InternFromString("op");
    if (word_out == NULL)
        word_out = PyUnicode_InternFromString("out");
    if (word_op == NULL || word_out == NULL)
        return NULL;
    if (make_error == NULL) {
        ndarray_type = generic_type = (PyObject *)&PyBaseObject_Type;
        make_error = PyExc_RuntimeError;
        Py_INCREF(ndarray_type);
        Py_INCREF(generic_type);
        Py_INCREF(make_error);
    }
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        if (PyModule_AddIntConstant(module, constants[i].name, constants[i].value) < 0)
            return NULL;
    if (add_type(module, "Handle", &HandleType) < 0 || add_type(module, "Buffer", &BufferType) < 0)
        return NULL;
    return module;
}
