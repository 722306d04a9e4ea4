//go:build cpython

/*
 * Meetings without Go.
 *
 * Ranks of one machine start each collective call with a meeting: each writes an entry to memory that they share, with the
 * elements of a short call, and reads those of the others (core/board, core/comm/meeting.go). C does that by itself, because a
 * call into Go takes longer. Where a rank is late, or the ranks do not agree, Go waits and explains.
 */
#include <sched.h>

#include "fastpath.h"

/* The hashes of the operators' names. */
static uint64_t operators[DTL_OPERATORS];
static int64_t type_double, type_long;

void meeting_prepare(void) {
    for (int op = 0; op < DTL_OPERATORS; op++)
        operators[op] = dtl_hash(op, 1);
    type_double = array_types[NDARRAY_DOUBLE].number;
    type_long = array_types[NDARRAY_LONG].number;
}

int meeting_begin(meeting *m, const RanksObject *ranks, int64_t code, uint64_t print) {
    dtl_board *board = ranks->board;
    uint64_t nobody = 0;
    int64_t handle = ranks->handle.handle;
    if (board == NULL)
        return nodes_begin(m, ranks, code, print);
    if (handle == 0 || tracing || __atomic_load_n(&board->owner, __ATOMIC_ACQUIRE) != handle || !ahead_confirmed(board) ||
        !__atomic_compare_exchange_n(&board->turn, &nobody, DTL_OUTSIDE_GO, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return 0;
    m->board = board;
    m->print = print;
    m->rank = ranks->rank;
    m->size = ranks->size;
    m->brief = (dtl_brief){.handle = handle, .code = code, .op = -1};
    const volatile uint64_t *broken = (const volatile uint64_t *)board->broken;
    if (__atomic_load_n(&board->owner, __ATOMIC_ACQUIRE) == handle && broken[0] == 0 && broken[1] == board->split)
        return 1;
    meeting_end(m);
    return 0;
}

int meeting_may_go_on(const meeting *m) { return m->board != NULL && ahead_claim(m->board, m->rank, m->size); }

void meeting_end(meeting *m) {
    if (m->board == NULL)
        nodes_end(m);
    else
        __atomic_store_n(&m->board->turn, 0, __ATOMIC_RELEASE);
}

int64_t meeting_room(const RanksObject *ranks, int reduces) {
    if (ranks->board != NULL)
        return reduces && ranks->board->all != 0 ? DTL_PAYLOAD_BYTES : ranks->board->brief;
    return reduces || DTL_NODES_PAYLOAD < DTL_NODES_ELEMENTS / ranks->size ? DTL_NODES_PAYLOAD : DTL_NODES_ELEMENTS / ranks->size;
}

/* came says whether a rank has come. It looks as often as spins says. */
static int came(const meeting *m, int rank, int *spins) {
    while (!dtl_arrived(m->board, rank)) {
        if (--*spins < 0)
            return 0;
        dtl_pause();
    }
    return 1;
}

/* met says whether all are there for whom this rank waits, and agree. It looks as often as spins says. */
static int met(const meeting *m, int spins) {
    if (m->brief.waits == DTL_FOR_NONE)
        return 1;
    if (m->brief.waits == DTL_FOR_ROOT) {
        int root = (int)m->brief.root - 1;
        if (!came(m, root, &spins))
            return 0;
        const dtl_entry *theirs = dtl_entry_of(m->board, root);
        if (theirs->waits == DTL_FOR_NONE) {
            dtl_learn(m->board, theirs);
            return dtl_agree(dtl_entry_of(m->board, m->rank), theirs);
        }
    }
    if (m->brief.waits == DTL_TOGETHER) {
        for (; !dtl_together(m->board); dtl_pause())
            if (--spins < 0)
                return 0;
        m->board->floor = m->board->seq;
        ahead_end(m->board);
        return dtl_together_agree(m->board);
    }
    for (int rank = 0; rank < m->size; rank++)
        if (!came(m, rank, &spins))
            return 0;
    ahead_end(m->board);
    return dtl_all_agree(m->board, m->size);
}

/* has_room says whether the entry may be laid down. It looks as often as the board says. */
static int has_room(const meeting *m, int bytes) {
    for (int spins = m->board->spins; !dtl_make_room(m->board, m->rank, m->size, m->brief.waits, bytes); dtl_pause())
        if (--spins < 0)
            return 0;
    return 1;
}

/* fold adds elements of a call to others, or multiplies them. */
static inline void fold(const dtl_brief *b, void *into, const void *from) {
    double *real = into;
    uint64_t *integer = into; /* in which overflow is defined: it wraps around */
    for (int64_t i = 0; i < b->count; i++) {
        if (b->type == type_double) {
            double value;
            memcpy(&value, (const char *)from + 8 * i, 8);
            real[i] = b->op == DTL_SUM ? real[i] + value : real[i] * value;
        } else {
            uint64_t value;
            memcpy(&value, (const char *)from + 8 * i, 8);
            integer[i] = b->op == DTL_SUM ? integer[i] + value : integer[i] * value;
        }
    }
}

/* combine is fold for groups of ranks. */
static void combine(const void *how, void *into, const void *from) { fold(how, into, from); }

/* How often a rank lets others have the processor before Go waits, which lets the backend make progress, too. */
enum { YIELDS = 8 };

/* met_soon is met for ranks that have to get a processor first, without the interpreter's lock. Where something else is under way, Go
 * goes on with it while this rank waits. */
static int met_soon(const meeting *m) {
    const int32_t *queued = m->board->queued;
    int there = 0;
    if (queued != NULL && __atomic_load_n(queued, __ATOMIC_RELAXED) != 0)
        return 0;
    Py_BEGIN_ALLOW_THREADS
    for (int turn = 0; turn < YIELDS && !there; turn++) {
        sched_yield();
        there = met(m, 1);
    }
    Py_END_ALLOW_THREADS
    return there;
}

/* leave_to_go has Go wait for the others, and returns what meeting_join does. */
static int leave_to_go(meeting *m) {
    char *error = NULL;
    Py_BEGIN_ALLOW_THREADS
    dtl_meet(&m->brief, &error);
    Py_END_ALLOW_THREADS
    if (error == NULL && !raise_interruption())
        return 1;
    meeting_end(m);
    if (error != NULL)
        fail_with(error);
    return -1;
}

int meeting_join(meeting *m, const void *head, int head_bytes, const void *elements, int bytes) {
    uint64_t by = m->brief.op >= 0 ? operators[m->brief.op] : 0;
    if (m->board == NULL && nodes_have_room(m))
        return nodes_come(m, dtl_fingerprint(&m->brief, m->print, by), by, head, head_bytes, elements, bytes) ? 1 : leave_to_go(m);
    if (m->board == NULL) {
        meeting_end(m);
        return 0;
    }
    if (m->brief.waits == DTL_FOR_ALL && m->brief.root == 0 && m->board->all != 0)
        m->brief.waits = DTL_TOGETHER;
    if (!has_room(m, head_bytes + bytes)) {
        meeting_end(m);
        return 0;
    }
    if (m->brief.waits == DTL_FOR_NONE || m->brief.waits == DTL_FOR_ROOT)
        dtl_describe(m->board, m->rank, &m->brief, m->print, by);
    dtl_lay_down(m->board, m->rank, dtl_fingerprint(&m->brief, m->print, by), dtl_want(&m->brief), m->brief.waits,
                 m->brief.waits == DTL_FOR_ROOT ? (int)m->brief.root - 1 : 0, head, head_bytes, elements, bytes);
    if (m->brief.waits == DTL_TOGETHER)
        dtl_come_together(m->board, m->rank, m->size, m->brief.op >= 0 && m->brief.count > 0 ? combine : NULL, &m->brief);
    return met(m, m->board->spins) || met_soon(m) ? 1 : leave_to_go(m);
}

const char *meeting_payload(const meeting *m, int rank, int *bytes) {
    return m->board != NULL ? dtl_payload(m->board, rank, bytes) : dtl_nodes_brought(m->nodes, rank, bytes);
}

int meeting_reduces(int64_t op, int64_t type) {
    return op >= DTL_SUM && op < DTL_OPERATORS && type != 0 && (type == type_double || type == type_long);
}

void meeting_reduce(const meeting *m, void *into) {
    const char *all = m->board == NULL ? dtl_nodes_combined(m->nodes)
                      : m->brief.waits == DTL_TOGETHER ? dtl_combination(m->board) : NULL;
    int bytes;
    if (all != NULL) {
        memcpy(into, all, (size_t)m->brief.count * 8);
        return;
    }
    memcpy(into, meeting_payload(m, 0, &bytes), (size_t)m->brief.count * 8);
    for (int rank = 1; rank < m->size; rank++)
        fold(&m->brief, into, meeting_payload(m, rank, &bytes));
}
