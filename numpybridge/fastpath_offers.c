//go:build cpython

/*
 * Long messages between ranks that share memory, sent and received without Go: the sender says in a short message under
 * which number its elements are offered, and the receiver copies them from the sender's memory (core/board/cma). Here is
 * how long a call looks for the other rank before Go does, and when it lets other threads of the interpreter go on.
 */
#include "errors.h"
#include "fastpath_offers.h"
#include "objects.h"

/* Copies that take longer than some microseconds are made without the interpreter's lock. */
enum { LONG = 128 * 1024 };

/* How much shorter a wait with the lock is than one without. */
enum { SHORT_PART = 4 };

/* How often a rank that has copied its parts looks whether the other has, too, before Go waits for it: several times as long
 * as that takes where the other runs. */
enum { BRIEF_LOOKS = 20 * 1000 };

static dtl_presences presences(const RanksObject *ranks) {
    const dtl_board *b = ranks->board;
    return (dtl_presences){b->slots + b->offers, b->stride, ranks->rank, ranks->size};
}

int offer_make(const RanksObject *ranks, int dest, const void *data, int64_t bytes) {
    dtl_presences p = presences(ranks);
    if (__atomic_load_n(&dtl_presence_of(&p, dest)->reads, __ATOMIC_RELAXED) == 0)
        return -1;
    return dtl_offer_make(&p, data, bytes);
}

static int settled(const dtl_presences *p, int number, int spins) {
    for (; spins >= 0; spins--) {
        if (dtl_offer_look(p, number) == DTL_OFFER_TAKEN)
            return 1;
        dtl_pause();
    }
    return 0;
}

int offer_settled(const RanksObject *ranks, int number, int64_t bytes) {
    dtl_presences p = presences(ranks);
    if (bytes <= LONG)
        return settled(&p, number, ranks->board->spins / SHORT_PART);
    int over;
    Py_BEGIN_ALLOW_THREADS
    over = settled(&p, number, ranks->board->spins);
    Py_END_ALLOW_THREADS
    return over;
}

/* lost says that a message did not come, and returns -1. */
static int lost(int rank, const char *why) {
    fail_as(DTL_COMMUNICATION, "recv", "the message of rank %d was lost: %s", rank, why);
    return -1;
}

/* await has Go wait for the share of the other rank. It returns -1 with an exception set where that does not come. */
static int await(const RanksObject *ranks, dtl_offer *o, int rank, int number, int tag, PyObject *out) {
    char *error = NULL;
    Py_BEGIN_ALLOW_THREADS
    dtl_await_copy(ranks->handle.handle, rank, number, tag, &error);
    Py_END_ALLOW_THREADS
    if (error == NULL)
        return 0;
    if (dtl_offer_outstanding(o))
        Py_INCREF(out); /* for good: the other rank may write there when it goes on */
    dtl_offer_fail(o);
    fail_with(error);
    return -1;
}

int offer_collect(const RanksObject *ranks, int rank, uint32_t number, int tag, PyObject *out, const dtl_array *into) {
    dtl_presences p = presences(ranks);
    int64_t bytes = into->count * into->itemsize;
    int failed = 0;
    if (number >= DTL_OFFERS)
        return 0;
    dtl_offer *o = dtl_offer_of(&p, rank, (int)number);
    if (o->bytes != bytes || !dtl_offer_claim(o))
        return 0; /* Go says why */
    if (bytes > LONG) {
        Py_BEGIN_ALLOW_THREADS
        dtl_offer_copy(&p, rank, (int)number, into->data, BRIEF_LOOKS);
        Py_END_ALLOW_THREADS
    } else {
        dtl_offer_copy(&p, rank, (int)number, into->data, BRIEF_LOOKS / SHORT_PART);
    }
    if (dtl_offer_outstanding(o) && await(ranks, o, rank, (int)number, tag, out) < 0)
        return -1;
    failed = dtl_offer_finish(&p, rank, (int)number, into->data);
    if (failed == DTL_GIVEN_UP)
        return lost(rank, "it gave the message up before it was received");
    return failed == 0 ? 1 : lost(rank, "its memory cannot be read");
}
