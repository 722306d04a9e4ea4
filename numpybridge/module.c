//go:build cpython

/*
 * The module _bridge: the data plane between Python and the Go core.
 *
 * It borrows buffers, lets the GIL go, makes one call into Go, and hands back what came: a scalar, or a Buffer
 * that owns the memory. It knows no operation. Where an argument needs more than borrowing (a list, a strided
 * array, a missing output) it returns NotImplemented, and Python prepares the argument and calls again.
 */
#include "fastpath.h"

PyDoc_STRVAR(setup_doc,
"setup($module, sample, generic, make_error, where, /)\n--\n\n"
"Tell the bridge an array of float64 and two dimensions, NumPy's scalar type, the function that makes an exception\n"
"of an error's text, and the one that names the place in the program that calls.");

static PyObject *bridge_setup(PyObject *module, PyObject *args) {
    PyObject *sample, *scalar_, *make, *where;
    if (!PyArg_ParseTuple(args, "OO!OO:setup", &sample, &PyType_Type, &scalar_, &make, &where))
        return NULL;
    interrupts_setup(where);
    errors_setup(make);
    ndarray_learn(sample);
    numpy_sorts_learn();
    fastpath_prepare();
    Py_INCREF(Py_TYPE(sample));
    Py_XSETREF(ndarray_type, (PyObject *)Py_TYPE(sample));
    Py_INCREF(scalar_);
    Py_XSETREF(generic_type, scalar_);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(disable_doc,
"disable($module, /)\n--\n\n"
"Refuse every call from now on: this process is a forked child.");

static PyObject *bridge_disable(PyObject *module, PyObject *unused) {
    disabled = 1;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(lend_doc,
"lend($module, ranks, /)\n--\n\n"
"Let short calls on ranks take the way by the board in shared memory, if there is one.");

static PyObject *bridge_lend(PyObject *module, PyObject *ranks) {
    if (!PyObject_TypeCheck(ranks, &RanksType))
        return PyErr_Format(PyExc_TypeError, "lend takes Ranks, not %s", Py_TYPE(ranks)->tp_name);
    RanksObject *r = (RanksObject *)ranks;
    if (!disabled)
        r->board = dtl_lend(r->handle.handle);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(expose_doc,
"expose($module, window, /)\n--\n\n"
"Let short accesses to a window go straight to its memory, if that is all in this process.");

static PyObject *bridge_expose(PyObject *module, PyObject *window) {
    if (!PyObject_TypeCheck(window, &ExposedType))
        return PyErr_Format(PyExc_TypeError, "expose takes Exposed, not %s", Py_TYPE(window)->tp_name);
    ExposedObject *w = (ExposedObject *)window;
    if (!disabled)
        w->window = dtl_expose(w->handle.handle);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(under_way_doc,
"under_way($module, calls, /)\n--\n\n"
"Say whether asynchronous calls are under way, so that calls on containers take no short way.");

static PyObject *bridge_under_way(PyObject *module, PyObject *calls) {
    int truth = PyObject_IsTrue(calls);
    if (truth < 0)
        return NULL;
    under_way = truth;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"call", (PyCFunction)(void (*)(void))bridge_call, METH_FASTCALL, call_doc},
    {"clock", bridge_clock, METH_NOARGS, clock_doc},
    {"disable", bridge_disable, METH_NOARGS, disable_doc},
    {"end", bridge_end, METH_NOARGS, end_doc},
    {"expose", bridge_expose, METH_O, expose_doc},
    {"hold", bridge_hold, METH_VARARGS, hold_doc},
    {"interruption", bridge_interruption, METH_NOARGS, interruption_doc},
    {"lend", bridge_lend, METH_O, lend_doc},
    {"let_go", bridge_let_go, METH_O, let_go_doc},
    {"note", bridge_note, METH_VARARGS, note_doc},
    {"outside", bridge_outside, METH_O, outside_doc},
    {"pends", bridge_pends, METH_O, pends_doc},
    {"setup", bridge_setup, METH_VARARGS, setup_doc},
    {"start", (PyCFunction)(void (*)(void))bridge_start, METH_FASTCALL, start_doc},
    {"under_way", bridge_under_way, METH_O, under_way_doc},
    {"use_alternate_stack", bridge_use_alternate_stack, METH_O, use_alternate_stack_doc},
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
    } kinds[] = {
        {"NDARRAY", DTL_NDARRAY}, {"NUMPY_SCALAR", DTL_NUMPY_SCALAR}, {"PYTHON_SCALAR", DTL_PYTHON_SCALAR},
    };
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL)
        return NULL;
    if (ndarray_type == NULL) {
        ndarray_type = Py_NewRef((PyObject *)&PyBaseObject_Type);
        generic_type = Py_NewRef((PyObject *)&PyBaseObject_Type);
        errors_setup(PyExc_RuntimeError);
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (PyModule_AddIntConstant(module, kinds[i].name, kinds[i].value) < 0)
            goto failed;
    const char *key;
    for (int64_t code = 0; (key = dtl_operation(code)) != NULL; code++)
        if (PyModule_AddIntConstant(module, key, (long)code) < 0)
            goto failed;
    HeldType.tp_base = RanksType.tp_base = ExposedType.tp_base = &HandleType;
    if (add_type(module, "Handle", &HandleType) < 0 || add_type(module, "Ranks", &RanksType) < 0 ||
        add_type(module, "Exposed", &ExposedType) < 0 ||
        add_type(module, "Buffer", &BufferType) < 0 || add_type(module, "Short", &ShortType) < 0 ||
        add_type(module, "Collective", &CollectiveType) < 0 ||
        add_type(module, "Recorder", &RecorderType) < 0 || add_type(module, "Held", &HeldType) < 0)
        goto failed;
    return module;
failed:
    Py_DECREF(module);
    return NULL;
}
