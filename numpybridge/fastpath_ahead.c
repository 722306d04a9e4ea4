//go:build cpython

/* Of which ranks this process is ahead, because it has gone on from a call in which it needed no other: core/comm.Ahead. */
#include <sys/syscall.h>
#include <unistd.h>

#include "fastpath_ahead.h"

static dtl_ahead nobody;
dtl_ahead *ahead = &nobody;

void ahead_prepare(void) { ahead = (dtl_ahead *)dtl_ahead_of_others(); }

/* thread returns the system's number of the calling thread. */
static int64_t thread(void) {
    static _Thread_local int64_t number;
    if (number == 0)
        number = syscall(SYS_gettid);
    return number;
}

int ahead_claim(const dtl_board *board, int rank, int size) { return dtl_ahead_claim(ahead, board, rank, size, thread); }

int ahead_claim_place(uint64_t place, int rank, int size) {
    uint64_t nowhere = 0;
    if (__atomic_load_n(&ahead->other, __ATOMIC_RELAXED) != 0)
        return 0;
    if (__atomic_load_n(&ahead->board, __ATOMIC_RELAXED) == place)
        return 1;
    if (!__atomic_compare_exchange_n(&ahead->board, &nowhere, place, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return 0;
    __atomic_store_n(&ahead->rank, rank, __ATOMIC_RELAXED);
    __atomic_store_n(&ahead->size, size, __ATOMIC_RELAXED);
    __atomic_store_n(&ahead->thread, thread(), __ATOMIC_RELEASE);
    return 1;
}

/* all_made_it says whether all ranks have come to the call that this one has gone on from, and made the same. It looks as often as
 * the board says. The caller has the turn there. */
static int all_made_it(dtl_board *b, int rank, int size) {
    const dtl_entry *mine = dtl_entry_of(b, rank);
    if (__atomic_load_n(&mine->seq, __ATOMIC_RELAXED) != b->seq)
        return 0;
    for (int spins = b->spins; !dtl_all_came(b, size); dtl_pause())
        if (--spins < 0)
            return 0;
    return dtl_all_agree(b, size);
}

int ahead_confirm(void) {
    uint64_t on = __atomic_load_n(&ahead->board, __ATOMIC_ACQUIRE), nobody = 0;
    dtl_board *b = (dtl_board *)on;
    if (on == 0)
        return 1;
    if ((on & 1) != 0) /* it is not on a board: see nodes_begin */
        return 0;
    if (__atomic_load_n(&ahead->thread, __ATOMIC_ACQUIRE) != thread() ||
        !__atomic_compare_exchange_n(&b->turn, &nobody, DTL_OUTSIDE_GO, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return 0;
    int over = __atomic_load_n(&ahead->board, __ATOMIC_RELAXED) != on ||
               all_made_it(b, __atomic_load_n(&ahead->rank, __ATOMIC_RELAXED), __atomic_load_n(&ahead->size, __ATOMIC_RELAXED));
    if (over)
        dtl_ahead_end(ahead, b);
    __atomic_store_n(&b->turn, 0, __ATOMIC_RELEASE);
    return over;
}
