#define _GNU_SOURCE
#include <errno.h>
#include <sys/uio.h>

#include "cma.h"

typedef ssize_t mover(pid_t pid, const struct iovec *here, unsigned long n, const struct iovec *there, unsigned long m,
                      unsigned long flags);

static int copy(mover *move, int64_t process, char *here, uint64_t there, int64_t bytes) {
    while (bytes > 0) {
        struct iovec from = {here, (size_t)bytes}, to = {(void *)(uintptr_t)there, (size_t)bytes};
        ssize_t n = move((pid_t)process, &from, 1, &to, 1, 0);
        if (n <= 0)
            return n < 0 && errno != 0 ? errno : EFAULT;
        here += n;
        there += (uint64_t)n;
        bytes -= n;
    }
    return 0;
}

int dtl_process_read(int64_t process, void *here, uint64_t there, int64_t bytes) {
    return copy(process_vm_readv, process, here, there, bytes);
}

int dtl_process_write(int64_t process, void *here, uint64_t there, int64_t bytes) {
    return copy(process_vm_writev, process, here, there, bytes);
}

/* Two processes copy at once, part by part: half of what there is, but not so little that the kernel's way there takes
 * longer, nor so much that one waits long for the other's last part. */
enum { LEAST_PART = 16 * 1024, MOST_PART = 256 * 1024 };

static int64_t part_of(const dtl_offer *o) {
    int64_t size = (o->bytes / 2 + 4095) & ~INT64_C(4095);
    return size < LEAST_PART ? LEAST_PART : size > MOST_PART ? MOST_PART : size;
}

/* copy_parts copies parts that nobody has begun. */
static void copy_parts(dtl_offer *o, mover *move, int64_t process, char *here, uint64_t there) {
    int64_t size = part_of(o), at;
    while ((at = size * __atomic_fetch_add(&o->next, 1, __ATOMIC_SEQ_CST)) < o->bytes) {
        int64_t n = o->bytes - at < size ? o->bytes - at : size;
        if (copy(move, process, here + at, there + (uint64_t)at, n) != 0)
            __atomic_store_n(&o->spoilt, 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&o->finished, n, __ATOMIC_RELEASE);
    }
}

int dtl_offer_make(const dtl_presences *p, const void *data, int64_t bytes) {
    for (int i = 0; i < DTL_OFFERS; i++) {
        dtl_offer *o = dtl_offer_of(p, p->rank, i);
        uint32_t none = DTL_OFFER_NONE;
        if (__atomic_load_n(&o->state, __ATOMIC_RELAXED) == DTL_OFFER_NONE &&
            __atomic_compare_exchange_n(&o->state, &none, DTL_OFFER_WITHDRAWN, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
            o->addr = (uint64_t)(uintptr_t)data;
            o->bytes = bytes;
            __atomic_store_n(&o->state, DTL_OFFER_OPEN, __ATOMIC_RELEASE);
            return i;
        }
    }
    return -1;
}

uint32_t dtl_offer_look(const dtl_presences *p, int number) {
    dtl_offer *o = dtl_offer_of(p, p->rank, number);
    uint32_t state = __atomic_load_n(&o->state, __ATOMIC_ACQUIRE);
    if (state == DTL_OFFER_TAKEN)
        __atomic_store_n(&o->state, DTL_OFFER_NONE, __ATOMIC_RELEASE);
    else if (state == DTL_OFFER_SHARED && o->taker < (uint32_t)p->size)
        copy_parts(o, process_vm_writev, dtl_presence_of(p, (int)o->taker)->process, (char *)(uintptr_t)o->addr, o->into);
    return state;
}

void dtl_offer_withdraw(const dtl_presences *p, int number) {
    dtl_offer *o = dtl_offer_of(p, p->rank, number);
    uint32_t state = __atomic_load_n(&o->state, __ATOMIC_ACQUIRE);
    while (state == DTL_OFFER_OPEN || state == DTL_OFFER_CLAIMED || state == DTL_OFFER_SHARED)
        if (__atomic_compare_exchange_n(&o->state, &state, DTL_OFFER_WITHDRAWN, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return;
    __atomic_store_n(&o->state, DTL_OFFER_NONE, __ATOMIC_RELEASE);
}

void dtl_offer_free(const dtl_presences *p, int number) {
    __atomic_store_n(&dtl_offer_of(p, p->rank, number)->state, DTL_OFFER_NONE, __ATOMIC_RELEASE);
}

int dtl_offers_open(const dtl_presences *p) {
    for (int i = 0; i < DTL_OFFERS; i++)
        if (__atomic_load_n(&dtl_offer_of(p, p->rank, i)->state, __ATOMIC_ACQUIRE) != DTL_OFFER_NONE)
            return 1;
    return 0;
}

int dtl_offer_claim(dtl_offer *o) {
    uint32_t open = DTL_OFFER_OPEN;
    return __atomic_compare_exchange_n(&o->state, &open, DTL_OFFER_CLAIMED, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

int dtl_offer_discard(dtl_offer *o) {
    uint32_t withdrawn = DTL_OFFER_WITHDRAWN;
    return __atomic_compare_exchange_n(&o->state, &withdrawn, DTL_OFFER_NONE, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

int dtl_offer_outstanding(const dtl_offer *o) { return __atomic_load_n(&o->finished, __ATOMIC_ACQUIRE) < o->bytes; }

void dtl_offer_copy(const dtl_presences *p, int from, int number, void *into, int looks) {
    dtl_offer *o = dtl_offer_of(p, from, number);
    uint32_t claimed = DTL_OFFER_CLAIMED;
    if (o->bytes <= LEAST_PART) { /* the other's help is not worth its while: finish copies all of it */
        o->spoilt = 1;
        o->finished = o->bytes;
        return;
    }
    o->taker = (uint32_t)p->rank;
    o->into = (uint64_t)(uintptr_t)into;
    o->next = o->finished = 0;
    o->spoilt = 0;
    __atomic_compare_exchange_n(&o->state, &claimed, DTL_OFFER_SHARED, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
    copy_parts(o, process_vm_readv, dtl_presence_of(p, from)->process, into, o->addr);
    while (dtl_offer_outstanding(o) && looks-- > 0)
        dtl_pause();
}

/* settle ends an offer for who has claimed it, and says whether its rank was waiting for that. */
static int settle(dtl_offer *o, uint32_t as) {
    uint32_t state = __atomic_load_n(&o->state, __ATOMIC_ACQUIRE);
    while (state != DTL_OFFER_WITHDRAWN)
        if (__atomic_compare_exchange_n(&o->state, &state, as, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return 1;
    __atomic_store_n(&o->state, DTL_OFFER_NONE, __ATOMIC_RELEASE);
    return 0;
}

int dtl_offer_finish(const dtl_presences *p, int from, int number, void *into) {
    dtl_offer *o = dtl_offer_of(p, from, number);
    int failed = 0;
    if (__atomic_load_n(&o->spoilt, __ATOMIC_RELAXED) != 0)
        failed = dtl_process_read(dtl_presence_of(p, from)->process, into, o->addr, o->bytes);
    if (!settle(o, failed ? DTL_OFFER_FAILED : DTL_OFFER_TAKEN))
        return DTL_GIVEN_UP;
    return failed;
}

void dtl_offer_fail(dtl_offer *o) { settle(o, DTL_OFFER_FAILED); }
