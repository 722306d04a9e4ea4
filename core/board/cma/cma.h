/*
 * Cross-memory attach: what a process of this machine lets others copy from its memory, and how they do.
 *
 * A rank offers long elements to another, which copies them from where they lie: one copy, by the kernel, which lets a
 * process reach another's memory if it may trace it. The rank that waits for that meanwhile copies a share of them. This is
 * the one implementation: core/board calls it for Go, and numpybridge from C.
 */
#ifndef DTL_CMA_H
#define DTL_CMA_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

/* How many offers of a rank may be open at once. */
enum { DTL_OFFERS = 16 };

/* What becomes of an offer. Its rank makes it, and only who is told of it claims it. Whoever gives it up changes the state
 * by a compare and swap, and the other finds that out when it changes it next: so it is never claimed twice, and what was
 * copied counts only if its rank had not given it up before. */
enum {
    DTL_OFFER_NONE,
    DTL_OFFER_OPEN,      /* until somebody claims it */
    DTL_OFFER_CLAIMED,   /* by somebody who copies */
    DTL_OFFER_SHARED,    /* and lets the rank help */
    DTL_OFFER_TAKEN,     /* the elements may be used again; the rank frees the number */
    DTL_OFFER_FAILED,    /* so they may, but nobody has them */
    DTL_OFFER_WITHDRAWN, /* by its rank; who is told of it, or copies, frees the number */
};

/* One of a rank's offers: what is where in its memory. It has a cache line of its own. */
typedef struct {
    uint32_t state;
    uint32_t taker; /* the rank that claims it */
    uint64_t addr;
    int64_t bytes;
    uint64_t into;    /* in the taker's memory */
    int64_t next;     /* the part that nobody has begun */
    int64_t finished; /* how many bytes are there */
    uint32_t spoilt;  /* 1 where some are not */
    char rest[12];
} dtl_offer;

/* What a rank lets others know of its process, and what it offers them. It lies in memory that they share. */
typedef struct {
    int64_t process;
    uint64_t key, lie; /* a random number, and where it lies in the process */
    uint32_t reads;    /* 1 if this rank can read the memory of every other */
    char rest[36];
    dtl_offer offers[DTL_OFFERS];
} dtl_presence;

/* Where the presence of each rank is. */
typedef struct {
    uint64_t first, stride;
    int32_t rank, size;
} dtl_presences;

_Static_assert(sizeof(dtl_offer) == 64 && sizeof(dtl_presence) % 64 == 0, "an offer is a whole cache line");

static inline dtl_presence *dtl_presence_of(const dtl_presences *p, int rank) {
    return (dtl_presence *)(uintptr_t)(p->first + (uint64_t)rank * p->stride);
}

static inline dtl_offer *dtl_offer_of(const dtl_presences *p, int rank, int number) {
    return &dtl_presence_of(p, rank)->offers[number];
}

/* dtl_pause is a step of a loop that waits for memory to change. */
static inline void dtl_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* dtl_process_read and dtl_process_write copy bytes between here and a process's memory, and return 0 or errno. */
int dtl_process_read(int64_t process, void *here, uint64_t there, int64_t bytes);
int dtl_process_write(int64_t process, void *here, uint64_t there, int64_t bytes);

/* ---- By the rank whose elements they are ---- */

/* dtl_offer_make offers bytes here, which stay there until dtl_offer_look or dtl_offer_withdraw says otherwise. It returns
 * the number, or -1 where too many offers are open. */
int dtl_offer_make(const dtl_presences *p, const void *data, int64_t bytes);

/* dtl_offer_look returns the state of an offer. One that was taken is over, once: its number is free. While the taker lets
 * this rank help, it copies what nobody has begun. */
uint32_t dtl_offer_look(const dtl_presences *p, int number);

/* dtl_offer_withdraw takes an offer back: the elements may be used again, for who copies them now does not keep them. It
 * does not wait for that process, which may be stopped. */
void dtl_offer_withdraw(const dtl_presences *p, int number);

/* dtl_offer_free makes a number free whose offer nobody comes for. */
void dtl_offer_free(const dtl_presences *p, int number);

/* dtl_offers_open says whether an offer is open: somebody may look for it at any time. */
int dtl_offers_open(const dtl_presences *p);

/* ---- By the rank that takes them ---- */

/* dtl_offer_claim says whether this rank may take an offer, as nobody else may from then on. */
int dtl_offer_claim(dtl_offer *o);

/* dtl_offer_discard frees the number of an offer that its rank had withdrawn, and says whether it had. */
int dtl_offer_discard(dtl_offer *o);

/* dtl_offer_copy copies what was claimed, together with the rank whose elements they are. Where that rank still copies its
 * share after so many looks, the offer is outstanding, and may be finished when it is not any more. */
void dtl_offer_copy(const dtl_presences *p, int from, int number, void *into, int looks);

/* dtl_offer_outstanding says whether the other rank still copies. */
int dtl_offer_outstanding(const dtl_offer *o);

/* dtl_offer_finish ends what is not outstanding. It returns 0 where the elements are here, DTL_GIVEN_UP where their rank had
 * withdrawn them before, or errno where they cannot be read. */
enum { DTL_GIVEN_UP = -1 };
int dtl_offer_finish(const dtl_presences *p, int from, int number, void *into);

/* dtl_offer_fail ends an offer that was claimed without success. */
void dtl_offer_fail(dtl_offer *o);

#pragma GCC visibility pop

#endif
