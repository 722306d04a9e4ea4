//go:build cpython

/*
 * How often Go's monitor thread looks around.
 *
 * A thread that only ever calls in from C and out to MPI never passes through Go's scheduler, so the monitor takes it
 * for a goroutine that hogs its processor, and preempts it at every look: each 20 µs, which Linux makes 70. A rank
 * that is bound to one core shares it with the monitor, and short calls lost a third of their speed to that.
 *
 * The monitor sleeps with nanosleep, which may end as much later as the thread's timer slack says. So it is given 10 ms.
 * All others keep the usual one, also those that the monitor starts: a thread that looks for work sleeps for some
 * microseconds before it takes another's newest goroutine.
 *
 * Every thread that Go starts passes here, since the library is linked with --wrap=pthread_create. The first one runs
 * Go's own start; what that starts first is the monitor, by the function that all threads from then on begin with.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "reserve.h"

/* What the linker makes of pthread_create; bridge.go has it do so. */
int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

__attribute__((visibility("hidden"))) int
__wrap_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

enum { SLACK = 10 * 1000 * 1000 }; /* nanoseconds */

/* thread is the function that a new thread calls, and its argument. */
typedef struct {
    void *(*start)(void *);
    void *argument;
    long slack;
} thread;

static void *begin(void *passed) {
    thread t = *(thread *)passed;
    free(passed);
    if (t.slack > 0)
        prctl(PR_SET_TIMERSLACK, t.slack, 0, 0, 0);
    return t.start(t.argument);
}

/* slack_of returns the timer slack of a thread that begins with start. */
static long slack_of(void *(*start)(void *)) {
    static _Atomic(void *) first;
    static atomic_flag begun = ATOMIC_FLAG_INIT;
    static long usual;
    void *none = NULL;
    if (atomic_compare_exchange_strong(&first, &none, (void *)start))
        usual = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
    else if (atomic_load(&first) != (void *)start && !atomic_flag_test_and_set(&begun))
        return SLACK;
    return usual;
}

/* create is pthread_create, with the reserve's address space where there is none left for a stack. */
static int create(pthread_t *id, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
    int error = __real_pthread_create(id, attributes, start, argument);
    if (error != EAGAIN && error != ENOMEM)
        return error;
    reserve_give_back();
    return __real_pthread_create(id, attributes, start, argument);
}

int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
    thread *t = malloc(sizeof *t);
    if (t == NULL)
        return create(id, attributes, start, argument);
    *t = (thread){start, argument, slack_of(start)};
    int error = create(id, attributes, begin, t);
    if (error)
        free(t);
    return error;
}
