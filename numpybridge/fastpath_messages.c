//go:build cpython

/*
 * Messages, sent and received without Go.
 *
 * C calls the backend's own functions. Go takes over where a message has to be waited for: it waits for a send that has not
 * gone within a moment. A receive to which no message has come within a moment is cancelled, and made again by Go.
 */
#include "arguments.h"
#include "errors.h"
#include "fastpath_ahead.h"
#include "fastpath_call.h"
#include "fastpath_messages.h"
#include "fastpath_offers.h"
#include "header.h"
#include "interrupts.h"
#include "numpy.h"
#include "objects.h"
#include "trace.h"

/* How long a call waits for its message with the interpreter's lock held, and then without it, in nanoseconds. After that, it
 * leaves the message to Go. */
enum { PATIENCE = 20 * 1000, LONG_PATIENCE = 1000 * 1000 };

/* enter keeps the communicator from being freed until leave. It returns 0 where the communicator is closed, or where only Go
 * may send and receive: while it traces, or queued messages have to go first. */
static int enter(dtl_board *b, const RanksObject *ranks) {
    if (b == NULL || ranks->handle.handle == 0 || b->send_for == NULL || tracing || !numpy_known ||
        !ahead_confirmed(NULL) ||
        __atomic_load_n(b->queued, __ATOMIC_RELAXED) != 0)
        return 0;
    __atomic_add_fetch(&b->users, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&b->owner, __ATOMIC_SEQ_CST) == ranks->handle.handle)
        return 1;
    __atomic_sub_fetch(&b->users, 1, __ATOMIC_RELEASE);
    return 0;
}

static void leave(dtl_board *b) { __atomic_sub_fetch(&b->users, 1, __ATOMIC_RELEASE); }

/* finish_send has Go wait for a send that is under way, and for the offer in it, if there is one. Where the send fails, the
 * buffer is not freed, because the library may still read it. */
static PyObject *finish_send(dtl_board *b, const RanksObject *ranks, uint64_t request, int rc, int offer, char *buffer,
                             const fast_call *t) {
    char *error = NULL;
    Py_BEGIN_ALLOW_THREADS
    dtl_finish_send(ranks->handle.handle, request, rc, offer, t->call.args[0], t->call.args[1], &error);
    leave(b);
    Py_END_ALLOW_THREADS
    if (error != NULL)
        return fail_with(error);
    free(buffer);
    if (raise_interruption())
        return NULL;
    Py_RETURN_NONE;
}

PyObject *fast_send(fast_call *t, const RanksObject *ranks) {
    dtl_board *b = ranks->board;
    int64_t dest = t->call.args[0], tag = t->call.args[1];
    uint64_t request = 0;
    if (b == NULL || !t->call.in.given || dest < 0 || dest >= ranks->size || dest == ranks->rank || tag < 0 || tag >= b->tags)
        Py_RETURN_NOTIMPLEMENTED;
    int64_t bytes = t->call.in.count * type_of(t)->size;
    int64_t along = bytes <= DTL_EAGER - DTL_HEADER_MAX ? bytes : 0;
    int offer = -1;
    char *buffer = malloc(DTL_HEADER_MAX + (size_t)along);
    if (buffer == NULL || !enter(b, ranks)) {
        free(buffer);
        Py_RETURN_NOTIMPLEMENTED;
    }
    int head;
    if (along == bytes) {
        head = header_put(buffer, t);
        memcpy(buffer + head, t->call.in.data, (size_t)bytes);
    } else if ((offer = offer_make(ranks, (int)dest, t->call.in.data, bytes)) >= 0) {
        head = header_put_offer(buffer, t, offer);
    } else {
        leave(b);
        free(buffer);
        Py_RETURN_NOTIMPLEMENTED;
    }
    int rc = b->send_for(b->comm, buffer, head + along, DTL_BYTES, (int)dest, (int)tag, PATIENCE, &request);
    if (rc != 0 || request != 0 || (offer >= 0 && !offer_settled(ranks, offer, bytes)))
        return finish_send(b, ranks, request, rc, offer, buffer, t);
    leave(b);
    free(buffer);
    Py_RETURN_NONE;
}

/* room is memory for an incoming message; NULL while a receive uses it. The interpreter's lock guards it. */
static char *room;

static char *take_room(void) {
    char *taken = room != NULL ? room : malloc(DTL_EAGER);
    room = NULL;
    return taken;
}

static void give_room(char *taken) {
    if (room == NULL)
        room = taken;
    else
        free(taken);
}

/* receive returns 1 where a message has come, 0 where none came soon, and -1 where the library does not say: then the buffer is
 * not freed, because the library may still write to it. */
static int receive(dtl_board *b, char *buffer, int source, int tag, dtl_arrival *arrival) {
    uint64_t request = 0;
    int done = 0, rc;
    if (b->recv_for(b->comm, buffer, DTL_EAGER, DTL_BYTES, source, tag, PATIENCE, &request, arrival) != 0)
        return -1;
    if (request == 0)
        return 1;
    Py_BEGIN_ALLOW_THREADS
    rc = b->wait_for(b->comm, &request, LONG_PATIENCE, &done, arrival);
    Py_END_ALLOW_THREADS
    if (rc == 0 && done)
        return 1;
    if (rc == 0)
        b->cancel(request); /* where that fails, the message comes */
    while (rc == 0 && !done)
        rc = b->wait_for(b->comm, &request, PATIENCE, &done, arrival);
    return rc != 0 ? -1 : !arrival->cancelled;
}

/* unpack returns a message's elements, in the output if there is one, or NotImplemented where C cannot unpack it. */
static PyObject *unpack(fast_call *t, const RanksObject *ranks, const char *buffer, const dtl_arrival *arrival) {
    dtl_array *out = &t->call.out, *r = &t->call.result;
    int64_t bytes = arrival->bytes;
    uint32_t number;
    if (out->given && header_get_offer(buffer, bytes, out, &number)) {
        int copied = offer_collect(ranks, arrival->source, number, arrival->tag, t->out, out);
        if (copied != 0)
            return copied > 0 ? Py_NewRef(t->out) : NULL;
    }
    if (!header_get(t, buffer, (int)bytes, 0, 1) || (out->given && (out->type != r->type || out->count != r->count))) {
        r->given = 0;
        Py_RETURN_NOTIMPLEMENTED;
    }
    if (out->given) {
        memcpy(out->data, r->data, (size_t)(r->count * r->itemsize));
        return Py_NewRef(t->out);
    }
    return r->kind == DTL_PYTHON_SCALAR ? give_scalar(r) : array_of(&t->call);
}

PyObject *fast_receive(fast_call *t, const RanksObject *ranks) {
    dtl_board *b = ranks->board;
    int64_t source = t->call.args[0], tag = t->call.args[1];
    dtl_arrival arrival = {0};
    char *buffer, *error = NULL;
    int came = 0;
    if (b == NULL || source < -1 || source >= ranks->size || tag < -1 || tag >= b->tags || t->call.args[2] != 0 ||
        t->call.args[3] != 0 || (t->out != Py_None && !ndarray_take(t->out, &t->call.out, NULL, 1)) || !enter(b, ranks))
        Py_RETURN_NOTIMPLEMENTED;
    if (__atomic_load_n(b->unexpected, __ATOMIC_ACQUIRE) == 0 && (buffer = take_room()) != NULL)
        came = receive(b, buffer, (int)source, (int)tag, &arrival);
    else
        buffer = NULL;
    PyObject *answer = came > 0 ? unpack(t, ranks, buffer, &arrival) : Py_NewRef(Py_NotImplemented);
    leave(b);
    t->call.out.given = answer != Py_NotImplemented && t->call.out.given;
    if (came > 0 && answer == Py_NotImplemented)
        dtl_keep_unexpected(ranks->handle.handle, buffer, arrival.bytes, arrival.source, arrival.tag, &error);
    if (buffer != NULL && came >= 0)
        give_room(buffer);
    if (error != NULL) {
        Py_DECREF(answer);
        return fail_with(error);
    }
    return answer;
}
