//go:build cpython

/*
 * A reserve of address space, for those who cannot be told that there is none.
 *
 * The Go runtime ends the process where the system gives it no memory for its heap, or no thread. So address space is kept
 * from the start, which is never touched and so takes no memory. When a mapping or a thread is refused to what
 * is linked into this library, the reserve is given back to the system, and the call made again. From then on the core
 * refuses new storage (core/memory), with an error that the program can handle, until the reserve can be mapped again.
 *
 * The library is linked with --wrap=mmap for that. The core's own mappings for elements are calls of
 * the kernel, which do not pass here; they fail with an error of their own.
 */
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/types.h>

#include "reserve.h"

/* What the linker makes of mmap; bridge.go has it do so. */
void *__real_mmap(void *, size_t, int, int, int, off_t);

__attribute__((visibility("hidden"))) void *__wrap_mmap(void *, size_t, int, int, int, off_t);

enum { HELD, CHANGING, GONE };

static _Atomic(int32_t) state = GONE;
static void *reserve;

void reserve_give_back(void) {
    int32_t held = HELD;
    if (atomic_compare_exchange_strong(&state, &held, CHANGING)) {
        munmap(reserve, RESERVE_BYTES);
        atomic_store(&state, GONE);
    }
    while (atomic_load(&state) == CHANGING) /* by another thread, for the same reason */
        sched_yield();
}

int reserve_keep(void) {
    int32_t gone = GONE;
    if (!atomic_compare_exchange_strong(&state, &gone, CHANGING))
        return gone == HELD;
    /* Writable, so that it is counted where the system counts what may be written to, as it counts Go's heap. */
    void *at = __real_mmap(NULL, RESERVE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    reserve = at;
    atomic_store(&state, at == MAP_FAILED ? GONE : HELD);
    return at != MAP_FAILED;
}

int32_t *reserve_state(void) { return (int32_t *)&state; }

void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset) {
    void *mapped = __real_mmap(at, bytes, protection, flags, file, offset);
    if (mapped != MAP_FAILED || errno != ENOMEM)
        return mapped;
    reserve_give_back();
    return __real_mmap(at, bytes, protection, flags, file, offset);
}
