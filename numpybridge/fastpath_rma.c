//go:build cpython

/*
 * One-sided access without Go.
 *
 * Where all parts of a window lie in this process's memory, an access is a copy, or an addition under the guard of the
 * target's part. That takes less time than a call into Go. C reads the window's epochs and the places of its parts from memory
 * that Go writes (core/rma/local.go). Where an access is refused, Go makes the call again and says why; where another
 * rank keeps the guard for long, Go waits for it. Of what goes through Go in any case, C prepares the call to fetch and add, which
 * takes less time than in Python.
 */
#include "fastpath_ahead.h"
#include "fastpath_call.h"
#include "fastpath_rma.h"
#include "numpy.h"
#include "objects.h"
#include "short_call.h"
#include "trace.h"

/* From so many bytes on, a copy lets other threads of the interpreter go on. */
enum { LONG_COPY = 64 << 10 };

/* enter returns a window, and keeps it from being freed until leave; NULL where Go has to make the call. */
static dtl_window *enter(PyObject *owner) {
    if (!PyObject_TypeCheck(owner, &ExposedType))
        return NULL;
    const ExposedObject *e = (ExposedObject *)owner;
    dtl_window *w = e->window;
    if (w == NULL || e->handle.handle == 0 || tracing || !ahead_confirmed(NULL))
        return NULL;
    __atomic_add_fetch(&w->users, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&w->owner, __ATOMIC_SEQ_CST) == e->handle.handle)
        return w;
    __atomic_sub_fetch(&w->users, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

static void leave(dtl_window *w) { __atomic_sub_fetch(&w->users, 1, __ATOMIC_SEQ_CST); }

/* reach returns where some bytes of a target's part lie, or NULL where they may not be accessed. */
static char *reach(dtl_window *w, const int64_t *args, int64_t bytes) {
    return dtl_window_reach(w, args[0], args[1], bytes) == DTL_REACHED ? (char *)w->targets[args[0]].addr + args[1] : NULL;
}

/* copy copies the elements of an array, or to them; a single one of 8 bytes in one piece. */
static int copy(char *to, const char *from, int64_t bytes, PyObject *array) {
    if (bytes == 8 && (((uintptr_t)to | (uintptr_t)from) & 7) == 0) {
        __atomic_store_n((uint64_t *)to, __atomic_load_n((const uint64_t *)from, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
        return 1;
    }
    if (bytes < LONG_COPY) {
        memmove(to, from, (size_t)bytes);
        return 1;
    }
    Py_buffer view; /* so that no other thread frees or resizes the array meanwhile */
    if (PyObject_GetBuffer(array, &view, PyBUF_SIMPLE) < 0) {
        PyErr_Clear();
        return 0;
    }
    Py_BEGIN_ALLOW_THREADS
    memmove(to, from, (size_t)bytes);
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&view);
    return 1;
}

static int put(fast_call *t, dtl_window *w) {
    const dtl_array *in = &t->call.in;
    if (!take_value(t) || !in->given)
        return 0;
    int64_t bytes = in->count * type_of(t)->size;
    char *to = reach(w, t->call.args, bytes);
    return to != NULL && copy(to, in->data, bytes, t->value);
}

/* get returns the array with what was read, or NotImplemented. */
static PyObject *get(fast_call *t, dtl_window *w) {
    const array_type *type = type_numbered((unsigned)t->call.args[3]);
    int64_t bytes = t->call.args[2];
    PyObject *array;
    if (t->out != Py_None) {
        if (!ndarray_take(t->out, &t->call.out, NULL, 1))
            Py_RETURN_NOTIMPLEMENTED;
        int64_t room = t->call.out.count * t->call.out.itemsize;
        if (bytes >= 0 && bytes != room)
            Py_RETURN_NOTIMPLEMENTED;
        bytes = room;
        array = Py_NewRef(t->out);
    } else {
        if (!numpy_known || type == NULL || bytes < 0 || bytes % type->size != 0 || reach(w, t->call.args, bytes) == NULL)
            Py_RETURN_NOTIMPLEMENTED;
        int64_t count = bytes / type->size;
        array = array_new(type->descr, 1, &count);
    }
    const char *from = array == NULL ? NULL : reach(w, t->call.args, bytes);
    if (from != NULL && copy(((ndarray *)array)->data, from, bytes, array))
        return array;
    Py_XDECREF(array);
    PyErr_Clear(); /* Python finds out what is wrong, and says it better */
    Py_RETURN_NOTIMPLEMENTED;
}

/* guarded takes the guard of a target's part, and says whether it could. */
static int guarded(const dtl_window *w, const dtl_target *t) {
    for (int tries = 0; tries < 1000; tries++) {
        uint32_t nobody = 0;
        if (__atomic_compare_exchange_n(t->guard, &nobody, (uint32_t)w->rank + 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return 1;
        dtl_pause();
    }
    return 0;
}

/* add adds 8 bytes of float64 or int64 to a target's, and says whether it could. */
static int add(dtl_window *w, const int64_t *args, int real, const void *addend, void *old) {
    char *at = args[1] % 8 != 0 ? NULL : reach(w, args, 8);
    if (at == NULL || !guarded(w, &w->targets[args[0]]))
        return 0;
    union {
        double real;
        uint64_t integer; /* in which overflow is defined: it wraps around */
    } was, more;
    memcpy(&was, at, 8);
    memcpy(&more, addend, 8);
    memcpy(old, &was, 8);
    if (real)
        was.real += more.real;
    else
        was.integer += more.integer;
    memcpy(at, &was, 8);
    __atomic_store_n(w->targets[args[0]].guard, 0, __ATOMIC_RELEASE);
    return 1;
}

/* wanted_type returns the type of the elements that a number is added to: that of the number if the caller names none. */
static const array_type *wanted_type(const fast_call *t) {
    return t->call.args[2] == 0 ? type_of(t) : type_numbered((unsigned)t->call.args[2]);
}

/* fetch_in_go has Go add to elements that are not in this process's memory, and returns what was there: an array like the one that is
 * added, or a NumPy scalar; NotImplemented where Python prepares the call. */
static PyObject *fetch_in_go(fast_call *t) {
    const array_type *real = &array_types[NDARRAY_DOUBLE], *whole = &array_types[NDARRAY_LONG];
    if (!numpy_known || t->call.handle == 0 || !take_value(t) || !t->call.in.given)
        Py_RETURN_NOTIMPLEMENTED;
    const array_type *type = type_of(t);
    if (type != wanted_type(t))
        Py_RETURN_NOTIMPLEMENTED;
    t->call.args[2] = DTL_SUM;
    t->call.args[3] = 0;
    if (t->call.in.kind == DTL_NDARRAY && t->call.in.ndim > 0)
        return made_out(t, -1);
    if (t->call.in.kind == DTL_NDARRAY || (type != real && type != whole))
        Py_RETURN_NOTIMPLEMENTED;
    t->generic = type; /* also where the number is Python's */
    return like_scalar(t);
}

/* fetch_and_add returns what was there as a NumPy scalar, or NotImplemented. */
static PyObject *fetch_and_add(fast_call *t, dtl_window *w) {
    const array_type *real = &array_types[NDARRAY_DOUBLE], *whole = &array_types[NDARRAY_LONG], *given, *wanted;
    char old[8];
    double converted;
    if (!numpy_known || !take_value(t) || !t->call.in.given || t->call.in.kind == DTL_NDARRAY)
        Py_RETURN_NOTIMPLEMENTED;
    given = type_of(t);
    wanted = wanted_type(t);
    const void *addend = t->call.in.data;
    if (wanted == real && given == whole && t->generic == NULL) {
        int64_t number = *(const int64_t *)addend;
        if (number < -(INT64_C(1) << 53) || number > INT64_C(1) << 53)
            Py_RETURN_NOTIMPLEMENTED;
        converted = (double)number;
        addend = &converted;
        given = real;
    }
    if (given != wanted || (wanted != real && wanted != whole) || !add(w, t->call.args, wanted == real, addend, old))
        Py_RETURN_NOTIMPLEMENTED;
    return generic_new(wanted->descr, old);
}

/* count_on returns the number of a counter, which lies at rank 0, before it counted on. */
static PyObject *count_on(fast_call *t, dtl_window *w) {
    const int64_t place[] = {0, 0};
    int64_t old;
    if (!add(w, place, 0, &t->call.args[3], &old))
        Py_RETURN_NOTIMPLEMENTED;
    return PyLong_FromLongLong(old);
}

/* flush has this processor do what it has begun. */
static int flush(fast_call *t, dtl_window *w) {
    if (dtl_window_open_for(w, t->call.args[0]) != DTL_REACHED)
        return 0;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return 1;
}

static PyObject *nothing(int done) {
    if (done)
        Py_RETURN_NONE;
    Py_RETURN_NOTIMPLEMENTED;
}

PyObject *fast_access(const ShortCallObject *s, fast_call *t, PyObject *owner) {
    PyObject *answer;
    dtl_window *w = enter(owner);
    if (w == NULL && s->answer == ADDED && PyObject_TypeCheck(owner, &ExposedType) && ((ExposedObject *)owner)->window == NULL)
        return fetch_in_go(t);
    if (w == NULL)
        Py_RETURN_NOTIMPLEMENTED;
    switch (s->answer) {
    case WRITTEN:
        answer = nothing(put(t, w));
        break;
    case READ:
        answer = get(t, w);
        break;
    case ADDED:
        answer = fetch_and_add(t, w);
        break;
    case COUNTED:
        answer = count_on(t, w);
        break;
    default:
        answer = nothing(flush(t, w));
    }
    leave(w);
    return answer;
}
