/* Calls that are computed on several threads of a rank. */
#ifndef DTL_THREADS_H
#define DTL_THREADS_H

#include "interpreter.h"
#include "loops.h"
#include <stdatomic.h>

/* threads_at_most returns on how many threads a call runs that may have so many; 0 is all of this rank. */
static inline int threads_at_most(int most) {
    const int all = dtl_threads();
    return most > 0 && most < all ? most : all;
}

/* run_on_threads has so many threads do a task, which takes pieces from the context until there is none. The caller does not have the
 * interpreter's lock. */
static inline void run_on_threads(int threads, dtl_task task, void *context) {
    if (threads > 1)
        dtl_parallel(threads, task, context);
    else
        task(0, context);
}

/* pieces says how many pieces of a call the threads have taken: of the first ones in the lower half, of the last ones in the upper one. */
typedef atomic_ullong pieces;

/* take_piece has a thread take one of so many pieces, fewer than 2^32, and says whether there is one left. Every other thread begins with the
 * last: one that goes through memory piece by piece is faster than two that take turns. */
static inline int take_piece(pieces *taken, long long thread, ptrdiff_t count, ptrdiff_t *piece) {
    const int is_last = (thread & 1) != 0;
    const unsigned long long back = 1ULL << 32;
    unsigned long long old = atomic_load(taken);
    do {
        const ptrdiff_t first = (ptrdiff_t)(old % back), end = count - (ptrdiff_t)(old / back);
        if (first >= end)
            return 0;
        *piece = is_last ? end - 1 : first;
    } while (!atomic_compare_exchange_weak(taken, &old, old + (is_last ? back : 1)));
    return 1;
}

/* pieces_of says how many pieces there are of so many elements each, the last one of which may have fewer. */
static inline ptrdiff_t pieces_of(ptrdiff_t n, ptrdiff_t each) { return (n + each - 1) / each; }

#endif
