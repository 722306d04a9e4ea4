/* Kernels of the tests' driver as it runs them: a part of cuda.c. */
#ifndef FAKE_KERNELS_H
#define FAKE_KERNELS_H

/* Which thread of a GPU runs, and of how many: kernels ask. */
long long fake_thread, fake_threads;

/* Below are numbers, such as the bits of float32, which the heap of a process may also reach, and with AddressSanitizer its own memory. */
#ifdef __SANITIZE_ADDRESS__
static const uintptr_t lowest = (uintptr_t)1 << 45;
#else
static const uintptr_t lowest = (uintptr_t)1 << 32;
#endif

/* is_mapped says whether an address is in memory of this process. */
static int is_mapped(const char *at) {
    unsigned char there;
    const uintptr_t page = (uintptr_t)at & ~(uintptr_t)4095;
    return page >= lowest && page < (uintptr_t)1 << 47 && mincore((void *)page, 1, &there) == 0;
}

/* is_reached says whether a kernel can touch what is at an address, or has another use for the number. */
static int is_reached(const op *o, const char *at) {
    for (int i = 0; i < MOST_DEVICES; i++) {
        const device *d = &devices[i];
        if (d->outer != NULL && at >= d->outer && at < d->outer + d->size)
            return i == o->device;
    }
    return block_of(at) != NULL || fake_loan(at) != NULL || pinned_at(at) != NULL || !is_mapped(at);
}

/* run runs each thread of a kernel, one after the other, in an order that is none of theirs. Its argument consists of words: those that
 * are addresses of a device's memory become those where the driver finds it, and others, also of what has been freed, stay as they are. */
static int run(const op *o) {
    typedef struct {
        long long words[MOST_ARGUMENTS / sizeof(long long)]; /* of which a kernel takes as many as it has: they are on the stack */
    } structure;
    const unsigned long long prime = 2654435761; /* of which no number of threads is a multiple */
    void (*function)(structure) = (void (*)(structure))o->kernel->run;
    structure argument;
    memcpy(&argument, o->argument, sizeof argument);
    for (size_t i = 0; i < o->kernel->bytes / sizeof *argument.words; i++) {
        const char *given = (char *)(uintptr_t)argument.words[i];
        char *at = seen(given, 0);
        if (!is_reached(o, given)) {
            fprintf(stderr, "a kernel is given address %p, which GPU %d does not reach\n", (const void *)given, o->device);
            return ILLEGAL_ADDRESS;
        }
        argument.words[i] = at != NULL ? (long long)(uintptr_t)at : argument.words[i];
    }
    fake_threads = o->threads;
    for (long long i = 0; i < fake_threads; i++) {
        fake_thread = (long long)((unsigned long long)i * prime % (unsigned long long)fake_threads);
        function(argument);
    }
    return OK;
}

#endif
