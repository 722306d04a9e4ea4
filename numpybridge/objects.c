//go:build cpython

/* The types of the module _bridge. */
#include "module.h"

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

int use_handle(HandleObject *object) {
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

static PyGetSetDef handle_getset[] = {
    {"_handle", handle_get, handle_set, PyDoc_STR("the native handle, when what is pending is computed; 0 once it is closed"), NULL},
    {NULL},
};

static PyMemberDef handle_members[] = {
    {"_raw_handle", T_LONGLONG, offsetof(HandleObject, handle), READONLY,
     "the native handle, for calls that use no element, while what is pending stays so"},
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

/* ---- Layout: where the elements of containers are ---- */

/* What Python knows of it; NULL until somebody has asked. */
typedef struct {
    PyObject_HEAD
    PyObject *shape, *local_size;
} LayoutObject;

static PyMemberDef layout_members[] = {
    {"shape", T_OBJECT, offsetof(LayoutObject, shape), 0, "the extents of the whole; None until somebody has asked"},
    {"local_size", T_OBJECT, offsetof(LayoutObject, local_size), 0, "the number of this rank's elements; None until somebody has asked"},
    {NULL},
};

static void layout_dealloc(PyObject *self) {
    LayoutObject *layout = (LayoutObject *)self;
    Py_XDECREF(layout->shape);
    Py_XDECREF(layout->local_size);
    Py_TYPE(self)->tp_free(self);
}

PyTypeObject LayoutType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "dtl._native._bridge.Layout",
    .tp_basicsize = sizeof(LayoutObject),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Where the elements are, of containers of one context: those that are known to be laid out alike share it.",
    .tp_members = layout_members,
    .tp_dealloc = layout_dealloc,
    .tp_new = PyType_GenericNew,
};

/* ---- Container: the base class of containers of elements, which end with the object ---- */

typedef struct {
    HandleObject base;
    int ndim;
    PyObject *context, *dtype, *division, *layout;
} ContainerObject;

static PyMemberDef container_members[] = {
    {"_context", T_OBJECT_EX, offsetof(ContainerObject, context), 0, "the ranks"},
    {"_dtype", T_OBJECT_EX, offsetof(ContainerObject, dtype), 0, "the type of the elements"},
    {"_ndim", T_INT, offsetof(ContainerObject, ndim), 0, "the number of dimensions"},
    {"_division", T_OBJECT_EX, offsetof(ContainerObject, division), 0, "which rank owns which element"},
    {"_layout", T_OBJECT_EX, offsetof(ContainerObject, layout), 0, "where the elements are"},
    {NULL},
};

/* A new container is made so often that setting its attributes one by one would take a tenth of that. */
static PyObject *container_adopt_native(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    ContainerObject *c = (ContainerObject *)self;
    if (nargs != 5)
        return PyErr_Format(PyExc_TypeError, "_adopt_native takes 5 arguments, not %zd", nargs);
    long long handle = PyLong_AsLongLong(args[0]);
    long ndim = PyLong_AsLong(args[3]);
    PyObject *layout = PyErr_Occurred() ? NULL : LayoutType.tp_alloc(&LayoutType, 0);
    if (layout == NULL)
        return NULL;
    c->base.handle = handle;
    c->ndim = (int)ndim;
    Py_XSETREF(c->context, Py_NewRef(args[1]));
    Py_XSETREF(c->dtype, Py_NewRef(args[2]));
    Py_XSETREF(c->division, Py_NewRef(args[4]));
    Py_XSETREF(c->layout, layout);
    Py_RETURN_NONE;
}

static int container_traverse(PyObject *self, visitproc visit, void *arg) {
    ContainerObject *c = (ContainerObject *)self;
    Py_VISIT(c->context);
    Py_VISIT(c->dtype);
    Py_VISIT(c->division);
    Py_VISIT(c->layout);
    return 0;
}

static int container_clear(PyObject *self) {
    ContainerObject *c = (ContainerObject *)self;
    Py_CLEAR(c->context);
    Py_CLEAR(c->dtype);
    Py_CLEAR(c->division);
    Py_CLEAR(c->layout);
    return 0;
}

static void container_dealloc(PyObject *self) {
    PyObject_GC_UnTrack(self);
    container_clear(self);
    Py_TYPE(self)->tp_free(self);
}

/* container_free closes the native container. It returns -1 with an exception where that fails. */
static int container_free(PyObject *self) {
    HandleObject *h = (HandleObject *)self;
    long long handle = h->handle;
    char *error;
    h->handle = 0;
    if (handle == 0 || state.forked)
        return 0;
    if (h->pending) { /* Python knows what becomes of that */
        PyObject *gone = PyObject_CallMethod(self, "_release", "L", handle);
        Py_XDECREF(gone);
        return gone == NULL ? -1 : 0;
    }
    Py_BEGIN_ALLOW_THREADS
    error = dtl_container_close(handle);
    Py_END_ALLOW_THREADS
    if (error == NULL)
        return 0;
    fail_with(error);
    return -1;
}

static PyObject *container_close_native(PyObject *self, PyObject *unused) {
    if (container_free(self) < 0)
        return NULL;
    Py_RETURN_NONE;
}

/* The interpreter's end takes the memory away by itself. */
static void container_finalize(PyObject *self) {
    PyObject *type, *value, *where;
    if (Py_IsFinalizing())
        return;
    PyErr_Fetch(&type, &value, &where);
    if (container_free(self) < 0)
        PyErr_WriteUnraisable(self);
    PyErr_Restore(type, value, where);
}

static PyMethodDef container_methods[] = {
    {"_adopt_native", (PyCFunction)(void (*)(void))container_adopt_native, METH_FASTCALL,
     PyDoc_STR("Set the native handle of a new container, its context, dtype, number of dimensions and division, and a layout of its own.")},
    {"_close_native", container_close_native, METH_NOARGS,
     PyDoc_STR("Close the native container, unless it is closed, or dead in a forked child.")},
    {NULL},
};

PyTypeObject ContainerType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "dtl._native._bridge.Container",
    .tp_basicsize = sizeof(ContainerObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_FINALIZE | Py_TPFLAGS_HAVE_GC,
    .tp_doc = "A native handle of a container, which is closed with the object.",
    .tp_methods = container_methods,
    .tp_members = container_members,
    .tp_dealloc = container_dealloc,
    .tp_traverse = container_traverse,
    .tp_clear = container_clear,
    .tp_finalize = container_finalize,
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
