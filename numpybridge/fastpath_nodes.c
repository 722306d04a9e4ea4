//go:build cpython

/* Meetings without Go where ranks are on several nodes: core/comm/agreement/nodes. */
#include <sched.h>
#include <time.h>

#include "fastpath_ahead.h"
#include "fastpath_nodes.h"
#include "meeting.h"
#include "objects.h"
#include "trace.h"

/* How long a call waits for the other ranks with the interpreter's lock held, and then without it, in nanoseconds. After that, it
 * leaves the wait to Go. */
enum { PATIENCE = 20 * 1000, LONG_PATIENCE = 1000 * 1000 };

int nodes_begin(meeting *m, const RanksObject *ranks, int64_t code, uint64_t print) {
    dtl_nodes *n = ranks->nodes;
    uint64_t nobody = 0;
    int64_t handle = ranks->handle.handle;
    if (n == NULL || handle == 0 || tracing || !ahead_confirmed((const dtl_board *)nodes_place(n)) ||
        __atomic_load_n(&n->owner, __ATOMIC_ACQUIRE) != handle ||
        !__atomic_compare_exchange_n(&n->turn, &nobody, DTL_OUTSIDE_GO, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return 0;
    m->board = NULL;
    m->nodes = n;
    m->print = print;
    m->rank = ranks->rank;
    m->size = ranks->size;
    m->signature = (dtl_signature){.handle = handle, .code = code, .op = -1};
    m->into = NULL;
    m->into_bytes = m->scatters = m->lends = m->kept = 0;
    if (__atomic_load_n(&n->owner, __ATOMIC_ACQUIRE) == handle && __atomic_load_n(&n->broken, __ATOMIC_RELAXED) == 0 &&
        !dtl_nodes_should_listen(n))
        return 1;
    nodes_end(m);
    return 0;
}

void nodes_end(meeting *m) { __atomic_store_n(&m->nodes->turn, 0, __ATOMIC_RELEASE); }

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* come waits for the other ranks for about so long, and returns what dtl_nodes_go_on has said last. */
static int come(dtl_nodes *n, int64_t patience) {
    int how = dtl_nodes_go_on(n, PATIENCE);
    if (how != DTL_NODES_LATE)
        return how;
    for (int64_t until = now() + patience; how == DTL_NODES_LATE && now() < until; how = dtl_nodes_go_on(n, PATIENCE))
        sched_yield();
    return how;
}

/* wait_for_others waits without the interpreter's lock where it takes longer. Where something else is under way, Go goes on with it
 * while this rank waits. */
static int wait_for_others(dtl_nodes *n) {
    int how = come(n, 0);
    if (how == DTL_NODES_LATE && __atomic_load_n(n->queued, __ATOMIC_RELAXED) == 0) {
        Py_BEGIN_ALLOW_THREADS
        how = come(n, LONG_PATIENCE);
        Py_END_ALLOW_THREADS
    }
    return how;
}

/* without_meeting says whether the call is one with a root that is made without a meeting. */
static int without_meeting(const meeting *m) { return m->signature.root != 0 && dtl_nodes_without_meeting(m->nodes); }

/* role returns what this rank does in such a call. */
static uint8_t role(const meeting *m) {
    int root = m->rank == (int)m->signature.root - 1;
    if (m->signature.elements_optional)
        return root ? DTL_NODES_GIVES : DTL_NODES_TAKES;
    return root ? DTL_NODES_COLLECTS : DTL_NODES_BRINGS;
}

/* pass makes a call without a meeting. */
static int pass(meeting *m, uint64_t fingerprint, uint64_t operator, const dtl_nodes_elements *brought) {
    dtl_nodes_record call = {.elements_hash = dtl_elements_hash(&m->signature),
                             .operation = m->print,
                             .operator = operator,
                             .count = m->signature.count};
    call.type = (int32_t)m->signature.type;
    call.root = (int32_t)m->signature.root;
    call.role = role(m);
    dtl_nodes_pass(m->nodes, fingerprint, &call, brought);
    return wait_for_others(m->nodes) == DTL_NODES_OVER;
}

int nodes_come(meeting *m, uint64_t fingerprint, uint64_t operator, const void *head, int head_bytes, const void *elements, int bytes) {
    dtl_nodes *n = m->nodes;
    dtl_stated s = {.fingerprint = fingerprint,
                    .elements_hash = dtl_elements_hash(&m->signature),
                    .started = __atomic_load_n(&n->started, __ATOMIC_RELAXED)};
    dtl_nodes_elements brought = {.at = elements, .count = m->signature.count, .bytes = bytes, .type = (int32_t)m->signature.type, .op = (int32_t)m->signature.op};
    brought.way = m->signature.elements_optional ? (m->scatters ? DTL_SCATTERED : DTL_FROM_ROOT) : m->signature.op >= 0 ? DTL_COMBINED_FOR_ALL : DTL_TO_ALL;
    if (bytes == 0 && head_bytes == 0 && !m->signature.elements_optional) { /* they are moved after the meeting, if there are any */
        brought.count = 0;
        brought.way = DTL_TO_ALL;
    }
    brought.head = head;
    brought.head_bytes = head_bytes;
    brought.into = m->into;
    brought.into_bytes = m->into_bytes;
    brought.lends = m->lends;
    if (without_meeting(m))
        return pass(m, fingerprint, operator, &brought);
    n->rooted = m->signature.root != 0 && n->goes_on;
    dtl_nodes_come(n, &s, &brought);
    if (wait_for_others(n) != DTL_NODES_OVER || dtl_nodes_outcome(n)->stated.differs != 0)
        return 0;
    if (__atomic_load_n(&ahead->board, __ATOMIC_RELAXED) == nodes_place(n)) {
        __atomic_store_n(&ahead->thread, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&ahead->board, 0, __ATOMIC_RELEASE);
    }
    return 1;
}

int nodes_may_join(const meeting *m) {
    dtl_nodes *n = m->nodes;
    if (!without_meeting(m))
        return 1;
    return n->awake && n->given != NULL && ahead_claim_place(nodes_place(n), m->rank, m->size);
}
