//go:build cpython

/*
 * The module _bridge: the data plane between Python and the Go core.
 *
 * It borrows buffers, lets the GIL go, makes one call into Go, and hands back what came: a scalar, or a Buffer
 * that owns the memory. It knows no operation. Where an argument needs more than borrowing (a list, a strided
 * array, a missing output) it returns NotImplemented, and Python prepares the argument and calls again.
 */
#include "assign.h"
#include "call.h"
#include "collective.h"
#include "container.h"
#include "device_memory.h"
#include "elementwise.h"
#include "elements.h"
#include "errors.h"
#include "expressions.h"
#include "fastpath.h"
#include "fastpath_function.h"
#include "interrupts.h"
#include "line_scans.h"
#include "matrix_folds.h"
#include "methods.h"
#include "numpy.h"
#include "numpy_loops.h"
#include "objects.h"
#include "over_buffers.h"
#include "part.h"
#include "product.h"
#include "requests.h"
#include "rows.h"
#include "split.h"
#include "state.h"
#include "subscripts.h"
#include "trace.h"
#include "triplets.h"
#include "turns.h"

PyDoc_STRVAR(setup_doc,
"setup($module, sample, generic, make_error, where, name, make_array, /)\n--\n\n"
"Tell the bridge an array of float64 and two dimensions, NumPy's scalar type, the function that makes an exception\n"
"of an error's text, the one that names the place in the program that calls, the one that names that of code and a\n"
"line, and the one that makes an array of a Buffer whose format names the elements.");

static PyObject *bridge_setup(PyObject *module, PyObject *args) {
    PyObject *sample, *scalar_, *make, *where, *name, *make_array;
    if (!PyArg_ParseTuple(args, "OO!OOOO:setup", &sample, &PyType_Type, &scalar_, &make, &where, &name, &make_array))
        return NULL;
    interrupts_setup(where, name);
    errors_setup(make);
    named_setup(make_array);
    ndarray_learn(sample);
    numpy_loops_learn();
    fastpath_prepare();
    Py_INCREF(Py_TYPE(sample));
    Py_XSETREF(ndarray_type, (PyObject *)Py_TYPE(sample));
    Py_INCREF(scalar_);
    Py_XSETREF(generic_type, scalar_);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(attach_doc,
"attach($module, ranks, /)\n--\n\n"
"Tell ranks who this rank is and how many there are, and let short calls on them take the fast path, where there is one.");

static PyObject *bridge_attach(PyObject *module, PyObject *ranks) {
    if (!PyObject_TypeCheck(ranks, &RanksType))
        return PyErr_Format(PyExc_TypeError, "attach takes Ranks, not %s", Py_TYPE(ranks)->tp_name);
    RanksObject *r = (RanksObject *)ranks;
    if (!state.forked)
        r->board = dtl_fast_context(r->handle.handle, &r->rank, &r->size, (void **)&r->nodes);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(attach_window_doc,
"attach_window($module, window, /)\n--\n\n"
"Let short accesses to a window go straight to its memory, if that is all in this process.");

static PyObject *bridge_attach_window(PyObject *module, PyObject *window) {
    if (!PyObject_TypeCheck(window, &ExposedType))
        return PyErr_Format(PyExc_TypeError, "attach_window takes Exposed, not %s", Py_TYPE(window)->tp_name);
    ExposedObject *w = (ExposedObject *)window;
    if (!state.forked)
        w->window = dtl_fast_window(w->handle.handle);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"attach", bridge_attach, METH_O, attach_doc},
    {"attach_window", bridge_attach_window, METH_O, attach_window_doc},
    {"block_bytes", bridge_block_bytes, METH_NOARGS, block_bytes_doc},
    {"call", (PyCFunction)(void (*)(void))bridge_call, METH_FASTCALL, call_doc},
    {"clock", bridge_clock, METH_NOARGS, clock_doc},
    {"compute", bridge_compute, METH_VARARGS, compute_doc},
    {"device_lend", bridge_device_lend, METH_VARARGS, device_lend_doc},
    {"device_stream", bridge_device_stream, METH_O, device_stream_doc},
    {"end", bridge_end, METH_NOARGS, end_doc},
    {"fault", bridge_fault, METH_VARARGS, fault_doc},
    {"find_rows", bridge_find_rows, METH_VARARGS, find_rows_doc},
    {"hash_texts", bridge_hash_texts, METH_VARARGS, hash_texts_doc},
    {"take_turn", bridge_take_turn, METH_VARARGS, take_turn_doc},
    {"interruption", bridge_interruption, METH_NOARGS, interruption_doc},
    {"learn_subscripts", bridge_learn_subscripts, METH_VARARGS, learn_subscripts_doc},
    {"learn_ufuncs", bridge_learn_ufuncs, METH_VARARGS, learn_ufuncs_doc},
    {"end_turn", bridge_end_turn, METH_O, end_turn_doc},
    {"note", bridge_note, METH_VARARGS, note_doc},
    {"on_use", bridge_on_use, METH_O, on_use_doc},
    {"outside", bridge_outside, METH_O, outside_doc},
    {"over_buffers", (PyCFunction)(void (*)(void))bridge_over_buffers, METH_FASTCALL, over_buffers_doc},
    {"pends", bridge_pends, METH_O, pends_doc},
    {"place_rows", bridge_place_rows, METH_VARARGS, place_rows_doc},
    {"quick_whole", bridge_quick_whole, METH_O, quick_whole_doc},
    {"register_all", bridge_register_all, METH_NOARGS, register_all_doc},
    {"setup", bridge_setup, METH_VARARGS, setup_doc},
    {"start", (PyCFunction)(void (*)(void))bridge_start, METH_FASTCALL, start_doc},
    {"take_bits", bridge_take_bits, METH_VARARGS, take_bits_doc},
    {"take_dlpack", bridge_take_dlpack, METH_O, take_dlpack_doc},
    {"blend", bridge_blend, METH_VARARGS, blend_doc},
    {"copy_elements", bridge_copy_elements, METH_VARARGS, copy_elements_doc},
    {"take_elements", bridge_take_elements, METH_VARARGS, take_elements_doc},
    {"scan_lines", bridge_scan_lines, METH_VARARGS, scan_lines_doc},
    {"fold_columns", bridge_fold_columns, METH_VARARGS, fold_columns_doc},
    {"sum_lines", bridge_sum_lines, METH_VARARGS, sum_lines_doc},
    {"fold_rows", bridge_fold_rows, METH_VARARGS, fold_rows_doc},
    {"dot_rows", bridge_dot_rows, METH_VARARGS, dot_rows_doc},
    {"find_in_rows", bridge_find_in_rows, METH_VARARGS, find_in_rows_doc},
    {"pack", bridge_pack, METH_VARARGS, pack_doc},
    {"repeat", bridge_repeat, METH_VARARGS, repeat_doc},
    {"part_fixed", bridge_part_fixed, METH_VARARGS, part_fixed_doc},
    {"take_fixed", bridge_take_fixed, METH_VARARGS, take_fixed_doc},
    {"take_offsets", bridge_take_offsets, METH_VARARGS, take_offsets_doc},
    {"count_within", bridge_count_within, METH_VARARGS, count_within_doc},
    {"multiply_back", bridge_multiply_back, METH_VARARGS, multiply_back_doc},
    {"multiply_rows", bridge_multiply_rows, METH_VARARGS, multiply_rows_doc},
    {"renumber", bridge_renumber, METH_VARARGS, renumber_doc},
    {"split_rows", bridge_split_rows, METH_VARARGS, split_rows_doc},
    {"count_triplets", bridge_count_triplets, METH_VARARGS, count_triplets_doc},
    {"sort_triplets", bridge_sort_triplets, METH_VARARGS, sort_triplets_doc},
    {"write_triplets", bridge_write_triplets, METH_VARARGS, write_triplets_doc},
    {"take_text", bridge_take_text, METH_VARARGS, take_text_doc},
    {"use_alternate_stack", bridge_use_alternate_stack, METH_O, use_alternate_stack_doc},
    {"waits", bridge_waits, METH_NOARGS, waits_doc},
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
    } numbers[] = {
        {"NDARRAY", DTL_NDARRAY}, {"NUMPY_SCALAR", DTL_NUMPY_SCALAR}, {"PYTHON_SCALAR", DTL_PYTHON_SCALAR}, {"MOST_WHOLE", MOST_WHOLE},
    };
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL)
        return NULL;
    if (ndarray_type == NULL) {
        ndarray_type = Py_NewRef((PyObject *)&PyBaseObject_Type);
        generic_type = Py_NewRef((PyObject *)&PyBaseObject_Type);
        errors_setup(PyExc_RuntimeError);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (PyModule_AddIntConstant(module, numbers[i].name, numbers[i].value) < 0)
            goto failed;
    const char *key;
    for (int64_t code = 0; (key = dtl_operation(code)) != NULL; code++)
        if (PyModule_AddIntConstant(module, key, (long)code) < 0)
            goto failed;
    int64_t value;
    for (int64_t i = 0; (key = dtl_constant(i, &value)) != NULL; i++)
        if (PyModule_AddIntConstant(module, key, (long)value) < 0)
            goto failed;
    if (add_methods(module) < 0)
        goto failed;
    if (add_type(module, "State", &StateType) < 0)
        goto failed;
    Py_INCREF(&state);
    if (PyModule_AddObject(module, "state", (PyObject *)&state) < 0)
        goto failed;
    container_type = &ContainerType;
    on_register(container_register);
    PendingCallType.tp_base = ContainerType.tp_base = RanksType.tp_base = ExposedType.tp_base = &HandleType;
    if (add_type(module, "Handle", &HandleType) < 0 || add_type(module, "Layout", &LayoutType) < 0 ||
        add_type(module, "Container", &ContainerType) < 0 ||
        add_type(module, "Ranks", &RanksType) < 0 || add_type(module, "Exposed", &ExposedType) < 0 ||
        add_type(module, "Buffer", &BufferType) < 0 || PyType_Ready(&BlockType) < 0 || add_type(module, "DeviceMemory", &DeviceMemoryType) < 0 ||
        add_type(module, "ShortCall", &ShortCallType) < 0 ||
        add_type(module, "Collective", &CollectiveType) < 0 ||
        add_type(module, "Recorder", &RecorderType) < 0 || add_type(module, "PendingCall", &PendingCallType) < 0)
        goto failed;
    return module;
failed:
    Py_DECREF(module);
    return NULL;
}
