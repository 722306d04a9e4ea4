//go:build cpython

/*
 * Meetings without Go.
 *
 * Ranks of one machine start each collective call with a meeting: each writes an entry to memory that they share, with the
 * elements of a short call, and reads those of the others (core/board, core/comm/meeting.go). C does that by itself, because a
 * call into Go takes longer. Where a rank is late, or the ranks do not agree, Go waits and explains.
 */
#include <sched.h>

#include "../core/comm/agreement/nodes/combine.h"
#include "errors.h"
#include "fastpath_ahead.h"
#include "fastpath_meeting.h"
#include "fastpath_nodes.h"
#include "interrupts.h"
#include "meeting.h"
#include "numpy.h"
#include "objects.h"
#include "trace.h"

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
    m->signature = (dtl_signature){.handle = handle, .code = code, .op = -1};
    m->scatters = m->kept = 0;
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

int64_t meeting_room(const RanksObject *ranks, int reduces, int to_one) {
    if (ranks->board != NULL && ranks->board->extension != 0)
        return DTL_MOST_PAYLOAD_BYTES;
    if (ranks->board != NULL)
        return reduces && ranks->board->all != 0 ? DTL_PAYLOAD_BYTES : ranks->board->most;
    if (ranks->nodes == NULL)
        return 0;
    if (!to_one)
        return dtl_nodes_room_for_all(ranks->nodes, ranks->size, reduces);
    return dtl_nodes_room_to_root(ranks->nodes, ranks->size, reduces, dtl_nodes_without_meeting(ranks->nodes));
}

int64_t meeting_room_of_root(const RanksObject *ranks) {
    if (ranks->board != NULL)
        return dtl_most_payload(ranks->board);
    return ranks->nodes != NULL ? dtl_nodes_room_of_root(ranks->nodes) : DTL_PAYLOAD_BYTES;
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
    if (m->signature.waits == DTL_FOR_NONE)
        return 1;
    if (m->signature.waits == DTL_FOR_ROOT) {
        int root = (int)m->signature.root - 1;
        if (!came(m, root, &spins))
            return 0;
        const dtl_entry *theirs = dtl_entry_of(m->board, root);
        if (theirs->waits == DTL_FOR_NONE) {
            dtl_learn(m->board, theirs);
            return dtl_agree(dtl_entry_of(m->board, m->rank), theirs);
        }
    }
    if (m->signature.waits == DTL_TOGETHER) {
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
    for (int spins = m->board->spins; !dtl_make_room(m->board, m->rank, m->size, m->signature.waits, bytes); dtl_pause())
        if (--spins < 0)
            return 0;
    return 1;
}

/* fold adds elements of a call to as many others, or multiplies them. */
static void fold(const dtl_signature *b, char *into, const char *from, int64_t count) {
    dtl_combine_numbers(b->type == type_double, b->op == DTL_SUM, into, into, from, count);
}

/* combine is fold for groups of ranks. */
static void combine(const void *how, void *into, const void *from) { fold(how, into, from, ((const dtl_signature *)how)->count); }

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
    dtl_meet(&m->signature, &error);
    Py_END_ALLOW_THREADS
    if (error == NULL && !raise_interruption())
        return 1;
    m->kept = m->board == NULL ? m->nodes->kept : 0;
    meeting_end(m);
    if (error != NULL)
        fail_with(error);
    return -1;
}

int meeting_join(meeting *m, const void *head, int head_bytes, const void *elements, int bytes) {
    uint64_t by = m->signature.op >= 0 ? operators[m->signature.op] : 0;
    if (m->board == NULL && nodes_may_join(m))
        return nodes_come(m, dtl_fingerprint(&m->signature, m->print, by), by, head, head_bytes, elements, bytes) ? 1 : leave_to_go(m);
    if (m->board == NULL) {
        meeting_end(m);
        return 0;
    }
    if (m->signature.waits == DTL_FOR_ALL && m->signature.root == 0 && m->board->all != 0)
        m->signature.waits = DTL_TOGETHER;
    if (!has_room(m, head_bytes + bytes)) {
        meeting_end(m);
        return 0;
    }
    if (m->signature.waits == DTL_FOR_NONE || m->signature.waits == DTL_FOR_ROOT)
        dtl_describe(m->board, m->rank, &m->signature, m->print, by);
    dtl_lay_down(m->board, m->rank, dtl_fingerprint(&m->signature, m->print, by), dtl_elements_hash(&m->signature), m->signature.waits,
                 m->signature.waits == DTL_FOR_ROOT ? (int)m->signature.root - 1 : 0, head, head_bytes, elements, bytes);
    if (m->signature.waits == DTL_TOGETHER)
        dtl_come_together(m->board, m->rank, m->size, m->signature.op >= 0 && bytes > 0 && bytes <= DTL_PAYLOAD_BYTES ? combine : NULL, &m->signature);
    return met(m, m->board->spins) || met_soon(m) ? 1 : leave_to_go(m);
}

const char *meeting_payload(const meeting *m, int rank, int *bytes) {
    return m->board != NULL ? dtl_payload(m->board, rank, bytes) : dtl_nodes_brought(m->nodes, rank, bytes);
}

int meeting_reduces(int64_t op, int64_t type) {
    return op >= DTL_SUM && op < DTL_OPERATORS && type != 0 && (type == type_double || type == type_long);
}

/* fold_ranks combines in into what n ranks from first on laid down, from an element on. */
static void fold_ranks(const meeting *m, char *into, int64_t from, int64_t count, int first, int n) {
    int bytes;
    memcpy(into, meeting_payload(m, first, &bytes) + 8 * from, (size_t)count * 8);
    for (int rank = first + 1; rank < first + n; rank++)
        fold(&m->signature, into, meeting_payload(m, rank, &bytes) + 8 * from, count);
}

/* How many elements are combined of all ranks before the next ones are: they stay in the cache next to the processor. */
enum { BLOCK = 512 };

/* fold_in_groups is fold_ranks of a block in the order in which ranks do that which meet in groups: core/comm.Comm.foldInGroups. */
static void fold_in_groups(const meeting *m, char *into, int64_t from, int64_t count, int first, int n) {
    char others[8 * BLOCK] __attribute__((aligned(64)));
    int group = DTL_GROUP_SIZE;
    if (n <= DTL_GROUP_SIZE) {
        fold_ranks(m, into, from, count, first, n);
        return;
    }
    while (group * DTL_GROUP_SIZE < n)
        group *= DTL_GROUP_SIZE;
    fold_in_groups(m, into, from, count, first, group);
    for (int next = group; next < n; next += group) {
        fold_in_groups(m, others, from, count, first + next, n - next < group ? n - next : group);
        fold(&m->signature, into, others, count);
    }
}

/* fold_blocks combines in into what all ranks laid down, from an element up to another, in groups or in rank order. */
static void fold_blocks(const meeting *m, char *into, int64_t from, int64_t to, int in_groups) {
    for (; from < to; from += BLOCK, into += 8 * BLOCK) {
        int64_t count = to - from < BLOCK ? to - from : BLOCK;
        if (in_groups)
            fold_in_groups(m, into, from, count, 0, m->size);
        else
            fold_ranks(m, into, from, count, 0, m->size);
    }
}

void meeting_reduce(const meeting *m, void *into) {
    const char *all = m->board == NULL ? dtl_nodes_combined(m->nodes)
                      : m->signature.waits == DTL_TOGETHER ? dtl_combination(m->board) : NULL;
    if (all == NULL)
        fold_blocks(m, into, 0, m->signature.count, 0);
    else if (all != into)
        memcpy(into, all, (size_t)m->signature.count * 8);
}

int meeting_in_slices(const RanksObject *ranks, int64_t bytes) {
    return ranks->board != NULL && ranks->size >= DTL_SLICES_FROM && bytes > DTL_PAYLOAD_BYTES;
}

/* slice returns the first element that a rank combines. */
static int64_t slice(const meeting *m, int rank) { return rank * m->signature.count / m->size; }

int meeting_reduce_in_slices(meeting *m, void *out) {
    char *laid[DTL_ANNEX_RANKS]; /* an entry that says where that is may be overwritten after the second meeting */
    int bytes, joined;
    char *into = out;
    int64_t from = slice(m, m->rank), to = slice(m, m->rank + 1);
    for (int rank = 0; rank < m->size; rank++)
        laid[rank] = dtl_payload(m->board, rank, &bytes);
    fold_blocks(m, into + 8 * from, from, to, 1);
    memcpy(laid[m->rank] + 8 * from, into + 8 * from, (size_t)(to - from) * 8);
    joined = meeting_join(m, NULL, 0, NULL, 0); /* all have come to the meeting before, so there is room */
    if (joined <= 0)
        return joined;
    dtl_keep(m->board);
    for (int step = 1; step < m->size; step++) { /* not all ranks copy from one at the same time */
        int rank = (m->rank + step) % m->size;
        from = slice(m, rank);
        memcpy(into + 8 * from, laid[rank] + 8 * from, (size_t)(slice(m, rank + 1) - from) * 8);
    }
    return 1;
}
