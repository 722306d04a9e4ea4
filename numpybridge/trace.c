//go:build cpython

/* Who traces, and what of a call they get to see: its operation, bytes, time and call site. */
#include "module.h"

#include <frameobject.h>
#include <time.h>

int tracing;

/* The recorders that run; each is kept alive by being here. */
static RecorderObject *running;

/* How many of them ask for call sites. */
static int by_site;

/* The beginnings of names of files in which nobody looks for a call site: this package's own, and the like. */
static PyObject *inside;

/* What users call each operation, and whether its result is memory that stays where it is. */
static struct {
    PyObject *name;
    int lent;
} *operations;
static int64_t n_operations;

static int learn_operations(void) {
    const char *name;
    int64_t n = 0;
    while (dtl_operation_name(n) != NULL)
        n++;
    if (operations == NULL && (operations = calloc((size_t)n + 1, sizeof *operations)) == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (; n_operations < n && (name = dtl_operation_name(n_operations)) != NULL; n_operations++) {
        operations[n_operations].lent = dtl_lends(n_operations);
        if ((operations[n_operations].name = PyUnicode_InternFromString(name)) == NULL)
            return -1;
    }
    return 0;
}

int trace_add(RecorderObject *r) {
    if (learn_operations() < 0)
        return -1;
    Py_INCREF(r);
    *recorder_next(r) = running;
    running = r;
    by_site += recorder_by_site(r);
    tracing = 1;
    return 0;
}

void trace_remove(RecorderObject *r) {
    for (RecorderObject **at = &running; *at != NULL; at = recorder_next(*at)) {
        if (*at == r) {
            *at = *recorder_next(r);
            by_site -= recorder_by_site(r);
            Py_DECREF(r);
            break;
        }
    }
    tracing = running != NULL;
}

/* ---- Call sites ---- */

#if PY_VERSION_HEX < 0x03090000
static PyFrameObject *PyFrame_GetBack(PyFrameObject *frame) {
    Py_XINCREF(frame->f_back);
    return frame->f_back;
}

static PyCodeObject *PyFrame_GetCode(PyFrameObject *frame) {
    Py_INCREF(frame->f_code);
    return frame->f_code;
}
#endif

static int is_inside(PyObject *file) {
    for (Py_ssize_t i = 0; inside != NULL && i < PyTuple_GET_SIZE(inside); i++)
        if (PyUnicode_Tailmatch(file, PyTuple_GET_ITEM(inside, i), 0, PY_SSIZE_T_MAX, -1) == 1)
            return 1;
    return 0;
}

/* find_caller returns the file of the innermost frame that is not inside, and sets its line; NULL where there is none. */
static PyObject *find_caller(int *line) {
    PyFrameObject *frame = PyEval_GetFrame();
    Py_XINCREF(frame);
    while (frame != NULL) {
        PyCodeObject *code = PyFrame_GetCode(frame);
        PyObject *file = PyUnicode_CheckExact(code->co_filename) ? Py_NewRef(code->co_filename) : NULL;
        Py_DECREF(code);
        if (file != NULL && !is_inside(file)) {
            *line = PyFrame_GetLineNumber(frame);
            Py_DECREF(frame);
            return file;
        }
        Py_XDECREF(file);
        PyFrameObject *back = PyFrame_GetBack(frame);
        Py_DECREF(frame);
        frame = back;
    }
    return NULL;
}

/* ---- Calls ---- */

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * (int64_t)1000000000 + t.tv_nsec;
}

/* tell tells each recorder. Looking for the caller may run the garbage collector, and with it anything: it comes first. */
static void tell(traced *t) {
    if (by_site > 0)
        t->file = find_caller(&t->line);
    for (RecorderObject *r = running; r != NULL; r = *recorder_next(r))
        recorder_add(r, t);
    Py_XDECREF(t->file);
}

static int64_t size_of(const dtl_array *a) { return a->given ? a->count * a->itemsize : 0; }

void trace_perform(dtl_call *call) {
    traced t = {0};
    Py_BEGIN_ALLOW_THREADS
    t.start = now();
    dtl_perform(call);
    t.end = now();
    Py_END_ALLOW_THREADS
    if (call->unsuitable || call->code < 0 || call->code >= n_operations)
        return;
    t.op = operations[call->code].name;
    t.failed = call->error != NULL;
    if (!t.failed) {
        t.bytes = size_of(&call->in) + size_of(&call->out);
        if (call->result.given && !operations[call->code].lent)
            t.bytes += call->result.count * call->result.itemsize;
    }
    tell(&t);
}

/* ---- For Python ---- */

const char outside_doc[] = PyDoc_STR(
"outside($module, beginnings, /)\n--\n\n"
"Look for call sites in frames outside the files whose names begin with one of a tuple's strings.");

PyObject *bridge_outside(PyObject *module, PyObject *beginnings) {
    int fit = PyTuple_CheckExact(beginnings);
    for (Py_ssize_t i = 0; fit && i < PyTuple_GET_SIZE(beginnings); i++)
        fit = PyUnicode_CheckExact(PyTuple_GET_ITEM(beginnings, i));
    if (!fit) {
        PyErr_SetString(PyExc_TypeError, "outside takes a tuple of strings");
        return NULL;
    }
    Py_INCREF(beginnings);
    Py_XSETREF(inside, beginnings);
    Py_RETURN_NONE;
}

const char clock_doc[] = PyDoc_STR(
"clock($module, /)\n--\n\n"
"Return the nanoseconds of the clock that traces use, or 0 while nobody traces.");

PyObject *bridge_clock(PyObject *module, PyObject *unused) { return PyLong_FromLongLong(tracing ? now() : 0); }

const char note_doc[] = PyDoc_STR(
"note($module, operation, start, failed, end=0, bytes=0, /)\n--\n\n"
"Let those who trace know of a call that went past the bridge, or of a part of one; for an end of 0, it ends now.");

PyObject *bridge_note(PyObject *module, PyObject *args) {
    PyObject *op;
    long long start, end = 0, bytes = 0;
    traced t = {0};
    if (!PyArg_ParseTuple(args, "ULp|LL:note", &op, &start, &t.failed, &end, &bytes))
        return NULL;
    t.start = start;
    t.end = end != 0 ? end : now();
    t.bytes = bytes;
    Py_INCREF(op);
    PyUnicode_InternInPlace(&op); /* recorders tell operations apart by address */
    t.op = op;
    tell(&t);
    Py_DECREF(op);
    Py_RETURN_NONE;
}
