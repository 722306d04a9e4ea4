//go:build cpython

/*
 * The fast path from a function of the package to the core.
 *
 * A ShortCall is called in place of a function written in Python. It knows which of the function's parameters is the owner of
 * the handle, the input, the output, or an integer of the call, and what the call returns. Where the arguments need no
 * preparing it makes the call by itself. Where one has to be prepared, is missing, or is wrong, it calls the function with the same
 * arguments.
 */
#include "arguments.h"
#include "call.h"
#include "fastpath.h"
#include "fastpath_ahead.h"
#include "fastpath_call.h"
#include "fastpath_collectives.h"
#include "fastpath_meeting.h"
#include "fastpath_messages.h"
#include "fastpath_rma.h"
#include "numpy.h"
#include "objects.h"
#include "places.h"
#include "short_call.h"
#include "state.h"

static const int32_t nothing_to_poll;

/* Where it is not 0, each call goes on with what is under way first. */
static const int32_t *polls = &nothing_to_poll;

void fastpath_prepare(void) {
    polls = (const int32_t *)dtl_polls();
    ahead_prepare();
    meeting_prepare();
}

/* bind puts each argument at its parameter, and says whether they are all there and none is too many. */
static int bind(const ShortCallObject *s, PyObject *const *args, Py_ssize_t count, PyObject *words, PyObject **bound) {
    if (count > s->positional)
        return 0;
    for (Py_ssize_t i = 0; i < s->count; i++)
        bound[i] = i < count ? args[i] : NULL;
    for (Py_ssize_t k = 0, n = words == NULL ? 0 : PyTuple_GET_SIZE(words); k < n; k++) {
        PyObject *word = PyTuple_GET_ITEM(words, k);
        int i = (int)count;
        while (i < s->count && s->parameters[i].name != word) /* both interned */
            i++;
        if (i == s->count || bound[i] != NULL)
            return 0;
        bound[i] = args[count + k];
    }
    for (int i = (int)count; i < s->count; i++)
        if (bound[i] == NULL && (bound[i] = s->parameters[i].standard) == NULL)
            return 0;
    return 1;
}

/* is_temporary says whether only the interpreter's stack refers to an object, as to what an operator has made for a call. */
static int is_temporary(PyObject *object) {
#if PY_VERSION_HEX >= 0x030e0000 /* whose stack need not count its references */
    return PyUnstable_Object_IsUniqueReferencedTemporary(object);
#else
    return Py_REFCNT(object) == 1;
#endif
}

/* take_bound reads the handle and the integers, and finds the value and the output. */
static int take_bound(const ShortCallObject *s, PyObject *const *bound, fast_call *t) {
    for (int i = 0; i < s->count; i++) {
        PyObject *argument = bound[i];
        int64_t *into = &t->call.args[s->parameters[i].argument];
        switch (s->parameters[i].place) {
        case IS_OWNER:
            if (!PyObject_TypeCheck(argument, &HandleType))
                return 0;
            if (((HandleObject *)argument)->pending) {
                ((HandleObject *)argument)->temporary = is_temporary(argument);
                return 0;
            }
            if (((HandleObject *)argument)->unregistered && use_handle((HandleObject *)argument) < 0) {
                PyErr_Clear(); /* the function fails at it, too */
                return 0;
            }
            t->call.handle = ((HandleObject *)argument)->handle;
            break;
        case IS_IN:
            t->value = argument;
            break;
        case IS_OUT:
            t->out = argument;
            break;
        case IS_NONE:
            if (argument != Py_None)
                return 0;
            break;
        case IS_FALSE:
            if (argument != Py_False)
                return 0;
            break;
        case IS_SIZE:
            *into = -1;
            if (argument != Py_None && (take_args(&argument, 1, into) != TAKEN || *into < 0))
                return 0;
            break;
        case IS_DTYPE:
            if ((*into = dtype_take(argument)) < 0)
                return 0;
            break;
        default:
            if (take_args(&argument, 1, into) != TAKEN)
                return 0;
        }
    }
    return 1;
}

/* with_result makes the call of a reduction or collection, where the result comes to this rank if it is here. */
static PyObject *with_result(const ShortCallObject *s, fast_call *t, int here, int size) {
    if (!t->call.in.given || (s->answer == LIKE && (t->value == Py_True || t->value == Py_False)))
        Py_RETURN_NOTIMPLEMENTED; /* nothing to send is an error; sums of truth values are integers: Python's business */
    if (!here)
        return perform(&t->call);
    if (t->out != Py_None)
        return given_out(t);
    if (s->answer == STACKED)
        return made_out(t, size);
    return t->call.in.kind == DTL_NDARRAY ? made_out(t, -1) : like_scalar(t);
}

/* with_ranks makes a call in which it matters who this rank is, or how many there are. */
static PyObject *with_ranks(const ShortCallObject *s, fast_call *t, const RanksObject *ranks) {
    int here = s->root < 0 || t->call.args[s->root] == ranks->rank;
    int ignores = s->answer == SCATTERED && !here; /* the value */
    if (!ignores && (!take_value(t) || (s->answer == SCATTERED && !t->call.in.given)))
        Py_RETURN_NOTIMPLEMENTED;
    if (ranks->board != NULL || ranks->nodes != NULL) {
        PyObject *answer = fast_collective(s, t, ranks, here);
        if (answer != Py_NotImplemented)
            return answer;
        Py_DECREF(answer);
    }
    if (s->answer == LIKE || s->answer == STACKED)
        return with_result(s, t, here, ranks->size);
    if (s->answer == SHARED && !here) /* nobody gets the value; an array says what is expected */
        t->call.in.given = t->call.in.given && t->call.in.kind == DTL_NDARRAY;
    PyObject *answer = given_out(t);
    if (s->answer == SCATTERED || !here || answer != Py_None)
        return answer;
    Py_DECREF(answer);
    return Py_NewRef(t->value);
}

/* message makes the call of a message. */
static PyObject *message(const ShortCallObject *s, fast_call *t, PyObject *owner) {
    if (!take_value(t))
        Py_RETURN_NOTIMPLEMENTED;
    if (s->answer != EXCHANGED && PyObject_TypeCheck(owner, &RanksType)) {
        const RanksObject *ranks = (RanksObject *)owner;
        PyObject *answer = s->answer == SENT ? fast_send(t, ranks) : fast_receive(t, ranks);
        if (answer != Py_NotImplemented)
            return answer;
        Py_DECREF(answer);
    }
    return given_out(t);
}

/* folded makes one scalar of a container's elements. */
static PyObject *folded(const ShortCallObject *s, fast_call *t) {
    if (!numpy_known || t->call.handle == 0 || s->fold < 0)
        Py_RETURN_NOTIMPLEMENTED;
    t->call.args[0] = s->fold;
    t->call.inline_result = t->call.args[3] = 1;
    return perform(&t->call);
}

/* attempt makes the call if its arguments need no preparing, else returns NotImplemented. */
static PyObject *attempt(const ShortCallObject *s, PyObject *const *args, Py_ssize_t count, PyObject *words) {
    PyObject *bound[MAX_PARAMETERS];
    fast_call t;
    if (state.forked || !bind(s, args, count, words, bound))
        Py_RETURN_NOTIMPLEMENTED;
    if (s->answer == MET && PyObject_TypeCheck(bound[0], &RanksType))
        return fast_barrier(s, (RanksObject *)bound[0]);
    memset(&t.call, 0, offsetof(dtl_call, shape));
    t.call.code = s->code;
    t.value = t.out = Py_None;
    t.generic = NULL;
    if (!take_bound(s, bound, &t))
        Py_RETURN_NOTIMPLEMENTED;
    if (s->answer == FOLDED) {
        if (state.under_way != 0 || ((HandleObject *)bound[0])->deferred) /* a handle, for it was taken */
            Py_RETURN_NOTIMPLEMENTED;
        return folded(s, &t);
    }
    if (s->answer >= WRITTEN)
        return fast_access(s, &t, bound[0]);
    if (s->answer == RECEIVED || s->answer == SENT || s->answer == EXCHANGED)
        return message(s, &t, bound[0]);
    if (!PyObject_TypeCheck(bound[0], &RanksType))
        Py_RETURN_NOTIMPLEMENTED;
    return with_ranks(s, &t, (RanksObject *)bound[0]);
}

/* poll goes on with what is under way, where each call does so. */
static void poll(void) {
    Py_BEGIN_ALLOW_THREADS
    dtl_poll();
    Py_END_ALLOW_THREADS
}

PyObject *short_vectorcall(PyObject *self, PyObject *const *args, size_t flagged, PyObject *words) {
    const ShortCallObject *s = (ShortCallObject *)self;
    if (__atomic_load_n(polls, __ATOMIC_RELAXED) != 0 && !state.forked)
        poll();
    PyObject *answer = attempt(s, args, PyVectorcall_NARGS(flagged), words);
    if (answer == Py_NotImplemented) {
        Py_DECREF(answer);
        answer = PyObject_Vectorcall(s->prepare, args, flagged, words);
    }
    if (s->root >= 0 && answer != NULL && PyVectorcall_NARGS(flagged) > 0 && PyObject_TypeCheck(args[0], &RanksType))
        places_keep((RanksObject *)args[0]);
    return answer;
}
