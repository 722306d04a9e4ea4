/*
 * The protocols that the fast path shares with the core, in C that needs no Python.
 *
 * Short calls are made without Go, because a call into Go takes longer than they do. So C looks at memory that Go writes,
 * meets ranks that come by way of Go, and reads their messages. What Go calls each thing is said beside it. protocol_test.go
 * holds every field and constant of this file against Go's, and runs both implementations on the same cases.
 */
#ifndef DTL_PROTOCOL_H
#define DTL_PROTOCOL_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../core/board/cma/cma.h"

/* ---- Headers of arrays that travel: core/comm/wire.Header ---- */

/* What was passed, so that the like goes back: core/comm/wire.Kind. */
enum dtl_kind { DTL_NDARRAY, DTL_NUMPY_SCALAR, DTL_PYTHON_SCALAR, DTL_OBJECT };

/* How the elements come: behind the header, in a message of their own, or as an offer under the header's number. */
enum { DTL_ALONG, DTL_APART, DTL_OFFERED };

enum {
    DTL_MAX_DIMS = 64,
    DTL_HEADER_FIXED = 8,
    DTL_HEADER_MAX = DTL_HEADER_FIXED + 8 * DTL_MAX_DIMS,
    DTL_TYPE_NUMBERS = 32, /* more than the core has types */
};

typedef struct {
    int32_t kind, type, ndim, way;
    uint32_t number;
    int64_t count; /* of elements */
} dtl_header;

/* Numbers in headers are little-endian. They are copied whole: a loop over bytes takes several nanoseconds each. */
static inline void dtl_put_number(char *into, uint64_t number, int bytes) {
    number = htole64(number);
    memcpy(into, &number, (size_t)bytes);
}

static inline uint64_t dtl_get_number(const char *from, int bytes) {
    uint64_t number = 0;
    memcpy(&number, from, (size_t)bytes);
    return le64toh(number);
}

/* dtl_header_put writes a header, and returns how many bytes it has. Its count follows from the shape. */
static inline int dtl_header_put(char *into, const dtl_header *h, const int64_t *shape) {
    into[0] = (char)h->kind;
    into[1] = (char)h->type;
    into[2] = (char)h->ndim;
    into[3] = (char)h->way;
    dtl_put_number(into + 4, h->number, 4);
    for (int i = 0; i < h->ndim; i++)
        dtl_put_number(into + DTL_HEADER_FIXED + 8 * i, (uint64_t)shape[i], 8);
    return DTL_HEADER_FIXED + 8 * h->ndim;
}

/* dtl_header_extent returns an extent of the header at the front of some bytes. */
static inline int64_t dtl_header_extent(const char *from, int dim) {
    return (int64_t)dtl_get_number(from + DTL_HEADER_FIXED + 8 * dim, 8);
}

/* dtl_header_get reads the header at the front of some bytes, and says whether there is one. sizes has the bytes of an
 * element of each type, and 0 for numbers of none. */
static inline int dtl_header_get(const char *from, int64_t bytes, const uint8_t sizes[DTL_TYPE_NUMBERS], dtl_header *h) {
    const unsigned char *b = (const unsigned char *)from;
    if (bytes < DTL_HEADER_FIXED || b[0] > DTL_OBJECT || b[1] >= DTL_TYPE_NUMBERS || sizes[b[1]] == 0 || b[2] > DTL_MAX_DIMS ||
        bytes < DTL_HEADER_FIXED + 8 * b[2])
        return 0;
    *h = (dtl_header){.kind = b[0], .type = b[1], .ndim = b[2], .way = b[3], .number = (uint32_t)dtl_get_number(from + 4, 4), .count = 1};
    uint64_t total = sizes[b[1]]; /* the bytes of all, if there were no extent of 0 */
    for (int i = 0; i < h->ndim; i++) {
        uint64_t extent = (uint64_t)dtl_header_extent(from, i);
        if (__builtin_mul_overflow(total, extent != 0 ? extent : 1, &total) || total > INT64_MAX)
            return 0;
        h->count *= (int64_t)extent;
    }
    return 1;
}

/* ---- Fingerprints of calls: core/comm/wire.Signature ---- */

/* Operators that the fast path knows: core/kernel/op. */
enum { DTL_SUM, DTL_PROD, DTL_OPERATORS };

/* A call that was laid down. */
typedef struct {
    int64_t handle, code, op, type, count, root; /* op: -1 where there is none; root: one more than the rank, or 0 */
    int32_t loose; /* type and count must be alike only among ranks that state them */
} dtl_brief;

static inline uint64_t dtl_mix(uint64_t h, uint64_t v) {
    h = (h ^ v) * UINT64_C(1099511628211);
    return h ^ h >> 32;
}

/* dtl_fingerprint returns that of a call, from the hashes of the names of its operation and its operator. */
static inline uint64_t dtl_fingerprint(const dtl_brief *b, uint64_t operation, uint64_t operator) {
    uint64_t h = dtl_mix(dtl_mix(operation, (uint64_t)b->root), 0);
    if (!b->loose)
        h = dtl_mix(dtl_mix(h, (uint64_t)b->type), (uint64_t)b->count);
    return b->op >= 0 ? dtl_mix(h, operator) : h;
}

/* dtl_want returns a number for the elements that a rank of a loose call states; 0: it states none. */
static inline uint64_t dtl_want(const dtl_brief *b) {
    return b->loose && b->type != 0 ? dtl_mix((uint64_t)b->type, (uint64_t)b->count) | 1 : 0;
}

/* ---- Meetings in shared memory: core/board ---- */

/* What a call of the backend's says of a message: core/backend.DirectStatus. */
typedef struct {
    int source, tag, cancelled;
    int64_t bytes;
} dtl_arrival;

/* The element type of bytes, and the longest message that travels as one. */
enum { DTL_BYTES = 10, DTL_EAGER = 4096 };

/* Where a board is, and how messages go among the same ranks: core/board.Local. */
enum { DTL_OUTSIDE_GO = 1 };
typedef struct {
    int64_t owner; /* the context's handle; 0: C may not meet or send here */
    uint64_t turn; /* which thread makes a collective call: DTL_OUTSIDE_GO, or a goroutine; 0: none does */
    int32_t spins, brief;
    uint64_t seq; /* of the rank's last meeting */
    uint64_t slots, broken;
    uint64_t stride, extra, offers, key;
    uint64_t comm;
    int (*send_for)(uint64_t comm, const void *buf, int64_t n, int type, int dest, int tag, int64_t patience, uint64_t *request);
    int (*recv_for)(uint64_t comm, void *buf, int64_t n, int type, int source, int tag, int64_t patience, uint64_t *request,
                    dtl_arrival *arrival);
    int (*wait_for)(uint64_t *request, int64_t patience, int *done, dtl_arrival *arrival);
    int (*cancel)(uint64_t request);
    const int32_t *queued, *unexpected; /* how many messages C has to leave to Go because they come first */
    int32_t tags, unused;               /* the first tag that is too high */
    int32_t users, rest;                /* messages on their way */
} dtl_board;

/* What a rank lays down: core/board.Entry. */
enum { DTL_ENTRY_BYTES = 32, DTL_PAYLOAD_BYTES = 8192 };
typedef struct {
    uint64_t seq, fingerprint, want;
    int32_t code, bytes;
    char elements[DTL_ENTRY_BYTES];
} dtl_entry;

static inline dtl_entry *dtl_entry_of(const dtl_board *b, int rank) {
    return (dtl_entry *)(b->slots + (uint64_t)rank * b->stride) + (b->seq & 1);
}

/* dtl_long_payload returns where a rank lays down what has no room in its entry. */
static inline char *dtl_long_payload(const dtl_board *b, int rank) {
    return (char *)(b->slots + (uint64_t)rank * b->stride + b->extra) + (b->seq & 1) * DTL_PAYLOAD_BYTES;
}

/* dtl_lay_down lays down a rank's entry for its next meeting, with up to two pieces, DTL_PAYLOAD_BYTES in all. */
static inline void dtl_lay_down(dtl_board *b, int rank, uint64_t fingerprint, uint64_t want, const void *head, int head_bytes,
                                const void *elements, int bytes) {
    uint64_t seq = ++b->seq;
    dtl_entry *mine = dtl_entry_of(b, rank);
    char *into = head_bytes + bytes <= DTL_ENTRY_BYTES ? mine->elements : dtl_long_payload(b, rank);
    mine->fingerprint = fingerprint;
    mine->want = want;
    mine->code = 0;
    mine->bytes = head_bytes + bytes;
    if (head_bytes > 0)
        memcpy(into, head, (size_t)head_bytes);
    if (bytes > 0)
        memcpy(into + head_bytes, elements, (size_t)bytes);
    __atomic_store_n(&mine->seq, seq, __ATOMIC_RELEASE);
}

/* dtl_arrived says whether a rank has come to this meeting. */
static inline int dtl_arrived(const dtl_board *b, int rank) {
    return __atomic_load_n(&dtl_entry_of(b, rank)->seq, __ATOMIC_ACQUIRE) == b->seq;
}

/* dtl_payload returns what a rank that has arrived laid down, and its length. */
static inline const char *dtl_payload(const dtl_board *b, int rank, int *bytes) {
    const dtl_entry *e = dtl_entry_of(b, rank);
    *bytes = e->bytes < 0 ? 0 : e->bytes > DTL_PAYLOAD_BYTES ? DTL_PAYLOAD_BYTES : e->bytes;
    return *bytes <= DTL_ENTRY_BYTES ? e->elements : dtl_long_payload(b, rank);
}

/* dtl_all_agree says whether so many ranks make the same call, and can: core/comm/wire.Agreement. */
static inline int dtl_all_agree(const dtl_board *b, int size) {
    uint64_t fingerprint = dtl_entry_of(b, 0)->fingerprint, want = 0;
    for (int rank = 0; rank < size; rank++) {
        const dtl_entry *e = dtl_entry_of(b, rank);
        if (e->code != 0 || e->fingerprint != fingerprint || (e->want != 0 && want != 0 && e->want != want))
            return 0;
        want |= e->want;
    }
    return 1;
}

/* ---- Windows all of whose parts lie in this process: core/rma.Local and Target ---- */

/* What became of the last fence, and how this rank has locked a part. */
enum { DTL_UNFENCED, DTL_FENCED, DTL_FENCE_USED };
enum { DTL_UNLOCKED, DTL_SHARED, DTL_EXCLUSIVE };

typedef struct {
    uint64_t addr;
    int64_t bytes;
    uint32_t *guard;
    int32_t held, unused;
} dtl_target;

typedef struct {
    int64_t owner; /* the window's handle; 0: it is closed */
    int32_t users, rank, size, open, fence, everywhere, direct, unused;
    dtl_target *targets;
    char rest[16];
} dtl_window;

/* Whether a rank may access some bytes of a part: core/rma.Reach. */
typedef enum { DTL_REACHED, DTL_NO_TARGET, DTL_NO_EPOCH, DTL_OUTSIDE } dtl_reach;

/* dtl_window_open_for says whether there is a target, and an epoch is open for it. */
static inline dtl_reach dtl_window_open_for(const dtl_window *w, int64_t target) {
    if (target < 0 || target >= w->size)
        return DTL_NO_TARGET;
    int32_t held = __atomic_load_n(&w->targets[target].held, __ATOMIC_RELAXED);
    if (held == DTL_SHARED || held == DTL_EXCLUSIVE || __atomic_load_n(&w->everywhere, __ATOMIC_RELAXED) == DTL_SHARED ||
        __atomic_load_n(&w->fence, __ATOMIC_RELAXED) != DTL_UNFENCED)
        return DTL_REACHED;
    return DTL_NO_EPOCH;
}

/* dtl_window_reach says whether this rank may access some bytes of a target's part. If so, it uses the fence's epoch. */
static inline dtl_reach dtl_window_reach(dtl_window *w, int64_t target, int64_t offset, int64_t bytes) {
    dtl_reach reach = dtl_window_open_for(w, target);
    if (reach != DTL_REACHED)
        return reach;
    int64_t size = w->targets[target].bytes;
    if (offset < 0 || offset > size || bytes < 0 || bytes > size - offset)
        return DTL_OUTSIDE;
    int32_t fenced = DTL_FENCED;
    if (__atomic_load_n(&w->fence, __ATOMIC_RELAXED) == DTL_FENCED) /* a lock of another thread may end the epoch now */
        __atomic_compare_exchange_n(&w->fence, &fenced, DTL_FENCE_USED, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return DTL_REACHED;
}

/* ---- Requests: core/comm.Request ---- */

/* Where the library is asked whether a request is over. */
typedef struct {
    int64_t owner; /* the request's handle; 0: C may not look */
    int (*test)(uint64_t request, int *over);
    uint64_t native; /* 0: ask Go */
    uint32_t turn;   /* 1 while a thread uses the request */
    char rest[36];
} dtl_request_peek;

#endif
