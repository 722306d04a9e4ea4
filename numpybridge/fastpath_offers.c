//go:build cpython

/*
 * Long messages between ranks of one board, sent and received without Go: the sender says in a short message under which
 * number its elements are offered on the board, and the receiver copies them from its memory. The sender, which waits for
 * that, takes a share in it (core/board/offers.go).
 */
#define _GNU_SOURCE
#include <sys/uio.h>

#include "fastpath.h"

enum { OFFER_NONE, OFFER_OPEN, OFFER_CLAIMED, OFFER_SHARED, OFFER_TAKEN, OFFER_FAILED, OFFER_WITHDRAWN };

/* Copies that take longer than some microseconds are made without the interpreter's lock. */
enum { LONG = 128 * 1024 };

/* How much shorter a wait with the lock is than one without. */
enum { SHORT_PART = 4 };

/* How often a rank that has copied its parts looks whether the other has, too, before Go waits for it: several times as long
 * as that takes where the other runs. */
enum { BRIEF_LOOKS = 20 * 1000 };

/* Of what two processes copy at once. */
enum { LEAST_PART = 16 * 1024, MOST_PART = 256 * 1024 };

typedef ssize_t mover(pid_t pid, const struct iovec *here, unsigned long n, const struct iovec *there, unsigned long m,
                      unsigned long flags);

static dtl_presence *presence_of(const dtl_board *b, int rank) {
    return (dtl_presence *)(b->slots + (uint64_t)rank * b->stride + b->offers);
}

int offer_make(const dtl_board *b, int dest, const void *data, int64_t bytes) {
    dtl_presence *mine = presence_of(b, b->rank);
    if (__atomic_load_n(&presence_of(b, dest)->reads, __ATOMIC_RELAXED) == 0)
        return -1;
    for (int i = 0; i < DTL_OFFERS; i++) {
        dtl_offer *o = &mine->offers[i];
        uint32_t none = OFFER_NONE;
        if (__atomic_load_n(&o->state, __ATOMIC_RELAXED) == OFFER_NONE &&
            __atomic_compare_exchange_n(&o->state, &none, OFFER_WITHDRAWN, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
            o->addr = (uint64_t)(uintptr_t)data;
            o->bytes = bytes;
            __atomic_store_n(&o->state, OFFER_OPEN, __ATOMIC_RELEASE);
            return i;
        }
    }
    return -1;
}

/* copy moves bytes between here and a process's memory, and says whether it could. */
static int copy(const dtl_presence *p, mover *move, char *here, uint64_t there, int64_t bytes) {
    while (bytes > 0) {
        struct iovec from = {here, (size_t)bytes}, to = {(void *)(uintptr_t)there, (size_t)bytes};
        ssize_t n = move((pid_t)p->process, &from, 1, &to, 1, 0);
        if (n <= 0)
            return 0;
        here += n;
        there += (uint64_t)n;
        bytes -= n;
    }
    return 1;
}

/* copy_parts copies parts that nobody has begun. */
static void copy_parts(dtl_offer *o, const dtl_presence *p, mover *move, char *here, uint64_t there) {
    int64_t size = (o->bytes / 2 + 4095) & ~INT64_C(4095), at;
    size = size < LEAST_PART ? LEAST_PART : size > MOST_PART ? MOST_PART : size;
    while ((at = size * __atomic_fetch_add(&o->next, 1, __ATOMIC_RELAXED)) < o->bytes) {
        int64_t n = o->bytes - at < size ? o->bytes - at : size;
        if (!copy(p, move, here + at, there + (uint64_t)at, n))
            __atomic_store_n(&o->spoilt, 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&o->finished, n, __ATOMIC_RELEASE);
    }
}

static int settled(const dtl_board *b, dtl_offer *o, int spins) {
    for (; spins >= 0; spins--) {
        uint32_t state = __atomic_load_n(&o->state, __ATOMIC_ACQUIRE);
        if (state == OFFER_TAKEN) {
            __atomic_store_n(&o->state, OFFER_NONE, __ATOMIC_RELEASE);
            return 1;
        }
        if (state == OFFER_SHARED && o->taker < (uint32_t)b->size)
            copy_parts(o, presence_of(b, (int)o->taker), process_vm_writev, (char *)(uintptr_t)o->addr, o->into);
        pause_a_moment();
    }
    return 0;
}

int offer_settled(const dtl_board *b, int number, int64_t bytes) {
    dtl_offer *o = &presence_of(b, b->rank)->offers[number];
    if (bytes <= LONG)
        return settled(b, o, b->spins / SHORT_PART);
    int over;
    Py_BEGIN_ALLOW_THREADS
    over = settled(b, o, b->spins);
    Py_END_ALLOW_THREADS
    return over;
}

/* settle ends an offer for who has claimed it, and says whether its rank was waiting for that. */
static int settle(dtl_offer *o, uint32_t as) {
    uint32_t state = __atomic_load_n(&o->state, __ATOMIC_ACQUIRE);
    while (state != OFFER_WITHDRAWN)
        if (__atomic_compare_exchange_n(&o->state, &state, as, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return 1;
    __atomic_store_n(&o->state, OFFER_NONE, __ATOMIC_RELEASE);
    return 0;
}

/* outstanding says whether parts are being copied, after copy_parts has begun the last one. */
static int outstanding(const dtl_offer *o) { return __atomic_load_n(&o->finished, __ATOMIC_ACQUIRE) < o->bytes; }

/* alone copies all of it without the other's help, and says whether it could. */
static int alone(const dtl_offer *o, const dtl_presence *from, char *into) {
    return copy(from, process_vm_readv, into, o->addr, o->bytes);
}

/* take copies what a process offers, together with it, and says whether it could; what that process still copies after so
 * many looks is outstanding. */
static int take(const dtl_board *b, dtl_offer *o, const dtl_presence *from, char *into, int looks) {
    uint32_t claimed = OFFER_CLAIMED;
    if (o->bytes <= LEAST_PART) {
        o->finished = o->bytes;
        return alone(o, from, into);
    }
    o->taker = (uint32_t)b->rank;
    o->into = (uint64_t)(uintptr_t)into;
    o->next = o->finished = 0;
    o->spoilt = 0;
    __atomic_compare_exchange_n(&o->state, &claimed, OFFER_SHARED, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
    copy_parts(o, from, process_vm_readv, into, o->addr);
    while (outstanding(o) && looks-- > 0)
        pause_a_moment();
    return outstanding(o) || __atomic_load_n(&o->spoilt, __ATOMIC_RELAXED) == 0 || alone(o, from, into);
}

/* lost says that a message did not come, and returns -1. */
static int lost(int rank, const char *why) {
    char text[96];
    snprintf(text, sizeof text, "[300 recv] the message of rank %d was lost: %s", rank, why);
    fail(text);
    return -1;
}

int offer_collect(const RanksObject *ranks, int rank, uint32_t number, int tag, PyObject *out, const dtl_array *into) {
    const dtl_board *b = ranks->board;
    const dtl_presence *p = presence_of(b, rank);
    int64_t bytes = into->count * into->itemsize;
    uint32_t open = OFFER_OPEN;
    int copied;
    if (number >= DTL_OFFERS)
        return 0;
    dtl_offer *o = &presence_of(b, rank)->offers[number];
    if (o->bytes != bytes ||
        !__atomic_compare_exchange_n(&o->state, &open, OFFER_CLAIMED, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return 0; /* Go says why */
    if (bytes > LONG) {
        Py_BEGIN_ALLOW_THREADS
        copied = take(b, o, p, into->data, BRIEF_LOOKS);
        Py_END_ALLOW_THREADS
    } else {
        copied = take(b, o, p, into->data, BRIEF_LOOKS / SHORT_PART);
    }
    if (copied && outstanding(o)) {
        char *error = NULL;
        Py_BEGIN_ALLOW_THREADS
        dtl_await_copy(ranks->handle.handle, rank, (int)number, tag, &error);
        Py_END_ALLOW_THREADS
        if (error != NULL) {
            if (outstanding(o))
                Py_INCREF(out); /* for good: the other rank may write there when it goes on */
            settle(o, OFFER_FAILED);
            fail_with(error);
            return -1;
        }
        copied = __atomic_load_n(&o->spoilt, __ATOMIC_RELAXED) == 0 || alone(o, p, into->data);
    }
    if (!settle(o, copied ? OFFER_TAKEN : OFFER_FAILED))
        return lost(rank, "it gave the message up before it was received");
    return copied ? 1 : lost(rank, "its memory cannot be read");
}
