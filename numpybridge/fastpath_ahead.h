/* Ranks that go on from a call before the others have come. */
#ifndef DTL_FASTPATH_AHEAD_H
#define DTL_FASTPATH_AHEAD_H

#include "interpreter.h"

#pragma GCC visibility push(hidden)

/* Of which ranks this process is ahead. */
extern dtl_ahead *ahead;

/* ahead_prepare finds the memory that ahead points to. */
void ahead_prepare(void);

/* ahead_claim says whether a rank may go on from a call on a board. */
int ahead_claim(const dtl_board *board, int rank, int size);

/* ahead_claim_place says whether a rank may go on from a call where ranks of several nodes meet, a place that is known by a number. */
int ahead_claim_place(uint64_t place, int rank, int size);

/* ahead_end says that this process is not ahead on a board any more. */
static inline void ahead_end(const dtl_board *board) { dtl_ahead_end(ahead, board); }

/* ahead_confirm waits a moment until this process is ahead no more, and says whether it is not. Else Go makes the call. */
int ahead_confirm(void);

/* ahead_confirmed says the same without waiting where this process is not ahead, or only on the board on which it calls now; NULL: on none. */
static inline int ahead_confirmed(const dtl_board *board) {
    uint64_t on = __atomic_load_n(&ahead->board, __ATOMIC_RELAXED);
    return on == 0 || on == (uint64_t)board || ahead_confirm();
}

#pragma GCC visibility pop

#endif
