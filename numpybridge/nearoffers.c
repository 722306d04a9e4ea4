//go:build cpython

/*
 * Long messages between ranks of one board, sent and received without Go: the sender says in a short message under which
 * number its elements are offered on the board, and the receiver copies them from its memory. The sender, which waits for
 * that, takes a share in it (core/board/offers.go).
 */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/uio.h>

#include "near.h"
#include "short.h"

enum { OFFER_NONE, OFFER_OPEN, OFFER_CLAIMED, OFFER_SHARED, OFFER_TAKEN, OFFER_FAILED, OFFER_WITHDRAWN };

/* Copies that take longer than some microseconds are made without the interpreter's lock. */
enum { LONG = 128 * 1024 };

/* How much shorter a wait with the lock is than one without. */
enum { SHORT_PART = 4 };

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

void offer_revoke(const dtl_board *b, int number) {
    __atomic_store_n(&presence_of(b, b->rank)->offers[number].state, OFFER_NONE, __ATOMIC_RELEASE);
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

/* is_there says whether the process is that of its key. */
static int is_there(const dtl_presence *p) {
    uint64_t key = ~p->key;
    return copy(p, process_vm_readv, (char *)&key, p->lie, sizeof key) && key == p->key;
}

/* take copies what a process offers, together with it, and says whether it could. */
static int take(const dtl_board *b, dtl_offer *o, const dtl_presence *from, char *into) {
    if (o->bytes <= LEAST_PART)
        return copy(from, process_vm_readv, into, o->addr, o->bytes);
    o->taker = (uint32_t)b->rank;
    o->into = (uint64_t)(uintptr_t)into;
    o->next = o->finished = 0;
    o->spoilt = 0;
    __atomic_store_n(&o->state, OFFER_SHARED, __ATOMIC_RELEASE);
    copy_parts(o, from, process_vm_readv, into, o->addr);
    for (int looks = 1; __atomic_load_n(&o->finished, __ATOMIC_ACQUIRE) < o->bytes; looks++) {
        pause_a_moment();
        if (looks % 4096 != 0)
            continue;
        if (!is_there(from))
            return 0;
        sched_yield();
    }
    return __atomic_load_n(&o->spoilt, __ATOMIC_RELAXED) == 0 || copy(from, process_vm_readv, into, o->addr, o->bytes);
}

int offer_collect(const dtl_board *b, int rank, uint32_t number, void *into, int64_t bytes) {
    const dtl_presence *p = presence_of(b, rank);
    uint32_t open = OFFER_OPEN;
    int copied;
    if (number >= DTL_OFFERS)
        return 0;
    dtl_offer *o = &presence_of(b, rank)->offers[number];
    if (o->bytes != bytes ||
        !__atomic_compare_exchange_n(&o->state, &open, OFFER_CLAIMED, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return 0;
    if (bytes > LONG) {
        Py_BEGIN_ALLOW_THREADS
        copied = take(b, o, p, into);
        Py_END_ALLOW_THREADS
    } else {
        copied = take(b, o, p, into);
    }
    __atomic_store_n(&o->state, copied ? OFFER_TAKEN : OFFER_OPEN, __ATOMIC_RELEASE); /* else Go says why */
    return copied;
}
