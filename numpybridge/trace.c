//go:build cpython

/*
 * Traces: recorders, which count calls by operation and call site and keep the first of them one by one; which of them run;
 * and what they are told of a call.
 */
#include "trace.h"

#include <fcntl.h>
#include <frameobject.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_SITES = 1 << 14,
    MAX_BOUNDS = 64,
    FIRST_ROOM = 16, /* of a table; a power of two */
};

/* One operation called in one place. */
typedef struct {
    PyObject *op, *file; /* file is NULL where nobody asked or nobody knows */
    int line;
    int64_t calls, failed, bytes, nanoseconds, read, written;
    int64_t *counts; /* of calls that took no longer than each bound, and longer than the one before; then of the rest */
} site;

/* One call. Python reads these as records of a NumPy array. */
typedef struct {
    int64_t start, duration; /* nanoseconds of the clock */
    int64_t bytes;
    uint64_t thread;
    int32_t site;
    int32_t failed;
} event;

typedef struct RecorderObject {
    PyObject_HEAD
    struct RecorderObject *next; /* among those that run */
    int running, by_site, n_bounds;
    int64_t bounds[MAX_BOUNDS];
    site *sites;
    int32_t n_sites, n_slots;
    int32_t *slots; /* a hash table of indices of sites; -1: empty */
    event *events;
    Py_ssize_t n_events, room_events, max_events;
    Py_ssize_t dropped;
} RecorderObject;

/* A call as a trace sees it. */
typedef struct {
    PyObject *op, *file; /* file: of the call site; NULL where there is none */
    int line, failed;
    int64_t start, end; /* nanoseconds */
    int64_t bytes;
    int64_t read, written; /* bytes of disks, as the kernel counts them, since the call before */
} traced;

/* ---- Adding a call: no Python code runs here, so the GIL keeps all of it together ---- */

static int same(const site *s, PyObject *op, PyObject *file, int line) {
    return s->op == op && s->line == line &&
           (s->file == file || (s->file != NULL && file != NULL && PyUnicode_Compare(s->file, file) == 0));
}

/* slot_of returns where the table has a site, or would have it. */
static int32_t *slot_of(RecorderObject *r, PyObject *op, PyObject *file, int line) {
    uint64_t hash = (uint64_t)(uintptr_t)op + (uint64_t)line * 0x9E3779B97F4A7C15u;
    if (file != NULL)
        hash ^= (uint64_t)PyObject_Hash(file);
    hash *= 0x9E3779B97F4A7C15u;
    uint32_t mask = (uint32_t)r->n_slots - 1, at = (uint32_t)(hash >> 32) & mask;
    while (r->slots[at] >= 0 && !same(&r->sites[r->slots[at]], op, file, line))
        at = (at + 1) & mask;
    return &r->slots[at];
}

/* grow makes room for twice as many sites; there are twice as many slots as that. It says whether it could. */
static int grow(RecorderObject *r) {
    int32_t room = r->n_slots == 0 ? FIRST_ROOM : r->n_slots, *slots = malloc(2 * (size_t)room * sizeof *slots);
    site *sites = realloc(r->sites, (size_t)room * sizeof *sites);
    if (sites != NULL)
        r->sites = sites;
    if (sites == NULL || slots == NULL) {
        free(slots);
        return 0;
    }
    free(r->slots);
    r->slots = slots;
    r->n_slots = 2 * room;
    for (int32_t i = 0; i < r->n_slots; i++)
        slots[i] = -1;
    for (int32_t i = 0; i < r->n_sites; i++)
        *slot_of(r, sites[i].op, sites[i].file, sites[i].line) = i;
    return 1;
}

/* find_site returns the index of a site, new or not, or -1 where there is no memory. */
static int32_t find_site(RecorderObject *r, PyObject *op, PyObject *file, int line) {
    if (2 * r->n_sites >= r->n_slots && !grow(r))
        return -1;
    int32_t *slot = slot_of(r, op, file, line);
    if (*slot < 0 && file != NULL && r->n_sites >= MAX_SITES)
        slot = slot_of(r, op, file = NULL, line = 0); /* too many: the rest stand together */
    if (*slot >= 0)
        return *slot;
    site s = {.op = op, .file = file, .line = line};
    if (r->n_bounds > 0 && (s.counts = calloc((size_t)r->n_bounds + 1, sizeof *s.counts)) == NULL)
        return -1;
    Py_INCREF(op);
    Py_XINCREF(file);
    r->sites[r->n_sites] = s;
    return *slot = r->n_sites++;
}

/* add_event keeps a call by itself while there is room. It says whether it did. */
static int add_event(RecorderObject *r, const event *e) {
    if (r->n_events == r->max_events)
        return 0;
    if (r->n_events == r->room_events) {
        Py_ssize_t room = r->room_events == 0 ? FIRST_ROOM : 2 * r->room_events;
        room = room < r->max_events ? room : r->max_events;
        event *events = realloc(r->events, (size_t)room * sizeof *events);
        if (events == NULL)
            return 0;
        r->events = events;
        r->room_events = room;
    }
    r->events[r->n_events++] = *e;
    return 1;
}

/* add_call adds a call. It runs no Python code and sets no exception. */
static void add_call(RecorderObject *r, const traced *t) {
    PyObject *file = r->by_site ? t->file : NULL;
    int32_t index = find_site(r, t->op, file, file != NULL ? t->line : 0);
    if (index < 0) {
        r->dropped++;
        return;
    }
    site *s = &r->sites[index];
    int64_t duration = t->end - t->start;
    s->calls++;
    s->failed += t->failed;
    s->bytes += t->bytes;
    s->nanoseconds += duration;
    s->read += t->read;
    s->written += t->written;
    if (s->counts != NULL) {
        int i = 0;
        while (i < r->n_bounds && duration > r->bounds[i])
            i++;
        s->counts[i]++;
    }
    event e = {t->start, duration, t->bytes, (uint64_t)PyThread_get_thread_ident(), index, t->failed};
    if (r->max_events > 0)
        r->dropped += !add_event(r, &e);
}

/* ---- Recorders that run ---- */

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
    PyObject *staged; /* its name where elements of a device go through the host for it; NULL before the first time */
    int view;
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
        operations[n_operations].view = dtl_returns_view(n_operations);
        if ((operations[n_operations].name = PyUnicode_InternFromString(name)) == NULL)
            return -1;
    }
    return 0;
}

/* How long a call takes at least that may have read from a disk, in nanoseconds: the counts of the kernel take a while to read. */
enum { LONG = 20000 };

/* The kernel's counts of what this process has read from disks and written to them, and what they were when they were looked at last. */
static int counts_file = -1;
static int64_t counted_read, counted_written;

static int64_t count_named(const char *text, const char *name) {
    const char *at = strstr(text, name);
    return at == NULL ? 0 : strtoll(at + strlen(name), NULL, 10);
}

/* count_files has a call count what was read and written since it was last called. */
static void count_files(traced *t) {
    char text[512];
    ssize_t n;
    if (counts_file < 0)
        counts_file = open("/proc/self/io", O_RDONLY | O_CLOEXEC);
    if (counts_file < 0 || (n = pread(counts_file, text, sizeof text - 1, 0)) <= 0)
        return;
    text[n] = 0;
    int64_t read = count_named(text, "\nread_bytes: "), written = count_named(text, "\nwrite_bytes: ");
    t->read = read - counted_read;
    t->written = written - counted_written;
    counted_read = read;
    counted_written = written;
}

/* start puts a recorder among those that run; it returns -1 with an exception set where it cannot. */
static int start(RecorderObject *r) {
    if (learn_operations() < 0)
        return -1;
    Py_INCREF(r);
    r->next = running;
    running = r;
    if (by_site == 0 && r->by_site) {
        traced before = {0};
        count_files(&before);
    }
    by_site += r->by_site;
    tracing = 1;
    return 0;
}

static void stop(RecorderObject *r) {
    for (RecorderObject **at = &running; *at != NULL; at = &(*at)->next) {
        if (*at == r) {
            *at = r->next;
            by_site -= r->by_site;
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
    if (by_site > 0) {
        t->file = find_caller(&t->line);
        if (t->end - t->start >= LONG)
            count_files(t);
    }
    for (RecorderObject *r = running; r != NULL; r = r->next)
        add_call(r, t);
    Py_XDECREF(t->file);
}

/* staged_name returns what a trace calls an operation that takes elements of a device through the host. */
static PyObject *staged_name(int64_t code) {
    if (operations[code].staged == NULL)
        operations[code].staged = PyUnicode_FromFormat("%U (staged)", operations[code].name);
    if (operations[code].staged == NULL)
        PyErr_Clear();
    return operations[code].staged != NULL ? operations[code].staged : operations[code].name;
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
    t.op = call->staged ? staged_name(call->code) : operations[call->code].name;
    t.failed = call->error != NULL;
    if (!t.failed) {
        t.bytes = size_of(&call->in) + size_of(&call->out);
        if (call->result.given && !operations[call->code].view)
            t.bytes += call->result.count * call->result.itemsize;
    }
    tell(&t);
}

/* ---- The type Recorder ---- */

static int take_bounds(RecorderObject *r, PyObject *bounds) {
    Py_ssize_t n = PyTuple_GET_SIZE(bounds);
    if (n > MAX_BOUNDS) {
        PyErr_Format(PyExc_ValueError, "%zd bounds are more than %d", n, MAX_BOUNDS);
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        r->bounds[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(bounds, i));
        if (PyErr_Occurred())
            return -1;
    }
    r->n_bounds = (int)n;
    return 0;
}

static PyObject *recorder_new(PyTypeObject *type, PyObject *args, PyObject *words) {
    static char *names[] = {"max_events", "by_site", "bounds", NULL};
    Py_ssize_t max_events;
    int by_site;
    PyObject *bounds;
    if (!PyArg_ParseTupleAndKeywords(args, words, "npO!:Recorder", names, &max_events, &by_site, &PyTuple_Type, &bounds))
        return NULL;
    if (max_events < 0 || max_events > PY_SSIZE_T_MAX / (Py_ssize_t)sizeof(event))
        return PyErr_Format(PyExc_ValueError, "%zd events cannot be kept", max_events);
    RecorderObject *r = (RecorderObject *)type->tp_alloc(type, 0);
    if (r == NULL)
        return NULL;
    r->max_events = max_events;
    r->by_site = by_site;
    if (take_bounds(r, bounds) < 0)
        Py_CLEAR(r);
    return (PyObject *)r;
}

static void recorder_dealloc(PyObject *self) {
    RecorderObject *r = (RecorderObject *)self;
    for (int32_t i = 0; i < r->n_sites; i++) {
        Py_DECREF(r->sites[i].op);
        Py_XDECREF(r->sites[i].file);
        free(r->sites[i].counts);
    }
    free(r->sites);
    free(r->slots);
    free(r->events);
    Py_TYPE(self)->tp_free(self);
}

static PyObject *recorder_start(PyObject *self, PyObject *unused) {
    RecorderObject *r = (RecorderObject *)self;
    if (!r->running && start(r) < 0)
        return NULL;
    r->running = 1;
    Py_RETURN_NONE;
}

static PyObject *recorder_stop(PyObject *self, PyObject *unused) {
    RecorderObject *r = (RecorderObject *)self;
    if (r->running) {
        r->running = 0;
        stop(r);
    }
    Py_RETURN_NONE;
}

static PyObject *recorder_events(PyObject *self, PyObject *unused) {
    RecorderObject *r = (RecorderObject *)self;
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, r->n_events * (Py_ssize_t)sizeof(event));
    if (bytes != NULL && PyBytes_GET_SIZE(bytes) > 0)
        memcpy(PyBytes_AS_STRING(bytes), r->events, (size_t)PyBytes_GET_SIZE(bytes));
    return bytes;
}

static PyObject *counts_of(const RecorderObject *r, const site *s) {
    PyObject *counts = PyTuple_New(s->counts != NULL ? r->n_bounds + 1 : 0);
    for (Py_ssize_t i = 0; counts != NULL && i < PyTuple_GET_SIZE(counts); i++) {
        PyObject *count = PyLong_FromLongLong(s->counts[i]);
        if (count == NULL)
            Py_CLEAR(counts);
        else
            PyTuple_SET_ITEM(counts, i, count);
    }
    return counts;
}

/* Making a tuple may run the garbage collector, whose finalizers may call what is recorded: sites move, but none goes. */
static PyObject *recorder_totals(PyObject *self, PyObject *unused) {
    RecorderObject *r = (RecorderObject *)self;
    PyObject *all = PyList_New(0);
    for (int32_t i = 0; all != NULL && i < r->n_sites; i++) {
        site s = r->sites[i];
        PyObject *counts = counts_of(r, &s), *row = NULL;
        if (counts != NULL)
            row = Py_BuildValue("(OOiLLLLNLL)", s.op, s.file != NULL ? s.file : Py_None, s.line, (long long)s.calls,
                                (long long)s.failed, (long long)s.bytes, (long long)s.nanoseconds, counts,
                                (long long)s.read, (long long)s.written);
        if (row == NULL || PyList_Append(all, row) < 0)
            Py_CLEAR(all);
        Py_XDECREF(row);
    }
    return all;
}

static PyMethodDef recorder_methods[] = {
    {"start", recorder_start, METH_NOARGS, PyDoc_STR("start($self, /)\n--\n\nRecord from now on.")},
    {"stop", recorder_stop, METH_NOARGS, PyDoc_STR("stop($self, /)\n--\n\nRecord no more.")},
    {"events", recorder_events, METH_NOARGS,
     PyDoc_STR("events($self, /)\n--\n\nReturn the calls one by one: start, duration, bytes, thread, site, failed.")},
    {"totals", recorder_totals, METH_NOARGS,
     PyDoc_STR("totals($self, /)\n--\n\nReturn for each site operation, file, line, calls, failed, bytes, nanoseconds, counts, read, written.")},
    {NULL},
};

static PyMemberDef recorder_members[] = {
    {"dropped", T_PYSSIZET, offsetof(RecorderObject, dropped), READONLY, "how many calls are not among the events"},
    {NULL},
};

PyTypeObject RecorderType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "dtl._native._bridge.Recorder",
    .tp_basicsize = sizeof(RecorderObject),
    .tp_dealloc = recorder_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = PyDoc_STR("Recorder(max_events, by_site, bounds)\n--\n\nRecords calls, with the first of them one by one."),
    .tp_methods = recorder_methods,
    .tp_members = recorder_members,
    .tp_new = recorder_new,
};

/* ---- Functions for Python ---- */

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
