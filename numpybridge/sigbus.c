//go:build cpython

/*
 * A file that shrinks while it is mapped ends the process by SIGBUS at the next access of a page that it has no more, or that
 * the disk cannot read. The handler puts a page of zeros in its place and counts that, so that the access goes on, and the call
 * that made it raises an error when it is over. Every other SIGBUS goes to the handler that was there before, which is the Go
 * runtime's.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sigbus.h"

enum { MOST = 4096 };

static struct {
    _Atomic(uintptr_t) from, bytes; /* of no bytes: free */
    _Atomic int broken;
} watched[MOST];

static _Atomic(int32_t) count;
static _Atomic int highest; /* number of mappings that are looked at */
static struct sigaction before; /* the handler in front of which this one was put last */
static _Atomic pid_t passing;   /* the thread that is in it */
static uintptr_t page;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/*
 * pass_on does with a signal what would be done without this handler. The one of faulthandler raises the signal again, for the
 * handler that it found, which may be this one: that ends the process, as otherwise the two would call each other for ever.
 */
static void pass_on(int signal, siginfo_t *info, void *context) {
    static const struct sigaction end = {.sa_handler = SIG_DFL};
    pid_t mine = (pid_t)syscall(SYS_gettid);
    const struct sigaction *next = atomic_load(&passing) == mine ? &end : &before;
    if (!(next->sa_flags & SA_SIGINFO) && (next->sa_handler == SIG_DFL || next->sa_handler == SIG_IGN)) {
        sigaction(signal, next, NULL); /* and the access is made again */
        return;
    }
    atomic_store(&passing, mine);
    if (next->sa_flags & SA_SIGINFO)
        next->sa_sigaction(signal, info, context);
    else
        next->sa_handler(signal);
    atomic_store(&passing, 0);
}

static void handle(int signal, siginfo_t *info, void *context) {
    uintptr_t at = (uintptr_t)info->si_addr;
    int error = errno, n = atomic_load(&highest);
    for (int i = 0; i < n && info->si_code > 0; i++) { /* otherwise a process has sent it, and there is no address */
        if (at - atomic_load(&watched[i].from) >= atomic_load(&watched[i].bytes))
            continue;
        /* The call itself, since the library's is wrapped. Of the kernel's calls, it is one that handlers may make. */
        if (syscall(SYS_mmap, at & ~(page - 1), page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == -1)
            break;
        if (atomic_exchange(&watched[i].broken, 1) == 0)
            atomic_fetch_add(&count, 1);
        errno = error;
        return;
    }
    pass_on(signal, info, context);
}

/* displaced says whether another handler is in front, and which. */
static int displaced(struct sigaction *now) {
    return sigaction(SIGBUS, NULL, now) == 0 && !((now->sa_flags & SA_SIGINFO) && now->sa_sigaction == handle);
}

/* install puts the handler in front of any other. The caller holds the lock. */
static void install(void) {
    struct sigaction now, ours = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    if (!displaced(&now))
        return;
    page = (uintptr_t)sysconf(_SC_PAGESIZE);
    before = now;
    sigemptyset(&ours.sa_mask);
    sigaction(SIGBUS, &ours, NULL);
}

void sigbus_renew(void) {
    struct sigaction now;
    if (!displaced(&now))
        return;
    pthread_mutex_lock(&lock);
    install();
    pthread_mutex_unlock(&lock);
}

int sigbus_watch(uintptr_t from, uintptr_t bytes) {
    int number = -1;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MOST && number < 0; i++)
        if (atomic_load(&watched[i].bytes) == 0)
            number = i;
    if (number >= 0) {
        install();
        atomic_store(&watched[number].broken, 0);
        atomic_store(&watched[number].from, from);
        atomic_store(&watched[number].bytes, bytes);
        if (number >= atomic_load(&highest))
            atomic_store(&highest, number + 1);
    }
    pthread_mutex_unlock(&lock);
    return number;
}

void sigbus_unwatch(int number) { atomic_store(&watched[number].bytes, 0); }

void sigbus_break(int number) { atomic_store(&watched[number].broken, 1); }

int sigbus_broken(int number) { return atomic_load(&watched[number].broken); }

int32_t *sigbus_count(void) { return (int32_t *)&count; }
