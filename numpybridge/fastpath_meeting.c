//go:build cpython

/*
 * Meeting on the board without Go.
 *
 * Ranks of one machine start each collective call by laying down an entry on a board in memory that they share, and a
 * short call's elements with it (core/board, core/comm/meeting.go). A call into Go takes longer than that. So C does it
 * where that is all there is to do; Go waits for ranks that are late, and explains what they disagree about.
 */
#include "fastpath.h"

enum { SUM, PROD, OPERATORS };
static uint64_t operator_prints[OPERATORS];
static int64_t type_double, type_long;

void meeting_prepare(void) {
    for (int op = 0; op < OPERATORS; op++)
        operator_prints[op] = dtl_print(op, 1);
    type_double = array_types[NDARRAY_DOUBLE].number;
    type_long = array_types[NDARRAY_LONG].number;
}

static dtl_entry *entry_of(const meeting *m, int rank) {
    return (dtl_entry *)(m->board->slots + (uint64_t)rank * m->board->stride) + (m->board->seq & 1);
}

static char *extra_of(const meeting *m, int rank) {
    return (char *)(m->board->slots + (uint64_t)rank * m->board->stride + m->board->extra) +
           (m->board->seq & 1) * DTL_PAYLOAD_BYTES;
}

int meeting_begin(meeting *m, const RanksObject *ranks, int64_t code, uint64_t print) {
    dtl_board *board = ranks->board;
    uint64_t nobody = 0;
    int64_t handle = ranks->handle.handle;
    if (board == NULL || handle == 0 || tracing || __atomic_load_n(&board->owner, __ATOMIC_ACQUIRE) != handle ||
        !__atomic_compare_exchange_n(&board->turn, &nobody, DTL_OUTSIDE_GO, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return 0;
    m->board = board;
    m->print = print;
    m->brief = (dtl_brief){.handle = handle, .code = code, .op = -1};
    if (__atomic_load_n(&board->owner, __ATOMIC_ACQUIRE) == handle && *(volatile int64_t *)board->broken == 0)
        return 1;
    meeting_end(m);
    return 0;
}

void meeting_end(meeting *m) { __atomic_store_n(&m->board->turn, 0, __ATOMIC_RELEASE); }

/* The fingerprint of a call, as core/comm/wire makes it. */
static uint64_t word(uint64_t h, uint64_t v) {
    h = (h ^ v) * UINT64_C(1099511628211);
    return h ^ h >> 32;
}

static uint64_t print_of(const meeting *m) {
    const dtl_brief *b = &m->brief;
    uint64_t h = word(word(m->print, (uint64_t)b->root), 0);
    if (!b->loose)
        h = word(word(h, (uint64_t)b->type), (uint64_t)b->count);
    return b->op >= 0 ? word(h, operator_prints[b->op]) : h;
}

static uint64_t want_of(const meeting *m) {
    const dtl_brief *b = &m->brief;
    return b->loose && b->type != 0 ? word((uint64_t)b->type, (uint64_t)b->count) | 1 : 0;
}

/* all_there looks for the other ranks' entries, so often as the board says. */
static int all_there(const meeting *m) {
    uint64_t seq = m->board->seq;
    for (int rank = 0, spins = m->board->spins; rank < m->board->size; rank++)
        while (__atomic_load_n(&entry_of(m, rank)->seq, __ATOMIC_ACQUIRE) != seq) {
            if (--spins < 0)
                return 0;
            dtl_pause();
        }
    return 1;
}

static int all_agree(const meeting *m) {
    uint64_t print = entry_of(m, 0)->print, want = 0;
    for (int rank = 0; rank < m->board->size; rank++) {
        const dtl_entry *e = entry_of(m, rank);
        if (e->code != 0 || e->print != print || (e->want != 0 && want != 0 && e->want != want))
            return 0;
        want |= e->want;
    }
    return 1;
}

int meeting_join(meeting *m, const void *head, int head_bytes, const void *elements, int bytes) {
    uint64_t seq = ++m->board->seq;
    dtl_entry *mine = entry_of(m, m->board->rank);
    char *into = head_bytes + bytes <= DTL_ENTRY_BYTES ? mine->elements : extra_of(m, m->board->rank);
    mine->print = print_of(m);
    mine->want = want_of(m);
    mine->code = 0;
    mine->bytes = head_bytes + bytes;
    if (head_bytes > 0)
        memcpy(into, head, (size_t)head_bytes);
    if (bytes > 0)
        memcpy(into + head_bytes, elements, (size_t)bytes);
    __atomic_store_n(&mine->seq, seq, __ATOMIC_RELEASE);
    if (all_there(m) && all_agree(m))
        return 0;
    char *error = NULL;
    Py_BEGIN_ALLOW_THREADS
    dtl_meet(&m->brief, &error);
    Py_END_ALLOW_THREADS
    if (error == NULL && !raise_interruption())
        return 0;
    meeting_end(m);
    if (error != NULL)
        fail_with(error);
    return -1;
}

const char *meeting_payload(const meeting *m, int rank, int *bytes) {
    const dtl_entry *e = entry_of(m, rank);
    *bytes = e->bytes < 0 ? 0 : e->bytes > DTL_PAYLOAD_BYTES ? DTL_PAYLOAD_BYTES : e->bytes;
    return *bytes <= DTL_ENTRY_BYTES ? e->elements : extra_of(m, rank);
}

int meeting_reduces(int64_t op, int64_t type) {
    return op >= SUM && op < OPERATORS && type != 0 && (type == type_double || type == type_long);
}

void meeting_reduce(const meeting *m, void *into) {
    const dtl_brief *b = &m->brief;
    double *real = into;
    uint64_t *integer = into; /* in which overflow is defined: it wraps around */
    for (int rank = 0, bytes; rank < m->board->size; rank++) {
        const char *laid = meeting_payload(m, rank, &bytes);
        if (rank == 0) {
            memcpy(into, laid, (size_t)b->count * 8);
            continue;
        }
        for (int64_t i = 0; i < b->count; i++) {
            if (b->type == type_double) {
                double value;
                memcpy(&value, laid + 8 * i, 8);
                real[i] = b->op == SUM ? real[i] + value : real[i] * value;
            } else {
                uint64_t value;
                memcpy(&value, laid + 8 * i, 8);
                integer[i] = b->op == SUM ? integer[i] + value : integer[i] * value;
            }
        }
    }
}
