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
#include "../core/comm/agreement/nodes/nodes.h"
#include "../core/mix/mix.h"

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

/* What the ranks of a call must pass alike, as the rank that is to make the call without Go states it. */
typedef struct {
    int64_t handle, code, op, type, count, root; /* op: -1 where there is none; root: one more than the rank, or 0 */
    int32_t elements_optional; /* type and count must be alike only among ranks that state them */
    int32_t waits; /* for whom */
} dtl_signature;

/* dtl_fingerprint returns that of a call, from the hashes of the names of its operation and its operator. */
static inline uint64_t dtl_fingerprint(const dtl_signature *b, uint64_t operation, uint64_t operator) {
    uint64_t h = dtl_mix(dtl_mix(operation, (uint64_t)b->root), 0);
    if (!b->elements_optional)
        h = dtl_mix(dtl_mix(h, (uint64_t)b->type), (uint64_t)b->count);
    return b->op >= 0 ? dtl_mix(h, operator) : h;
}

/* dtl_elements_hash returns a number for the elements that a rank of a call whose elements are optional states; 0: it states none. */
static inline uint64_t dtl_elements_hash(const dtl_signature *b) {
    return b->elements_optional && b->type != 0 ? dtl_mix((uint64_t)b->type, (uint64_t)b->count) | 1 : 0;
}

/* ---- Meetings in shared memory: core/board ---- */

/* What a call of the backend's says of a message: core/backend.DirectStatus. */
typedef struct {
    int source, tag, cancelled;
    int64_t bytes;
} dtl_arrival;

/* The element type of bytes, and the longest message that travels as one. */
enum { DTL_BYTES = 10, DTL_EAGER = 4096 };

enum {
    DTL_ENTRIES_KEPT = 32,
    DTL_ENTRY_BYTES = 32,
    DTL_PAYLOAD_BYTES = 10240,
    DTL_MOST_PAYLOAD_BYTES = 66 * 1024, /* where there is an extension */
    DTL_ANNEX_RANKS = 128,              /* the most of a board that has one: core/board.ExtensionRanks */
    DTL_RING_PARTS = 8,                 /* of twice as many bytes as a payload may have */
    DTL_GROUP_SIZE = 8,
    DTL_SLICES_FROM = 4, /* ranks that combine long elements in slices: core/comm.SlicesFrom */
    DTL_COUNT_BITS = 16,
};

/* Where a rank puts payloads that do not fit into its entries: core/board.ring. */
typedef struct {
    uint64_t at;
    uint64_t used[DTL_RING_PARTS];
} dtl_ring;

/* Where a board is, and how messages go among the same ranks: core/board.Local. */
enum { DTL_OUTSIDE_GO = 1 };
typedef struct {
    int64_t owner; /* the context's handle; 0: C may not meet or send here */
    uint64_t turn; /* which thread makes a collective call: DTL_OUTSIDE_GO, or a goroutine; 0: none does */
    int32_t spins, most; /* how often to look before a rank waits in other ways; how many bytes a call may write */
    uint64_t seq; /* of the rank's last meeting */
    uint64_t slots, broken; /* behind the latter is the last disagreement */
    uint64_t stride, extra, offers, key;
    uint64_t comm;
    int (*send_for)(uint64_t comm, const void *buf, int64_t n, int type, int dest, int tag, int64_t patience, uint64_t *request);
    int (*recv_for)(uint64_t comm, void *buf, int64_t n, int type, int source, int tag, int64_t patience, uint64_t *request,
                    dtl_arrival *arrival);
    int (*wait_for)(uint64_t comm, uint64_t *request, int64_t patience, int *done, dtl_arrival *arrival);
    int (*cancel)(uint64_t request);
    const int32_t *queued, *unexpected; /* how many messages C has to leave to Go because they come first */
    int32_t tags, unused;               /* the first tag that is too high */
    uint64_t floor;                     /* a meeting to which all ranks have come, as far as this one knows */
    uint64_t history;                   /* a hash of all calls */
    uint64_t split;                     /* the last disagreement that this rank has heard of */
    dtl_ring payloads, longer;          /* of payloads up to DTL_PAYLOAD_BYTES, and of those in the extension */
    uint64_t extension;                     /* its address, if it may be used; else 0 */
    uint64_t group, all;                /* where the first group is, and that of all ranks; 0: there are none */
    int32_t users;                      /* messages on their way */
    int32_t goes_on;                    /* 1: who needs no other in a call with a root may go on */
} dtl_board;

/* Of which ranks this process is ahead: core/comm.Ahead. */
typedef struct {
    uint64_t board; /* where it has gone on from a call; 0: nowhere */
    int64_t thread; /* which thread has */
    int64_t other;  /* another one that made a call then: while it lives, no thread goes on; 0: none */
    int32_t rank, size; /* among those of the board */
} dtl_ahead;

/* dtl_ahead_claim says whether this process may go on from a call on a board: it is ahead on no other. */
static inline int dtl_ahead_claim(dtl_ahead *a, const dtl_board *b, int rank, int size, int64_t (*thread)(void)) {
    uint64_t nowhere = 0, here = (uint64_t)b;
    if (!b->goes_on || __atomic_load_n(&a->other, __ATOMIC_RELAXED) != 0)
        return 0;
    if (__atomic_load_n(&a->board, __ATOMIC_RELAXED) == here)
        return 1;
    if (!__atomic_compare_exchange_n(&a->board, &nowhere, here, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return 0;
    __atomic_store_n(&a->rank, rank, __ATOMIC_RELAXED);
    __atomic_store_n(&a->size, size, __ATOMIC_RELAXED);
    __atomic_store_n(&a->thread, thread(), __ATOMIC_RELEASE);
    return 1;
}

/* dtl_ahead_end says that this process is not ahead on a board any more. */
static inline void dtl_ahead_end(dtl_ahead *a, const dtl_board *b) {
    if (__atomic_load_n(&a->board, __ATOMIC_RELAXED) == (uint64_t)b) {
        __atomic_store_n(&a->thread, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&a->board, 0, __ATOMIC_RELEASE);
    }
}


/* For which ranks a rank waits: core/board.Waits. */
enum { DTL_FOR_ALL, DTL_FOR_NONE, DTL_FOR_ROOT, DTL_TOGETHER };

/* What a rank lays down: core/board.Entry. */
typedef struct {
    uint64_t seq, history, elements_hash;
    int16_t code;
    uint8_t waits, behind;
    uint16_t bytes, root;
    char elements[DTL_ENTRY_BYTES];
} dtl_entry;

/* What it lays down beside that, where it may have left the call when somebody asks which: core/board.Call. */
typedef struct {
    uint64_t operation, operator;
    int64_t type, count, root;
} dtl_call_laid;

static inline dtl_entry *dtl_entries(const dtl_board *b, int rank) { return (dtl_entry *)(b->slots + (uint64_t)rank * b->stride); }

static inline dtl_entry *dtl_entry_at(const dtl_board *b, int rank, uint64_t seq) {
    return dtl_entries(b, rank) + seq % DTL_ENTRIES_KEPT;
}

static inline dtl_entry *dtl_entry_of(const dtl_board *b, int rank) { return dtl_entry_at(b, rank, b->seq); }

/* What the elements of an entry say of a payload that does not fit there: core/board.longPayload. */
typedef struct {
    uint32_t at, bytes;
} dtl_long_payload;

/* dtl_laid_long returns where a rank lays down a payload that has no room in its entry. */
static inline char *dtl_laid_long(const dtl_board *b, int rank, dtl_long_payload p) {
    if (p.bytes <= DTL_PAYLOAD_BYTES)
        return (char *)(b->slots + (uint64_t)rank * b->stride + b->extra) + p.at;
    return (char *)(b->extension + (uint64_t)rank * (2 * DTL_MOST_PAYLOAD_BYTES)) + p.at;
}

/* dtl_most_payload returns the most bytes that an entry carries now: core/board.MostPayload. */
static inline int dtl_most_payload(const dtl_board *b) { return b->extension != 0 ? DTL_MOST_PAYLOAD_BYTES : DTL_PAYLOAD_BYTES; }

/* dtl_ring_for returns the ring of payloads of so many bytes, and how long its parts are: core/board.Local.ringFor. */
static inline dtl_ring *dtl_ring_for(dtl_board *b, int bytes, int *part) {
    *part = 2 * (bytes <= DTL_PAYLOAD_BYTES ? DTL_PAYLOAD_BYTES : DTL_MOST_PAYLOAD_BYTES) / DTL_RING_PARTS;
    return bytes <= DTL_PAYLOAD_BYTES ? &b->payloads : &b->longer;
}

/* dtl_overwrite says that a rank overwrites an entry, from now on, for a meeting: it is then of the meeting before. Others may look
 * at it meanwhile, and see that the rank has come so far. */
static inline dtl_entry *dtl_overwrite(const dtl_board *b, int rank, uint64_t seq) {
    dtl_entry *mine = dtl_entry_at(b, rank, seq);
    __atomic_store_n(&mine->seq, seq - 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    return mine;
}

/* dtl_describe says which call a rank's next entry is of. dtl_lay_down follows. */
static inline void dtl_describe(const dtl_board *b, int rank, const dtl_signature *signature, uint64_t operation, uint64_t operator) {
    dtl_call_laid *call = (dtl_call_laid *)(dtl_entries(b, rank) + DTL_ENTRIES_KEPT) + (b->seq + 1) % DTL_ENTRIES_KEPT;
    dtl_overwrite(b, rank, b->seq + 1);
    __atomic_store_n(&call->operation, operation, __ATOMIC_RELAXED);
    __atomic_store_n(&call->operator, operator, __ATOMIC_RELAXED);
    __atomic_store_n(&call->type, signature->type, __ATOMIC_RELAXED);
    __atomic_store_n(&call->count, signature->count, __ATOMIC_RELAXED);
    __atomic_store_n(&call->root, signature->root, __ATOMIC_RELAXED);
}

/* dtl_place returns where the next payload of a ring goes: core/board.ring.place. */
static inline int dtl_place(const dtl_ring *r, int bytes, int part) {
    int at = (int)r->at, whole = part;
    if (at % part != 0 && at % part + bytes <= part)
        return at;
    while (whole < bytes)
        whole *= 2;
    at = (at + whole - 1) / whole * whole;
    return at + whole > DTL_RING_PARTS * part ? 0 : at;
}

/* dtl_take is dtl_place for the payload of a meeting: core/board.Local.take. */
static inline dtl_long_payload dtl_take(dtl_board *b, uint64_t seq, int bytes) {
    int size;
    dtl_ring *r = dtl_ring_for(b, bytes, &size);
    int at = dtl_place(r, bytes, size);
    for (int part = at / size; part * size < at + bytes; part++)
        r->used[part] = seq + 1;
    r->at = (uint64_t)(at + bytes + 63) / 64 * 64;
    return (dtl_long_payload){(uint32_t)at, (uint32_t)bytes};
}

/* dtl_keep has the payload of the last meeting but one stay until all ranks have come to the next: core/board.Keep. */
static inline void dtl_keep(dtl_board *b) {
    for (int part = 0; part < DTL_RING_PARTS; part++) {
        b->payloads.used[part] += b->payloads.used[part] == b->seq;
        b->longer.used[part] += b->longer.used[part] == b->seq;
    }
}

/* dtl_needed returns the meeting to which all ranks must have come before the next entry: core/board.Local.needed. */
static inline uint64_t dtl_needed(dtl_board *b, int waits, int bytes) {
    uint64_t next = b->seq + 1 + (waits == DTL_FOR_NONE), floor = 0;
    if (next >= DTL_ENTRIES_KEPT)
        floor = next - DTL_ENTRIES_KEPT + 1;
    if (bytes > DTL_ENTRY_BYTES) {
        int size;
        dtl_ring *r = dtl_ring_for(b, bytes, &size);
        int at = dtl_place(r, bytes, size);
        for (int part = at / size; part * size < at + bytes && at % size == 0; part++)
            floor = r->used[part] > floor ? r->used[part] : floor;
    }
    return floor;
}

/* dtl_make_room says whether the next entry may be laid down, as far as this rank sees at one look: core/board.MakeRoom. */
static inline int dtl_make_room(dtl_board *b, int rank, int size, int waits, int bytes) {
    uint64_t seq = dtl_needed(b, waits, bytes);
    if (b->floor >= seq)
        return 1;
    if (b->seq > DTL_ENTRIES_KEPT / 2 && b->seq - DTL_ENTRIES_KEPT / 2 > seq)
        seq = b->seq - DTL_ENTRIES_KEPT / 2;
    for (int other = 0; other < size; other++) {
        const dtl_entry *e = dtl_entry_at(b, other, seq);
        uint64_t came = __atomic_load_n(&e->seq, __ATOMIC_ACQUIRE);
        if (came == seq && __atomic_load_n(&e->history, __ATOMIC_RELAXED) != dtl_entry_at(b, rank, seq)->history) {
            __atomic_thread_fence(__ATOMIC_ACQUIRE);
            if (__atomic_load_n(&e->seq, __ATOMIC_RELAXED) == seq) /* it is not being overwritten, for which all have come further */
                return 0;
        }
        if (came < seq)
            return 0;
    }
    b->floor = seq;
    return 1;
}

/* dtl_lay_down lays down a rank's entry for its next meeting, with up to two pieces, dtl_most_payload in all. There is room. */
static inline void dtl_lay_down(dtl_board *b, int rank, uint64_t fingerprint, uint64_t elements_hash, int waits, int root, const void *head,
                                int head_bytes, const void *elements, int bytes) {
    uint64_t seq = b->seq + 1, behind = seq - (b->floor < b->seq ? b->floor : b->seq);
    dtl_entry *mine = dtl_overwrite(b, rank, seq);
    char *into = mine->elements;
    int all = head_bytes + bytes;
    b->history = dtl_mix(b->history, fingerprint);
    __atomic_store_n(&mine->history, b->history, __ATOMIC_RELAXED);
    mine->elements_hash = elements_hash;
    mine->code = 0;
    mine->waits = (uint8_t)waits;
    mine->behind = (uint8_t)(behind < 255 ? behind : 255);
    mine->bytes = (uint16_t)(all < DTL_ENTRY_BYTES ? all : DTL_ENTRY_BYTES + (all > DTL_ENTRY_BYTES));
    mine->root = (uint16_t)root;
    if (all > DTL_ENTRY_BYTES) {
        dtl_long_payload at = dtl_take(b, seq, all);
        memcpy(into, &at, sizeof at);
        into = dtl_laid_long(b, rank, at);
    }
    if (head_bytes > 0)
        memcpy(into, head, (size_t)head_bytes);
    if (bytes > 0)
        memcpy(into + head_bytes, elements, (size_t)bytes);
    b->seq = seq;
    __atomic_store_n(&mine->seq, seq, __ATOMIC_RELEASE);
}

/* dtl_arrived says whether a rank has come to this meeting. */
static inline int dtl_arrived(const dtl_board *b, int rank) {
    return __atomic_load_n(&dtl_entry_of(b, rank)->seq, __ATOMIC_ACQUIRE) == b->seq;
}

/* dtl_payload returns what a rank that has arrived laid down, and its length: core/board.Payload. */
static inline char *dtl_payload(const dtl_board *b, int rank, int *bytes) {
    dtl_entry *e = dtl_entry_of(b, rank);
    dtl_long_payload p;
    *bytes = e->bytes;
    if (*bytes <= DTL_ENTRY_BYTES)
        return e->elements;
    memcpy(&p, e->elements, sizeof p);
    uint32_t most = (uint32_t)dtl_most_payload(b);
    p.bytes = p.bytes < most ? p.bytes : most;
    uint32_t ring = 2 * (p.bytes <= DTL_PAYLOAD_BYTES ? DTL_PAYLOAD_BYTES : DTL_MOST_PAYLOAD_BYTES);
    p.at = p.at > ring - p.bytes ? 0 : p.at;
    *bytes = (int)p.bytes;
    return dtl_laid_long(b, rank, p);
}

/* dtl_agree says whether a rank that has come makes the same call as this one, and can. */
static inline int dtl_agree(const dtl_entry *mine, const dtl_entry *theirs) {
    return theirs->code == 0 && theirs->history == mine->history &&
           (theirs->elements_hash == 0 || mine->elements_hash == 0 || theirs->elements_hash == mine->elements_hash);
}

/* dtl_all_agree says whether so many ranks make the same call, and can: core/comm/wire.Agreement. */
static inline int dtl_all_agree(dtl_board *b, int size) {
    uint64_t history = dtl_entry_of(b, 0)->history, elements_hash = 0;
    for (int rank = 0; rank < size; rank++) {
        const dtl_entry *e = dtl_entry_of(b, rank);
        if (e->code != 0 || e->history != history || (e->elements_hash != 0 && elements_hash != 0 && e->elements_hash != elements_hash))
            return 0;
        elements_hash |= e->elements_hash;
    }
    b->floor = b->seq;
    return 1;
}

/* dtl_all_came says whether so many ranks have come to this meeting. */
static inline int dtl_all_came(const dtl_board *b, int size) {
    for (int rank = 0; rank < size; rank++)
        if (!dtl_arrived(b, rank))
            return 0;
    return 1;
}

/* What becomes of a group: core/board/together.go. */
enum { DTL_DIFFER, DTL_AGREE, DTL_COMBINED };

/* What its members share: core/board.group. */
typedef struct {
    uint64_t arrived;
    char rest[56];
    uint64_t seq, history, elements_hash;
    int32_t state, bytes;
    char elements[DTL_ENTRY_BYTES];
    char payload[DTL_PAYLOAD_BYTES];
} dtl_group;

static inline dtl_group *dtl_group_at(const dtl_board *b, int n) { return (dtl_group *)b->group + n; }

/* dtl_group_place returns where a group's elements are. */
static inline char *dtl_group_place(dtl_group *g) { return g->bytes <= DTL_ENTRY_BYTES ? g->elements : g->payload; }

/* dtl_group_come counts a member in for a meeting, and returns how many have come. */
static inline int dtl_group_come(dtl_group *g, uint64_t seq) {
    uint64_t now = __atomic_load_n(&g->arrived, __ATOMIC_ACQUIRE), next;
    do {
        if (now >> DTL_COUNT_BITS > seq)
            return 0;
        next = now >> DTL_COUNT_BITS == seq ? now + 1 : (seq << DTL_COUNT_BITS | 1);
    } while (!__atomic_compare_exchange_n(&g->arrived, &now, next, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
    return (int)(next & ((1 << DTL_COUNT_BITS) - 1));
}

/* dtl_group_add takes a member into the outcome of a group. combine, if there is one, adds its elements. */
typedef void (*dtl_combiner)(const void *how, void *into, const void *from);
static inline void dtl_group_add(dtl_group *g, uint64_t history, uint64_t elements_hash, int32_t state, const char *elements, int bytes, int first,
                                 dtl_combiner combine, const void *how) {
    if (first) {
        g->history = history;
        g->elements_hash = elements_hash;
        g->state = combine == NULL && state > DTL_AGREE ? DTL_AGREE : state;
        g->bytes = bytes;
        if (combine != NULL)
            memcpy(dtl_group_place(g), elements, (size_t)bytes);
        return;
    }
    g->state = state < g->state ? state : g->state;
    if (history != g->history || (combine != NULL && bytes != g->bytes) || (elements_hash != 0 && g->elements_hash != 0 && elements_hash != g->elements_hash))
        g->state = DTL_DIFFER;
    g->elements_hash |= elements_hash;
    if (g->state == DTL_COMBINED && combine != NULL)
        combine(how, dtl_group_place(g), elements);
}

/* dtl_come_together counts a rank in that has laid down its entry, and does what the last one of a group does:
 * core/board.ComeTogether. */
static inline void dtl_come_together(dtl_board *b, int rank, int size, dtl_combiner combine, const void *how) {
    int first = 0, below = -1, child = rank, children = size, bytes;
    while (children > 1) {
        int n = child / DTL_GROUP_SIZE, from = n * DTL_GROUP_SIZE;
        int members = children - from < DTL_GROUP_SIZE ? children - from : DTL_GROUP_SIZE;
        dtl_group *g = dtl_group_at(b, first + n);
        if (dtl_group_come(g, b->seq) != members)
            return;
        for (int i = 0; i < members; i++) {
            if (below >= 0) {
                dtl_group *member = dtl_group_at(b, below + from + i);
                dtl_group_add(g, member->history, member->elements_hash, member->state, dtl_group_place(member), member->bytes, i == 0, combine, how);
            } else {
                const dtl_entry *e = dtl_entry_of(b, from + i);
                const char *laid = dtl_payload(b, from + i, &bytes);
                dtl_group_add(g, e->history, e->elements_hash, e->code != 0 ? DTL_DIFFER : DTL_COMBINED, laid, bytes, i == 0, combine, how);
            }
        }
        child = n;
        children = (children + DTL_GROUP_SIZE - 1) / DTL_GROUP_SIZE;
        below = first;
        first += children;
    }
    __atomic_store_n(&dtl_group_at(b, first - 1)->seq, b->seq, __ATOMIC_RELEASE);
}

/* dtl_together says whether the outcome of this meeting is there. */
static inline int dtl_together(const dtl_board *b) {
    return __atomic_load_n(&((const dtl_group *)b->all)->seq, __ATOMIC_ACQUIRE) == b->seq;
}

/* dtl_together_agree says whether the ranks agree, whose outcome is there. */
static inline int dtl_together_agree(const dtl_board *b) { return ((const dtl_group *)b->all)->state != DTL_DIFFER; }

/* dtl_combination returns all ranks' elements, combined, where they are together; else NULL. */
static inline const char *dtl_combination(const dtl_board *b) {
    dtl_group *all = (dtl_group *)b->all;
    return all != NULL && dtl_together(b) && all->state == DTL_COMBINED ? dtl_group_place(all) : NULL;
}

/* dtl_learn takes over what a rank that has come knows of the others: core/board.Learn. */
static inline void dtl_learn(dtl_board *b, const dtl_entry *theirs) {
    if (theirs->behind <= b->seq && b->seq - theirs->behind > b->floor)
        b->floor = b->seq - theirs->behind;
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
