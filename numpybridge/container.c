//go:build cpython

/* The base class of containers, and what those share that are laid out alike. */
#include "container.h"
#include "elementwise.h"
#include "errors.h"
#include "objects.h"
#include "part.h"
#include "state.h"
#include "subscripts.h"

/* ---- Layout: where the elements of containers are ---- */

static PyMemberDef layout_members[] = {
    {"shape", T_OBJECT, offsetof(LayoutObject, shape), 0, "the extents of the whole; None until somebody has asked"},
    {"local_size", T_OBJECT, offsetof(LayoutObject, local_size), 0, "the number of this rank's elements; None until somebody has asked"},
    {NULL},
};

static void layout_dealloc(PyObject *self) {
    LayoutObject *layout = (LayoutObject *)self;
    Py_XDECREF(layout->shape);
    Py_XDECREF(layout->local_size);
    if (layout->template != 0 && !state.forked)
        free(dtl_container_close(layout->template)); /* it never fails */
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

static PyMemberDef container_members[] = {
    {"_context", T_OBJECT_EX, offsetof(ContainerObject, context), 0, "the ranks"},
    {"_dtype", T_OBJECT_EX, offsetof(ContainerObject, dtype), 0, "the type of the elements"},
    {"_is_quick", T_BOOL, offsetof(ContainerObject, quick), 0, "whether calls on its part may take the short way"},
    {"_ndim", T_INT, offsetof(ContainerObject, ndim), 0, "the number of dimensions"},
    {"_division", T_OBJECT_EX, offsetof(ContainerObject, division), 0, "which rank owns which element"},
    {"_meaning", T_OBJECT, offsetof(ContainerObject, meaning), 0,
     "what the elements stand for, where this is the vector of a table's column, such as codes of text; else None"},
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
    c->quick = 1;
    c->ndim = (int)ndim;
    Py_XSETREF(c->context, Py_NewRef(args[1]));
    Py_XSETREF(c->dtype, Py_NewRef(args[2]));
    Py_XSETREF(c->division, Py_NewRef(args[4]));
    Py_XSETREF(c->layout, layout);
    Py_RETURN_NONE;
}

static PyObject *container_adopt_whole(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    if (nargs != 5)
        return PyErr_Format(PyExc_TypeError, "_adopt_whole takes 5 arguments, not %zd", nargs);
    PyObject *layout = LayoutType.tp_alloc(&LayoutType, 0);
    if (layout == NULL)
        return NULL;
    int made = part_whole((ContainerObject *)self, layout, args);
    Py_DECREF(layout);
    return PyBool_FromLong(made);
}

static int container_traverse(PyObject *self, visitproc visit, void *arg) {
    ContainerObject *c = (ContainerObject *)self;
    Py_VISIT(c->context);
    Py_VISIT(c->dtype);
    Py_VISIT(c->division);
    Py_VISIT(c->layout);
    Py_VISIT(c->meaning);
    return 0;
}

static int container_clear(PyObject *self) {
    ContainerObject *c = (ContainerObject *)self;
    Py_CLEAR(c->context);
    Py_CLEAR(c->dtype);
    Py_CLEAR(c->division);
    Py_CLEAR(c->layout);
    Py_CLEAR(c->meaning);
    return 0;
}

static void container_dealloc(PyObject *self) {
    PyObject_GC_UnTrack(self);
    part_close((ContainerObject *)self);
    container_clear(self);
    Py_TYPE(self)->tp_free(self);
}

/* container_free closes the native container. It returns -1 with an exception where that fails. */
static int container_free(PyObject *self) {
    HandleObject *h = (HandleObject *)self;
    long long handle = h->handle;
    char *error;
    h->handle = 0;
    part_close((ContainerObject *)self);
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

static PyObject *container_forget_part(PyObject *self, PyObject *unused) {
    if (part_forget((ContainerObject *)self) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyGetSetDef container_getset[] = {
    {"T", subscripts_transpose, NULL, PyDoc_STR("the transpose, with a copy of the elements. Collective; see dtl.permute_dims"), NULL},
    {NULL},
};

static PyMethodDef container_methods[] = {
    {"__array_function__", (PyCFunction)(void (*)(void))subscripts_function, METH_FASTCALL,
     PyDoc_STR("Return what one of NumPy's functions makes of containers: NumPy's protocol.")},
    {"__array_ufunc__", (PyCFunction)(void (*)(void))elementwise_ufunc, METH_FASTCALL | METH_KEYWORDS,
     PyDoc_STR("Return what a ufunc makes of containers: NumPy's protocol.")},
    {"_forget_part", container_forget_part, METH_NOARGS,
     PyDoc_STR("Keep no array of the part, before a call that changes where the elements are, or counts views.")},
    {"_adopt_native", (PyCFunction)(void (*)(void))container_adopt_native, METH_FASTCALL,
     PyDoc_STR("Set the native handle of a new container, its context, dtype, number of dimensions and division, and a layout of its own.")},
    {"_adopt_whole", (PyCFunction)(void (*)(void))container_adopt_whole, METH_FASTCALL,
     PyDoc_STR("Make a small container of one block on a context of one rank, its dtype, division and shape, blank or of zeros.\n"
               "Return False where it takes longer.")},
    {"_close_native", container_close_native, METH_NOARGS,
     PyDoc_STR("Close the native container, unless it is closed, or dead in a forked child.")},
    {NULL},
};

PyTypeObject ContainerType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "dtl._native._bridge.Container",
    .tp_basicsize = sizeof(ContainerObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_FINALIZE | Py_TPFLAGS_HAVE_GC,
    .tp_doc = "A native handle of a container, which is closed with the object. It has NumPy's operators.",
    .tp_as_number = &elementwise_operators,
    .tp_as_mapping = &subscripts_mapping,
    .tp_as_sequence = &subscripts_sequence,
    .tp_getset = container_getset,
    .tp_richcompare = elementwise_compare,
    .tp_hash = PyObject_HashNotImplemented,
    .tp_methods = container_methods,
    .tp_members = container_members,
    .tp_dealloc = container_dealloc,
    .tp_traverse = container_traverse,
    .tp_clear = container_clear,
    .tp_finalize = container_finalize,
    .tp_new = PyType_GenericNew,
};
