//go:build cpython

/* The types of the module _bridge. */
#include "objects.h"
#include "state.h"

/* ---- Handle: the base class of everything that has a native handle ---- */

/* Python's function that computes what is pending on an object. */
static PyObject *compute_pending;

const char on_use_doc[] = PyDoc_STR(
"on_use($module, compute, /)\n--\n\n"
"Set the function that is called with a Handle whose attribute _pending is true, before anybody uses its handle.");

PyObject *bridge_on_use(PyObject *module, PyObject *compute) {
    Py_INCREF(compute);
    Py_XSETREF(compute_pending, compute);
    Py_RETURN_NONE;
}

/* What makes an object known to the core. */
static int (*register_handle)(HandleObject *object);

void on_register(int (*f)(HandleObject *)) { register_handle = f; }

int use_handle(HandleObject *object) {
    if (object->unregistered)
        return register_handle(object);
    if (!object->pending || compute_pending == NULL)
        return 0;
    PyObject *computed = PyObject_CallFunctionObjArgs(compute_pending, (PyObject *)object, NULL);
    Py_XDECREF(computed);
    return computed == NULL ? -1 : 0;
}

static PyObject *handle_get(PyObject *self, void *unused) {
    HandleObject *object = (HandleObject *)self;
    return use_handle(object) < 0 ? NULL : PyLong_FromLongLong(object->handle);
}

static int handle_set(PyObject *self, PyObject *value, void *unused) {
    if (value == NULL) {
        PyErr_SetString(PyExc_TypeError, "a native handle cannot be deleted");
        return -1;
    }
    long long handle = PyLong_AsLongLong(value);
    if (handle == -1 && PyErr_Occurred())
        return -1;
    ((HandleObject *)self)->handle = handle;
    return 0;
}

static PyObject *handle_raw(PyObject *self, void *unused) {
    HandleObject *object = (HandleObject *)self;
    return object->unregistered && use_handle(object) < 0 ? NULL : PyLong_FromLongLong(object->handle);
}

static PyObject *handle_open(PyObject *self, void *unused) {
    const HandleObject *object = (const HandleObject *)self;
    return PyBool_FromLong(object->handle != 0 || object->unregistered);
}

static PyGetSetDef handle_getset[] = {
    {"_is_open", handle_open, NULL, PyDoc_STR("whether it has not been closed"), NULL},
    {"_raw_handle", handle_raw, NULL,
     PyDoc_STR("the native handle, for calls that use no element, while what is pending stays so"), NULL},
    {"_handle", handle_get, handle_set, PyDoc_STR("the native handle, when what is pending is computed; 0 once it is closed"), NULL},
    {NULL},
};

static PyMemberDef handle_members[] = {
    {"_deferred", T_BOOL, offsetof(HandleObject, deferred), 0, "whether calls on it take no short way"},
    {"_is_temporary", T_BOOL, offsetof(HandleObject, temporary), READONLY,
     "whether nobody but its last short call referred to it, while something was pending"},
    {"_pending", T_BOOL, offsetof(HandleObject, pending), 0, "whether expressions are computed before anybody uses the handle"},
    {NULL},
};

PyTypeObject HandleType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "dtl._native._bridge.Handle",
    .tp_basicsize = sizeof(HandleObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_doc = "An object with a native handle.",
    .tp_members = handle_members,
    .tp_getset = handle_getset,
    .tp_new = PyType_GenericNew,
};

/* ---- Ranks: the base class of contexts ---- */

static PyMemberDef ranks_members[] = {
    {"_rank", T_INT, offsetof(RanksObject, rank), READONLY, "the caller's rank"},
    {"_size", T_INT, offsetof(RanksObject, size), READONLY, "the number of ranks"},
    {NULL},
};

static PyObject *ranks_new(PyTypeObject *type, PyObject *args, PyObject *words) {
    PyObject *self = type->tp_alloc(type, 0);
    if (self != NULL)
        ((RanksObject *)self)->size = 1;
    return self;
}

PyTypeObject RanksType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "dtl._native._bridge.Ranks",
    .tp_basicsize = sizeof(RanksObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_doc = "A native handle that ranks share: rank 0 of 1 until it is attached.",
    .tp_members = ranks_members,
    .tp_new = ranks_new,
};

/* ---- Exposed: the base class of windows ---- */

PyTypeObject ExposedType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "dtl._native._bridge.Exposed",
    .tp_basicsize = sizeof(ExposedObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_doc = "A native handle of a window.",
    .tp_new = PyType_GenericNew,
};

/* ---- Buffer: memory of the core, kept alive by whoever looks at it ---- */

typedef struct {
    PyObject_HEAD
    uintptr_t storage;
    void *data;
    Py_ssize_t itemsize, count;
    int ndim, kind, c_order;
    const char *format; /* stays */
    Py_ssize_t *strides;
    Py_ssize_t shape[1]; /* ndim of them, then as many strides */
} BufferObject;

static int buffer_get(PyObject *self, Py_buffer *view, int flags) {
    BufferObject *b = (BufferObject *)self;
    if (!b->c_order && ((flags & PyBUF_STRIDES) != PyBUF_STRIDES || (flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS)) {
        view->obj = NULL;
        PyErr_SetString(PyExc_BufferError, "the elements do not lie side by side; ask for strides");
        return -1;
    }
    Py_INCREF(self);
    view->obj = self;
    view->buf = b->data;
    view->len = b->count * b->itemsize;
    view->itemsize = b->itemsize;
    view->readonly = 0;
    view->ndim = b->ndim;
    view->format = (flags & PyBUF_FORMAT) ? (char *)b->format : NULL;
    view->shape = b->ndim > 0 && (flags & PyBUF_ND) ? b->shape : NULL;
    view->strides = b->ndim > 0 && (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? b->strides : NULL;
    view->suboffsets = NULL;
    view->internal = NULL;
    return 0;
}

static void buffer_dealloc(PyObject *self) {
    if (!state.forked)
        dtl_release(((BufferObject *)self)->storage);
    Py_TYPE(self)->tp_free(self);
}

static PyBufferProcs buffer_procs = {.bf_getbuffer = buffer_get};

static PyMemberDef buffer_members[] = {
    {"kind", T_INT, offsetof(BufferObject, kind), READONLY, "what the sender passed: NDARRAY, NUMPY_SCALAR or PYTHON_SCALAR"},
    {NULL},
};

PyTypeObject BufferType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "dtl._native._bridge.Buffer",
    .tp_basicsize = offsetof(BufferObject, shape),
    .tp_itemsize = sizeof(Py_ssize_t),
    .tp_dealloc = buffer_dealloc,
    .tp_as_buffer = &buffer_procs,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Memory of the core. It lives as long as anything that looks at it.",
    .tp_members = buffer_members,
};

/* Python's function that makes an array of a Buffer whose format names the elements. */
static PyObject *array_of_named;

void named_setup(PyObject *make_array) {
    Py_INCREF(make_array);
    Py_XSETREF(array_of_named, make_array);
}

PyObject *named_array(const dtl_call *call) {
    PyObject *buffer = buffer_new(call);
    if (buffer == NULL)
        return NULL;
    PyObject *scalar = call->result.kind == DTL_NUMPY_SCALAR ? Py_True : Py_False;
    PyObject *array = PyObject_CallFunctionObjArgs(array_of_named, buffer, scalar, NULL);
    Py_DECREF(buffer);
    return array;
}

/* buffer_new takes over the result's storage, also when it fails. */
PyObject *buffer_new(const dtl_call *call) {
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
    b->format = r->format;
    b->strides = b->shape + r->ndim;
    b->c_order = 1;
    Py_ssize_t stride = r->itemsize;
    for (int i = r->ndim - 1; i >= 0; i--) {
        b->shape[i] = r->shape[i];
        b->strides[i] = r->strides != NULL ? r->strides[i] : stride;
        b->c_order &= b->strides[i] == stride || r->shape[i] <= 1;
        stride *= r->shape[i];
    }
    b->c_order |= r->count == 0;
    return (PyObject *)b;
}
