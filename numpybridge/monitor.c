//go:build cpython

/*
 * How often Go's monitor thread looks around.
 *
 * A thread that only ever calls in from C and out to MPI never passes through Go's scheduler, so the monitor takes it
 * for a goroutine that hogs its processor, and preempts it at every look: each 20 µs, which Linux makes 70. A rank
 * that is bound to one core shares it with the monitor, and short calls lost a third of their speed to that.
 *
 * The monitor sleeps with nanosleep, which may end as much later as the thread's timer slack says, and a thread gets
 * its slack from the one that starts it. So the thread that loads this library is given 10 ms while Go's runtime starts,
 * and its own slack back when Python initialises the module. Go's other threads have no short timers.
 */
#include <sys/prctl.h>

#include "module.h"

enum { SLACK = 10 * 1000 * 1000 }; /* nanoseconds */

/* The slack of the thread that loads the library, which goes on to initialise the module. */
static long before;

/* Constructors with a priority run before Go's, which has none. */
__attribute__((constructor(101))) static void slacken(void) {
    before = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
    if (before > 0)
        prctl(PR_SET_TIMERSLACK, SLACK, 0, 0, 0);
}

void restore_slack(void) {
    if (before > 0)
        prctl(PR_SET_TIMERSLACK, before, 0, 0, 0);
    before = 0;
}
