//go:build cpython

/*
 * The type Collective: a function in Python that every rank calls.
 *
 * It calls the function, and that is all where the function returns: so it costs a short call next to nothing. Where the
 * function raises on this rank, it calls another one with the error and the arguments, which tells the other ranks, or makes the
 * call in another way: where it returns a tuple, that has the result.
 */
#include "collective.h"

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *function, *failed, *attributes, *weak;
} CollectiveObject;

/* give_up calls the function for errors with the one that is set, which stays set unless that function raises another, or returns
 * the result in a tuple. */
static PyObject *give_up(const CollectiveObject *c, PyObject *const *args, Py_ssize_t count, PyObject *words) {
    PyObject *type, *error, *where, *arguments, *answer = NULL;
    PyErr_Fetch(&type, &error, &where);
    PyErr_NormalizeException(&type, &error, &where);
    if (where != NULL)
        PyException_SetTraceback(error, where);
    if ((arguments = PyTuple_New(count)) != NULL) {
        for (Py_ssize_t i = 0; i < count; i++)
            PyTuple_SET_ITEM(arguments, i, Py_NewRef(args[i]));
        answer = PyObject_CallFunctionObjArgs(c->failed, error, arguments, words == NULL ? Py_None : words, NULL);
        Py_DECREF(arguments);
    }
    if (answer == Py_None) {
        PyErr_Restore(type, error, where);
        Py_DECREF(answer);
        return NULL;
    }
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(where);
    if (answer == NULL)
        return NULL;
    PyObject *result = Py_NewRef(PyTuple_GET_ITEM(answer, 0));
    Py_DECREF(answer);
    return result;
}

PyObject *collective_failed(PyObject *collective, PyObject *const *args, Py_ssize_t count) {
    if (!PyErr_ExceptionMatches(PyExc_Exception)) /* a KeyboardInterrupt is not told */
        return NULL;
    return give_up((const CollectiveObject *)collective, args, count, NULL);
}

static PyObject *collective_vectorcall(PyObject *self, PyObject *const *args, size_t flagged, PyObject *words) {
    const CollectiveObject *c = (CollectiveObject *)self;
    PyObject *result = PyObject_Vectorcall(c->function, args, flagged, words);
    if (result == NULL && PyErr_ExceptionMatches(PyExc_Exception)) /* a KeyboardInterrupt is not told */
        result = give_up(c, args, PyVectorcall_NARGS(flagged) + (words == NULL ? 0 : PyTuple_GET_SIZE(words)), words);
    return result;
}

static PyObject *collective_new(PyTypeObject *type, PyObject *args, PyObject *words) {
    PyObject *function, *failed;
    if (words != NULL && PyDict_GET_SIZE(words) > 0)
        return PyErr_SetString(PyExc_TypeError, "Collective takes no keywords"), NULL;
    if (!PyArg_ParseTuple(args, "OO:Collective", &function, &failed))
        return NULL;
    CollectiveObject *c = (CollectiveObject *)type->tp_alloc(type, 0);
    if (c == NULL)
        return NULL;
    c->vectorcall = collective_vectorcall;
    c->function = Py_NewRef(function);
    c->failed = Py_NewRef(failed);
    return (PyObject *)c;
}

static int collective_traverse(PyObject *self, visitproc visit, void *arg) {
    CollectiveObject *c = (CollectiveObject *)self;
    Py_VISIT(c->function);
    Py_VISIT(c->failed);
    Py_VISIT(c->attributes);
    return 0;
}

static int collective_clear(PyObject *self) {
    Py_CLEAR(((CollectiveObject *)self)->attributes); /* the others are functions, which end their own circles */
    return 0;
}

static void collective_dealloc(PyObject *self) {
    CollectiveObject *c = (CollectiveObject *)self;
    PyObject_GC_UnTrack(self);
    if (c->weak != NULL)
        PyObject_ClearWeakRefs(self);
    Py_XDECREF(c->function);
    Py_XDECREF(c->failed);
    Py_XDECREF(c->attributes);
    Py_TYPE(self)->tp_free(self);
}

/* As a method it is bound like a function. */
static PyObject *collective_bind(PyObject *self, PyObject *object, PyObject *type) {
    return object == NULL || object == Py_None ? Py_NewRef(self) : PyMethod_New(self, object);
}

/* The function's name is what pickle finds it by. */
static PyObject *collective_reduce(PyObject *self, PyObject *unused) {
    return PyObject_GetAttrString(((CollectiveObject *)self)->function, "__qualname__");
}

static PyObject *collective_repr(PyObject *self) {
    PyObject *name = collective_reduce(self, NULL);
    PyObject *text = name == NULL ? NULL : PyUnicode_FromFormat("<function %U at %p>", name, self);
    Py_XDECREF(name);
    return text;
}

static PyGetSetDef collective_attributes[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL},
};

static PyMethodDef collective_methods[] = {
    {"__reduce__", collective_reduce, METH_NOARGS, NULL},
    {NULL},
};

PyTypeObject CollectiveType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "dtl._native._bridge.Collective",
    .tp_basicsize = sizeof(CollectiveObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR,
    .tp_doc = PyDoc_STR(
"Collective(function, failed, /)\n--\n\n"
"A function that every rank calls. Where it raises an Exception, failed is called with that, a tuple of the arguments, and\n"
"one of the keywords of the last of them, or None; it may raise another in its place."),
    .tp_new = collective_new,
    .tp_dealloc = collective_dealloc,
    .tp_traverse = collective_traverse,
    .tp_clear = collective_clear,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(CollectiveObject, vectorcall),
    .tp_dictoffset = offsetof(CollectiveObject, attributes),
    .tp_weaklistoffset = offsetof(CollectiveObject, weak),
    .tp_descr_get = collective_bind,
    .tp_repr = collective_repr,
    .tp_getset = collective_attributes,
    .tp_methods = collective_methods,
};
