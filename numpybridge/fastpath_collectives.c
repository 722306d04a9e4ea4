//go:build cpython

/* The collective calls that C makes on the board: what fits there, of types and operators that C knows. */
#include "fastpath.h"

/* left_at is the answer of a call whose meeting is over without it: an exception is set, or the call is left to others. */
static PyObject *left_at(int joined) { return joined < 0 ? NULL : Py_NewRef(Py_NotImplemented); }

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

/* collective is allreduce, reduce, gather or allgather: every rank lays down its elements, and those that are to have
 * the result take it from there. */
static PyObject *collective(const ShortCallObject *s, fast_call *t, const RanksObject *ranks, int here) {
    const dtl_array *in = &t->call.in;
    int reduces = s->answer == LIKE, size = ranks->size;
    int64_t type = type_of(t)->number, bytes = in->count * type_of(t)->size;
    PyObject *out = NULL;
    meeting m;
    if (bytes > meeting_room(ranks, reduces) || (reduces && !meeting_reduces(t->call.args[0], type)))
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
    m.brief.op = reduces ? t->call.args[0] : -1;
    m.brief.type = type;
    m.brief.count = in->count;
    m.brief.root = s->root < 0 ? 0 : t->call.args[s->root] + 1;
    m.brief.waits = !here && meeting_may_go_on(&m) ? DTL_FOR_NONE : DTL_FOR_ALL;
    int joined = meeting_join(&m, NULL, 0, in->data, (int)bytes);
    if (joined <= 0) {
        Py_XDECREF(out);
        return left_at(joined);
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
        memcpy((char *)t->call.out.data + rank * bytes, from, (size_t)bytes);
    }
    meeting_end(&m);
    if (!here)
        Py_RETURN_NONE;
    return scalar_comes ? scalar_result(t) : out;
}

static PyObject *broadcast_from(const ShortCallObject *s, fast_call *t, const RanksObject *ranks) {
    const dtl_array *in = &t->call.in;
    char head[DTL_HEADER_MAX];
    meeting m;
    int64_t room = meeting_room_of_root(ranks) - DTL_HEADER_MAX;
    if (!in->given || t->out != Py_None || in->count > room)
        Py_RETURN_NOTIMPLEMENTED;
    int64_t bytes = in->count * type_of(t)->size;
    if (bytes > room || !meeting_begin(&m, ranks, s->code, s->print))
        Py_RETURN_NOTIMPLEMENTED;
    m.brief.loose = 1;
    m.brief.root = t->call.args[s->root] + 1;
    m.brief.type = type_of(t)->number;
    m.brief.count = in->count;
    m.brief.waits = meeting_may_go_on(&m) ? DTL_FOR_NONE : DTL_FOR_ALL;
    int joined = meeting_join(&m, head, header_put(head, t), in->data, (int)bytes);
    if (joined <= 0)
        return left_at(joined);
    meeting_end(&m);
    return Py_NewRef(t->value);
}

/* take_from_root makes the result of one of the parts that root laid down. */
static PyObject *take_from_root(fast_call *t, const meeting *m, int part, int parts) {
    const dtl_array *out = &t->call.out;
    int bytes;
    const char *laid = meeting_payload(m, (int)m->brief.root - 1, &bytes);
    if (!header_get(t, laid, bytes, part, parts)) { /* the elements are too many to come along */
        t->call.result.given = t->call.in.given = 0;
        t->call.met = 1;
        return given_out(t);
    }
    if (out->given) {
        memcpy(out->data, t->call.result.data, (size_t)(out->count * out->itemsize));
        return Py_NewRef(t->out);
    }
    return t->call.result.kind == DTL_PYTHON_SCALAR ? give_scalar(&t->call.result) : array_of(&t->call);
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
    m.brief.loose = 1;
    m.brief.root = t->call.args[s->root] + 1;
    m.brief.type = states ? stated->type : 0;
    m.brief.count = states ? stated->count : 0;
    m.brief.waits = meeting_may_go_on(&m) ? DTL_FOR_ROOT : DTL_FOR_ALL;
    int joined = meeting_join(&m, NULL, 0, NULL, 0);
    if (joined <= 0)
        return left_at(joined);
    PyObject *answer = take_from_root(t, &m, 0, 1);
    meeting_end(&m);
    return answer;
}

/* scatter_fits says whether root's values are short, and have an entry for each rank that fits its output. */
static int scatter_fits(const fast_call *t, const RanksObject *ranks) {
    int64_t room = meeting_room_of_root(ranks) - DTL_HEADER_MAX;
    int size = ranks->size;
    const dtl_array *in = &t->call.in, *out = &t->call.out;
    return in->kind == DTL_NDARRAY && in->ndim > 0 && in->shape[0] == size && in->count <= room &&
           in->count * type_of(t)->size <= room &&
           (!out->given || (out->type == type_of(t)->number && out->count == in->count / size));
}

static PyObject *scatter(const ShortCallObject *s, fast_call *t, const RanksObject *ranks, int here) {
    const dtl_array *in = &t->call.in, *out = &t->call.out;
    char head[DTL_HEADER_MAX];
    meeting m;
    if ((t->out != Py_None && !ndarray_take(t->out, &t->call.out, NULL, 1)) || (here && !scatter_fits(t, ranks)) ||
        !meeting_begin(&m, ranks, s->code, s->print))
        Py_RETURN_NOTIMPLEMENTED;
    m.brief.loose = 1;
    m.brief.root = t->call.args[s->root] + 1;
    m.brief.type = here ? type_of(t)->number : out->given ? out->type : 0;
    m.brief.count = here ? in->count / ranks->size : out->given ? out->count : 0;
    m.brief.waits = !meeting_may_go_on(&m) ? DTL_FOR_ALL : here ? DTL_FOR_NONE : DTL_FOR_ROOT;
    int joined = here ? meeting_join(&m, head, header_put_entry(head, t), in->data, (int)(in->count * type_of(t)->size))
                      : meeting_join(&m, NULL, 0, NULL, 0);
    if (joined <= 0)
        return left_at(joined);
    PyObject *answer = take_from_root(t, &m, ranks->rank, ranks->size);
    meeting_end(&m);
    return answer;
}

PyObject *fast_collective(const ShortCallObject *s, fast_call *t, const RanksObject *ranks, int here) {
    if (!numpy_known || (s->root >= 0 && (t->call.args[s->root] < 0 || t->call.args[s->root] >= ranks->size)))
        Py_RETURN_NOTIMPLEMENTED;
    if (s->answer == SHARED)
        return here ? broadcast_from(s, t, ranks) : broadcast_to(s, t, ranks);
    if (s->answer == DEALT)
        return scatter(s, t, ranks, here);
    if (!t->call.in.given || (s->answer == LIKE && (t->value == Py_True || t->value == Py_False)))
        Py_RETURN_NOTIMPLEMENTED;
    return collective(s, t, ranks, here);
}
