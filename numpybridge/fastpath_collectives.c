//go:build cpython

/* The collective calls that C makes on the board: what fits there, of types and operators that C knows. */
#include "arguments.h"
#include "errors.h"
#include "fastpath_call.h"
#include "fastpath_collectives.h"
#include "fastpath_meeting.h"
#include "header.h"
#include "interrupts.h"
#include "meeting.h"
#include "numpy.h"
#include "objects.h"
#include "short_call.h"

/* left_at is the answer of a call whose meeting is over without it: an exception is set, or the call is left to others. */
static PyObject *left_at(int joined) { return joined < 0 ? NULL : Py_NewRef(Py_NotImplemented); }

/* left_by is left_at where operations may still use the arrays of the call: then these stay for good. */
static PyObject *left_by(int joined, const meeting *m, PyObject *value, PyObject *out) {
    if (joined < 0 && (m->kept & DTL_NODES_KEEPS_LENT) != 0)
        Py_INCREF(value);
    if (joined < 0 && (m->kept & DTL_NODES_KEEPS_INTO) != 0)
        Py_INCREF(out);
    return left_at(joined);
}

/* overlap says whether two arrays share memory. */
static int overlap(const void *a, int64_t bytes, const void *b, int64_t more) {
    return (uintptr_t)a < (uintptr_t)b + (uintptr_t)more && (uintptr_t)b < (uintptr_t)a + (uintptr_t)bytes;
}

PyObject *fast_barrier(const ShortCallObject *s, const RanksObject *ranks) {
    meeting m;
    if (!meeting_begin(&m, ranks, s->code, s->print))
        Py_RETURN_NOTIMPLEMENTED;
    int joined = meeting_join(&m, NULL, 0, NULL, 0);
    if (joined <= 0)
        return left_at(joined);
    meeting_end(&m);
    Py_RETURN_NONE;
}

/* take_out finds or makes the array for a result of so many elements of the input's type, with a first dimension of
 * entries unless that is negative. NotImplemented leaves the call to others. */
static PyObject *take_out(fast_call *t, int64_t type, int64_t count, int64_t entries) {
    if (t->out == Py_None) {
        PyObject *made = new_result(t, entries);
        if (made != Py_NotImplemented)
            ndarray_take(made, &t->call.out, NULL, 1);
        return made;
    }
    if (!ndarray_take(t->out, &t->call.out, NULL, 1) || t->call.out.type != type || t->call.out.count != count)
        Py_RETURN_NOTIMPLEMENTED;
    return Py_NewRef(t->out);
}

/* moved_apart has the backend move elements that are too long for a meeting when all ranks have come to it. */
static PyObject *moved_apart(fast_call *t, meeting *m, PyObject *out) {
    int joined = meeting_join(m, NULL, 0, NULL, 0);
    if (joined <= 0) {
        Py_DECREF(out);
        return left_at(joined);
    }
    char *error = NULL;
    Py_BEGIN_ALLOW_THREADS
    dtl_move(&m->signature, t->call.in.data, t->call.out.data, m->size, &error);
    Py_END_ALLOW_THREADS
    meeting_end(m);
    if (error != NULL)
        fail_with(error);
    else if (!raise_interruption())
        return out;
    Py_DECREF(out);
    return NULL;
}

/* collective is allreduce, reduce, gather or allgather: every rank lays down its elements, and those that are to have
 * the result take it from there. */
static PyObject *collective(const ShortCallObject *s, fast_call *t, const RanksObject *ranks, int here) {
    const dtl_array *in = &t->call.in;
    int reduces = s->answer == LIKE, size = ranks->size;
    int64_t type = type_of(t)->number, bytes = in->count * type_of(t)->size;
    PyObject *out = NULL;
    meeting m;
    if (reduces && !meeting_reduces(t->call.args[0], type))
        Py_RETURN_NOTIMPLEMENTED;
    int apart = bytes > meeting_room(ranks, reduces, s->root >= 0);
    if (apart && (s->root >= 0 || ranks->nodes == NULL || !ranks->nodes->alone))
        Py_RETURN_NOTIMPLEMENTED;
    int scalar_comes = reduces && t->out == Py_None && in->kind != DTL_NDARRAY;
    if (here && !scalar_comes) {
        out = take_out(t, type, reduces ? in->count : in->count * size, reduces ? -1 : size);
        if (out == Py_NotImplemented)
            return out;
    }
    if (!meeting_begin(&m, ranks, s->code, s->print)) {
        Py_XDECREF(out);
        Py_RETURN_NOTIMPLEMENTED;
    }
    if (!apart && bytes > meeting_room(ranks, reduces, s->root >= 0)) { /* another thread has made a call meanwhile */
        meeting_end(&m);
        Py_XDECREF(out);
        Py_RETURN_NOTIMPLEMENTED;
    }
    m.signature.op = reduces ? t->call.args[0] : -1;
    m.signature.type = type;
    m.signature.count = in->count;
    m.signature.root = s->root < 0 ? 0 : t->call.args[s->root] + 1;
    m.signature.waits = !here && meeting_may_go_on(&m) ? DTL_FOR_NONE : DTL_FOR_ALL;
    if (apart)
        return moved_apart(t, &m, out);
    int64_t all = reduces ? bytes : bytes * size;
    m.into = !here ? NULL : scalar_comes ? (void *)&t->result : t->call.out.data;
    m.lends = in->kind == DTL_NDARRAY && (!here || !overlap(in->data, bytes, m.into, all));
    int joined = meeting_join(&m, NULL, 0, in->data, (int)bytes);
    if (joined <= 0) {
        PyObject *answer = left_by(joined, &m, t->value, out);
        Py_XDECREF(out);
        return answer;
    }
    if (reduces && s->root < 0 && meeting_in_slices(ranks, bytes)) {
        if (meeting_reduce_in_slices(&m, t->call.out.data) < 0) {
            Py_XDECREF(out);
            return NULL;
        }
    } else if (here && reduces)
        meeting_reduce(&m, scalar_comes ? (void *)&t->result : t->call.out.data);
    for (int rank = 0, laid; here && !reduces && rank < size; rank++) {
        const char *from = meeting_payload(&m, rank, &laid);
        if (from != (char *)t->call.out.data + rank * bytes)
            memcpy((char *)t->call.out.data + rank * bytes, from, (size_t)bytes);
    }
    meeting_end(&m);
    if (!here)
        Py_RETURN_NONE;
    return scalar_comes ? scalar_result(t) : out;
}

/* fits_root says whether root's values are short, in the turn of the call. */
static int fits_root(const fast_call *t, const RanksObject *ranks) {
    int64_t room = meeting_room_of_root(ranks) - DTL_HEADER_MAX;
    return t->call.in.count <= room && t->call.in.count * type_of(t)->size <= room;
}

static PyObject *broadcast_from(const ShortCallObject *s, fast_call *t, const RanksObject *ranks) {
    const dtl_array *in = &t->call.in;
    char head[DTL_HEADER_MAX];
    meeting m;
    if (!in->given || t->out != Py_None || !meeting_begin(&m, ranks, s->code, s->print))
        Py_RETURN_NOTIMPLEMENTED;
    if (!fits_root(t, ranks)) {
        meeting_end(&m);
        Py_RETURN_NOTIMPLEMENTED;
    }
    int64_t bytes = in->count * type_of(t)->size;
    m.signature.elements_optional = 1;
    m.signature.root = t->call.args[s->root] + 1;
    m.signature.type = type_of(t)->number;
    m.signature.count = in->count;
    m.signature.waits = meeting_may_go_on(&m) ? DTL_FOR_NONE : DTL_FOR_ALL;
    m.lends = in->kind == DTL_NDARRAY;
    int joined = meeting_join(&m, head, header_put(head, t), in->data, (int)bytes);
    if (joined <= 0)
        return left_by(joined, &m, t->value, NULL);
    meeting_end(&m);
    return Py_NewRef(t->value);
}

/* give_result copies the call's result to the output, or makes an object of it. */
static PyObject *give_result(fast_call *t) {
    const dtl_array *out = &t->call.out;
    if (out->given) {
        memmove(out->data, t->call.result.data, (size_t)(out->count * out->itemsize));
        return Py_NewRef(t->out);
    }
    return t->call.result.kind == DTL_PYTHON_SCALAR ? give_scalar(&t->call.result) : array_of(&t->call);
}

/* take_from_root makes the result of one of the parts that root laid down. */
static PyObject *take_from_root(fast_call *t, const meeting *m, int part, int parts) {
    const dtl_array *out = &t->call.out;
    int bytes;
    const char *laid = m->board == NULL ? dtl_nodes_placed(m->nodes, &bytes) : NULL;
    if (laid != NULL && header_get(t, laid, bytes, 0, 1) && t->call.result.type == out->type && t->call.result.count == out->count)
        return Py_NewRef(t->out);
    laid = meeting_payload(m, (int)m->signature.root - 1, &bytes);
    if (!header_get(t, laid, bytes, part, parts)) { /* the elements are too many to come along */
        t->call.result.given = t->call.in.given = 0;
        t->call.met = 1;
        return given_out(t);
    }
    return give_result(t);
}

/* take_own makes the result of root's own part of what it scatters. */
static PyObject *take_own(fast_call *t, const RanksObject *ranks) {
    dtl_array *r = &t->call.result;
    *r = t->call.in;
    r->count /= ranks->size;
    r->data = (char *)t->call.in.data + ranks->rank * r->count * r->itemsize;
    r->type = type_of(t)->number;
    r->shape++;
    if (--r->ndim == 0)
        r->kind = DTL_NUMPY_SCALAR;
    return give_result(t);
}

static PyObject *broadcast_to(const ShortCallObject *s, fast_call *t, const RanksObject *ranks) {
    dtl_array *out = &t->call.out;
    meeting m;
    if (t->out != Py_None && !ndarray_take(t->out, out, NULL, 1))
        Py_RETURN_NOTIMPLEMENTED;
    if (!meeting_begin(&m, ranks, s->code, s->print))
        Py_RETURN_NOTIMPLEMENTED;
    const dtl_array *stated = out->given ? out : &t->call.in;
    int states = stated->given && stated->kind == DTL_NDARRAY;
    m.signature.elements_optional = 1;
    m.signature.root = t->call.args[s->root] + 1;
    m.signature.type = states ? stated->type : 0;
    m.signature.count = states ? stated->count : 0;
    m.signature.waits = meeting_may_go_on(&m) ? DTL_FOR_ROOT : DTL_FOR_ALL;
    m.into = out->given ? out->data : NULL;
    m.into_bytes = out->count * out->itemsize;
    int joined = meeting_join(&m, NULL, 0, NULL, 0);
    if (joined <= 0)
        return left_by(joined, &m, t->value, t->out);
    PyObject *answer = take_from_root(t, &m, 0, 1);
    meeting_end(&m);
    return answer;
}

/* scatter_fits says whether root's values are short, in the turn of the call, and have an entry for each rank that fits its output. */
static int scatter_fits(const fast_call *t, const RanksObject *ranks) {
    int size = ranks->size;
    const dtl_array *in = &t->call.in, *out = &t->call.out;
    return in->kind == DTL_NDARRAY && in->ndim > 0 && in->shape[0] == size && fits_root(t, ranks) &&
           (!out->given || (out->type == type_of(t)->number && out->count == in->count / size));
}

static PyObject *scatter(const ShortCallObject *s, fast_call *t, const RanksObject *ranks, int here) {
    const dtl_array *in = &t->call.in, *out = &t->call.out;
    char head[DTL_HEADER_MAX];
    meeting m;
    if ((t->out != Py_None && !ndarray_take(t->out, &t->call.out, NULL, 1)) || !meeting_begin(&m, ranks, s->code, s->print))
        Py_RETURN_NOTIMPLEMENTED;
    if (here && !scatter_fits(t, ranks)) {
        meeting_end(&m);
        Py_RETURN_NOTIMPLEMENTED;
    }
    m.signature.elements_optional = 1;
    m.signature.root = t->call.args[s->root] + 1;
    m.signature.type = here ? type_of(t)->number : out->given ? out->type : 0;
    m.signature.count = here ? in->count / ranks->size : out->given ? out->count : 0;
    m.signature.waits = !meeting_may_go_on(&m) ? DTL_FOR_ALL : here ? DTL_FOR_NONE : DTL_FOR_ROOT;
    int64_t bytes = here ? in->count * type_of(t)->size : 0;
    m.scatters = 1;
    m.into = !here && out->given ? out->data : NULL;
    m.into_bytes = out->count * out->itemsize;
    m.lends = here && (!out->given || !overlap(in->data, bytes, out->data, m.into_bytes));
    int joined = here ? meeting_join(&m, head, header_put_entry(head, t), in->data, (int)bytes) : meeting_join(&m, NULL, 0, NULL, 0);
    if (joined <= 0)
        return left_by(joined, &m, t->value, t->out);
    int scattered = m.board == NULL && dtl_nodes_scattered(m.nodes);
    PyObject *answer = here    ? take_own(t, ranks)
                       : scattered ? take_from_root(t, &m, 0, scattered)
                               : take_from_root(t, &m, ranks->rank, ranks->size);
    meeting_end(&m);
    return answer;
}

PyObject *fast_collective(const ShortCallObject *s, fast_call *t, const RanksObject *ranks, int here) {
    if (!numpy_known || (s->root >= 0 && (t->call.args[s->root] < 0 || t->call.args[s->root] >= ranks->size)))
        Py_RETURN_NOTIMPLEMENTED;
    if (s->answer == SHARED)
        return here ? broadcast_from(s, t, ranks) : broadcast_to(s, t, ranks);
    if (s->answer == SCATTERED)
        return scatter(s, t, ranks, here);
    if (!t->call.in.given || (s->answer == LIKE && (t->value == Py_True || t->value == Py_False)))
        Py_RETURN_NOTIMPLEMENTED;
    return collective(s, t, ranks, here);
}
