/* Calls that are computed on several threads of a rank. */
#ifndef DTL_THREADS_H
#define DTL_THREADS_H

#include "interpreter.h"
#include "loops.h"

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

#endif
