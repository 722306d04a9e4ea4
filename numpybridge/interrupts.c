//go:build cpython

/* What the core asks of the program around it while a call waits. */
#include <sched.h>
#include <signal.h>

#include "interrupts.h"
#include "places.h"
#include "state.h"

/* Python's functions that name the place a thread is at, and that of code and a line. */
static PyObject *where, *name;

/* The exception that a signal's handler raised while a call of a thread waited, which ends with it. Python's main thread
 * runs handlers, and no other. */
static PyObject *raised_type, *raised_value, *raised_traceback;
static unsigned long raised_in;

/* How many threads are on their way into Python from Go, and whether Python's end has begun: from then on, a thread that
 * asks for the interpreter's lock may never get it, or be ended in the middle of a call of Go's. */
static int inside, ended;

/* How often this thread is on its way into Python from Go: above 0, a handler that runs interrupts a call that waits. */
static __thread int entered;

void interrupts_setup(PyObject *where_, PyObject *name_) {
    Py_INCREF(where_);
    Py_INCREF(name_);
    Py_XSETREF(where, where_);
    Py_XSETREF(name, name_);
}

/* enter takes the interpreter's lock until leave, unless there is no interpreter any more. */
static int enter(PyGILState_STATE *held) {
    if (state.forked || !Py_IsInitialized())
        return 0;
    __atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&ended, __ATOMIC_SEQ_CST)) {
        __atomic_sub_fetch(&inside, 1, __ATOMIC_SEQ_CST);
        return 0;
    }
    *held = PyGILState_Ensure();
    entered++;
    return 1;
}

static void leave(PyGILState_STATE held) {
    entered--;
    PyGILState_Release(held);
    __atomic_sub_fetch(&inside, 1, __ATOMIC_SEQ_CST);
}

const char end_doc[] = PyDoc_STR(
"end($module, /)\n--\n\n"
"Keep calls that wait out of Python from now on, because its end has begun: they run no signal handlers any more, and in\n"
"other threads than the first they never return.");

PyObject *bridge_end(PyObject *module, PyObject *unused) {
    __atomic_store_n(&ended, 1, __ATOMIC_SEQ_CST);
    Py_BEGIN_ALLOW_THREADS
    while (__atomic_load_n(&inside, __ATOMIC_SEQ_CST) != 0)
        sched_yield();
    if (!state.forked)
        dtl_end();
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

/* keep_raised keeps the exception that a handler has raised for the call that waits. */
static void keep_raised(void) {
    Py_CLEAR(raised_type);
    Py_CLEAR(raised_value);
    Py_CLEAR(raised_traceback);
    PyErr_Fetch(&raised_type, &raised_value, &raised_traceback);
    raised_in = PyThread_get_thread_ident();
}

static int was_raised(void) { return raised_type != NULL && raised_in == PyThread_get_thread_ident(); }

/* tell writes a place, which it takes over, and returns the text's length; 0 for NULL, where Python may have raised. */
static int tell(PyObject *place, char *text, int size) {
    int length = 0;
    const char *utf8 = place != NULL ? PyUnicode_AsUTF8(place) : NULL;
    if (place == NULL && PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_MemoryError) &&
        !PyErr_ExceptionMatches(PyExc_RecursionError))
        keep_raised(); /* the function does not fail: the interpreter ran a handler in it */
    if (utf8 != NULL)
        length = snprintf(text, (size_t)size, "%s", utf8);
    PyErr_Clear();
    Py_XDECREF(place);
    return length < size ? length : size - 1;
}

int dtl_where(long thread, char *text, int size) {
    PyGILState_STATE held;
    if (!enter(&held))
        return 0;
    int length = tell(where != NULL ? PyObject_CallFunction(where, "l", thread) : NULL, text, size);
    leave(held);
    return length;
}

int dtl_where_was(uint64_t meets, uint64_t number, char *text, int size) {
    PyGILState_STATE held;
    int line = 0;
    if (!enter(&held))
        return 0;
    PyObject *code = places_of(meets, number, &line);
    int length = tell(code != NULL && name != NULL ? PyObject_CallFunction(name, "Oi", code, line) : NULL, text, size);
    leave(held);
    return length;
}

int dtl_interrupted(void) {
    PyGILState_STATE held;
    if (!enter(&held))
        return 0;
    if (PyErr_CheckSignals() < 0)
        keep_raised();
    int interrupted = was_raised();
    leave(held);
    return interrupted;
}

int raise_interruption(void) {
    if (!was_raised())
        return 0;
    PyErr_Restore(raised_type, raised_value, raised_traceback);
    raised_type = raised_value = raised_traceback = NULL;
    return 1;
}

const char interruption_doc[] = PyDoc_STR(
"interruption($module, /)\n--\n\n"
"Raise what a signal's handler raised while the last call of this thread waited; do nothing if none did.");

PyObject *bridge_interruption(PyObject *module, PyObject *unused) {
    if (raise_interruption())
        return NULL;
    Py_RETURN_NONE;
}

const char waits_doc[] = PyDoc_STR(
"waits($module, /)\n--\n\n"
"Say whether what runs is called by a call of DTL that waits, as signal handlers are.");

PyObject *bridge_waits(PyObject *module, PyObject *unused) { return PyBool_FromLong(entered > 0); }

const char use_alternate_stack_doc[] = PyDoc_STR(
"use_alternate_stack($module, number, /)\n--\n\n"
"Have a signal's handler, if there is one, run on the stack for signals: that of a call into Go has no room for it.");

PyObject *bridge_use_alternate_stack(PyObject *module, PyObject *number) {
    struct sigaction now;
    long signal = PyLong_AsLong(number);
    if (signal == -1 && PyErr_Occurred())
        return NULL;
    if (sigaction((int)signal, NULL, &now) == 0 && now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN &&
        (now.sa_flags & SA_ONSTACK) == 0) {
        now.sa_flags |= SA_ONSTACK;
        sigaction((int)signal, &now, NULL);
    }
    Py_RETURN_NONE;
}
