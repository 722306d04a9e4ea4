/* A driver for tests on machines without a GPU: compiled as libcuda.so.1, or with HIP's names as libamdhip64.so.6, it takes the real
 * one's place.
 *
 * It is stricter than a GPU, so that a mistake shows every time:
 *   - A device's addresses cannot be touched by the CPU. The driver sees the same memory at other addresses.
 *   - A stream runs only when somebody waits for it, or for an event that follows it.
 *   - New memory is full of 0xA5, freed memory of 0xDE, and an address is used again as late as possible.
 *   - Managed memory cannot be touched by the CPU while anything is queued, as where
 *     CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS is 0; of pinned memory, it cannot touch the pages that a queued copy reads or
 *     writes.
 *   - Every call that needs a current context fails without one.
 *   - The threads of a kernel run in no order of their own. A kernel can touch the host's pageable memory or another device's as little
 *     as on a machine whose devices are not connected, and a copy to where it overlaps what is copied ends the process.
 *   - Blocks share pages, and what is lent to other processes are pages: an address is somewhere in one.
 *   - After an illegal access, every call that needs a context returns that error.
 *   - Compiled with AddressSanitizer, it ends the process when a kernel touches memory of its device that nobody has allocated.
 *
 * The environment says what there is: DTL_FAKE_GPU_COUNT devices (1) of DTL_FAKE_GPU_MEMORY bytes (64 MiB), of which, where
 * DTL_FAKE_GPU_CONCURRENT is 1, the CPU can touch managed memory at any time, and which, where DTL_FAKE_GPU_INSTANCE tells processes
 * apart, are parts of one; and which calls fail:
 * DTL_FAKE_GPU_FAIL=symbol:n:error[,...] has the n-th call of a symbol, from 1 on, return the error, and, with a + behind it, every
 * later call that needs a context, too. With DTL_FAKE_GPU_REACHED=1, the CPU can touch devices' addresses: it stands for a network that
 * reaches a GPU's memory.
 *
 * Functions that begin with fake_ are for tests. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#endif

#include "names.h" /* of the folder cuda or hip */
#include "parts.h"

enum {
    OK = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3, NO_DEVICE = 100, INVALID_DEVICE = 101,
    INVALID_CONTEXT = 201, INVALID_HANDLE = 400, NOT_FOUND = 500, NOT_READY = 600, ILLEGAL_ADDRESS = 700,
};
enum { MOST_DEVICES = 8, GRAIN = 512, PAGE_OF_BLOCKS = 4096, DEEPEST = 16 };

typedef struct stream stream;

typedef struct event {
    int device;
    stream *in;              /* where it was recorded last */
    unsigned long recorded;  /* how often */
    unsigned long done;      /* the last of these that the stream has come to */
    int users;               /* the program, and operations that name it */
    int left;                /* of one that was recorded for a context: the streams that have not come to it */
} event;

typedef enum { COPY, FILL, RECORD, WAIT, RUN, CALL } kind;

enum { MOST_ARGUMENTS = 512 };

/* A kernel is a function of the same source, compiled for the processor. Its argument is a structure. */
typedef struct {
    void (*run)(void);
    size_t bytes;
} kernel;

typedef struct op {
    kind kind;
    char *to;
    const char *from;
    size_t count, item;
    unsigned value;
    event *event;
    stream *of; /* of a WAIT: the stream that comes to the event */
    unsigned long serial;
    const kernel *kernel;
    long long threads;
    int device; /* of a RUN */
    char argument[MOST_ARGUMENTS];
    int (*call)(void *); /* of a CALL: it returns NOT_READY to be called again */
    void *with;
    struct op *next;
} op;

struct stream {
    int device;
    op *first, **last;
    stream *next;
};

typedef struct block {
    char *at;     /* as the program knows it */
    size_t size;
    int device;
    int managed;  /* or the device's own */
    int allowed;  /* what the processor may do with managed memory */
    struct block *next;
} block;

/* A context is known by the address of its device. */
typedef struct {
    int retained;
    char *outer, *inner; /* the same memory: for the program, and for the driver */
    int file;            /* which has it, for other processes, too */
    size_t size, next;   /* where the search for room begins */
    int broken;          /* the error of an illegal access */
    stream legacy;
} device;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static device devices[MOST_DEVICES];
static int started;
static long copied[2]; /* bytes from devices to the host, and back */
static stream *streams;
static block *blocks;
static int events;
static _Thread_local device *current[DEEPEST];
static _Thread_local int depth;
_Thread_local int fake_last;

static long variable(const char *name, long otherwise) {
    const char *text = getenv(name);
    return text != NULL && *text ? atol(text) : otherwise;
}

static int count(void) {
    long n = variable("DTL_FAKE_GPU_COUNT", 1);
    return n > MOST_DEVICES ? MOST_DEVICES : (int)n;
}

__attribute__((constructor)) static void begin(void) {
    for (int i = 0; i < MOST_DEVICES; i++) {
        devices[i].legacy.device = i;
        devices[i].legacy.last = &devices[i].legacy.first;
    }
}

/* failing returns the error of a call that is to fail. The caller holds the lock. */
static int failing(const char *symbol) {
    int code = fake_failing(symbol);
    return code != OK ? code : started ? OK : NOT_INITIALIZED;
}

/* Every function of the driver begins with ENTER, and ends with LEAVE. */
#define ENTER()                          \
    pthread_mutex_lock(&lock);           \
    int rc = failing(__func__);          \
    if (rc != OK)                        \
    LEAVE(rc)
#define LEAVE(result)                    \
    do {                                 \
        rc = (result);                   \
        fake_last = rc != OK ? rc : fake_last; \
        pthread_mutex_unlock(&lock);     \
        return rc;                       \
    } while (0)
#define NEED_CONTEXT()                   \
    device *on = depth > 0 ? current[depth - 1] : AT_FIRST; \
    if (on == NULL)                      \
        LEAVE(INVALID_CONTEXT);          \
    if (on->broken != OK || fake_lasting() != OK) \
    LEAVE(on->broken != OK ? on->broken : fake_lasting())

/* ---- Memory ---- */

static block *block_of(const char *at) {
    for (block *b = blocks; b != NULL; b = b->next)
        if (at >= b->at && at < b->at + (b->size > 0 ? b->size : 1))
            return b;
    return NULL;
}

#include "pinned.h"

/* seen returns where the driver finds n bytes at an address; NULL where that is no memory of the program's. */
static char *seen(const char *at, size_t n) {
    for (int i = 0; i < MOST_DEVICES; i++) {
        device *d = &devices[i];
        if (d->outer != NULL && at >= d->outer && at < d->outer + d->size) {
            block *b = block_of(at);
            return b != NULL && at + n <= b->at + b->size ? d->inner + (at - d->outer) : NULL;
        }
    }
    if (fake_loan(at) != NULL)
        return fake_loaned(at, n);
    const pinned *p = pinned_at(at);
    if (p != NULL)
        return at + n <= p->outer + p->size ? p->inner + (at - p->outer) : NULL;
    block *b = block_of(at);
    return b != NULL && at + n > b->at + b->size ? NULL : (char *)at;
}

/* of_host says whether an address is none of a device's. */
static int of_host(const char *at) {
    return block_of(at) == NULL && fake_loan(at) == NULL;
}

static int idle(void) {
    for (stream *s = streams; s != NULL; s = s->next)
        if (s->first != NULL)
            return 0;
    for (int i = 0; i < MOST_DEVICES; i++)
        if (devices[i].legacy.first != NULL)
            return 0;
    return 1;
}

static int concurrent(void) { return variable("DTL_FAKE_GPU_CONCURRENT", 0) != 0; }

static void allow(int protection) {
    for (block *b = concurrent() ? NULL : blocks; b != NULL; b = b->next)
        if (b->managed && b->allowed != protection)
            mprotect(b->at, b->size, b->allowed = protection);
}

/* ---- Streams ---- */

static int step(stream *s);

static void forget(event *e) {
    if (--e->users == 0)
        free(e);
}

static void fill(char *to, const op *o) {
    for (size_t i = 0; i < o->count; i++)
        memcpy(to + i * o->item, &o->value, o->item);
}

#include "kernels.h"

/* carry_out does one operation. */
static int carry_out(op *o) {
    char *to, *from;
    switch (o->kind) {
    case COPY:
        count_copy(o, -1);
        to = seen(o->to, o->count), from = seen(o->from, o->count);
        if (to == NULL || from == NULL)
            return ILLEGAL_ADDRESS;
        if (to < from + o->count && from < to + o->count) {
            fprintf(stderr, "%zu bytes are copied to where they are, %td bytes further on\n", o->count, to - from);
            abort();
        }
        memcpy(to, from, o->count);
        return OK;
    case FILL:
        to = seen(o->to, o->count * o->item);
        if (to == NULL)
            return ILLEGAL_ADDRESS;
        fill(to, o);
        return OK;
    case RECORD:
        if (o->event->in == NULL && o->serial == o->event->recorded && --o->event->left > 0) {
            forget(o->event);
            return OK;
        }
        if (o->event->done < o->serial)
            o->event->done = o->serial;
        forget(o->event);
        return OK;
    case RUN:
        return run(o);
    case CALL:
        return o->call(o->with);
    case WAIT:
        break;
    }
    int rc = OK;
    while (rc == OK && o->event->done < o->serial && o->of->first != NULL)
        rc = step(o->of);
    if (rc != NOT_READY)
        forget(o->event);
    return rc;
}

/* step carries out the first operation of a stream. */
static int step(stream *s) {
    op *o = s->first;
    s->first = o->next;
    if (s->first == NULL)
        s->last = &s->first;
    allow(PROT_READ | PROT_WRITE);
    int rc = carry_out(o);
    if (rc == ILLEGAL_ADDRESS)
        devices[s->device].broken = rc;
    if (rc == NOT_READY) { /* it is still the first */
        o->next = s->first;
        s->last = o->next == NULL ? &o->next : s->last;
        s->first = o;
    }
    if (rc != NOT_READY)
        free(o);
    return rc;
}

/* stopped follows steps. While anything is queued, managed memory is not the program's. */
static int stopped(int rc) {
    if (!idle())
        allow(PROT_NONE);
    return rc;
}

static int drain(stream *s) {
    int rc = OK;
    while (s->first != NULL) {
        int did = step(s);
        rc = rc == OK && did != NOT_READY ? did : rc;
    }
    return stopped(rc);
}

static int drain_device(int number) {
    int rc = drain(&devices[number].legacy);
    for (stream *s = streams; s != NULL; s = s->next)
        if (s->device == number) {
            int did = drain(s);
            rc = rc == OK ? did : rc;
        }
    return rc;
}

/* stream_of finds the stream of a handle: 0, 1 and 2 are the device's own. */
static stream *stream_of(device *on, void *handle) {
    if ((uintptr_t)handle <= LAST_DEFAULT_STREAM)
        return &on->legacy;
    for (stream *s = streams; s != NULL; s = s->next)
        if (s == handle)
            return s;
    return NULL;
}

/* append puts an operation at the end of a stream. */
static void append(stream *s, op o) {
    op *made = malloc(sizeof *made);
    *made = o;
    made->next = NULL;
    *s->last = made;
    s->last = &made->next;
}

/* queue is append for a stream of a device, which a handle names. */
static int queue(device *on, void *handle, op o) {
    stream *s = stream_of(on, handle);
    if (s == NULL)
        return INVALID_HANDLE;
    if (&devices[s->device] != on)
        return INVALID_CONTEXT;
    append(s, o);
    if (o.kind == COPY)
        count_copy(&o, 1);
    allow(PROT_NONE);
    return OK;
}

/* ---- Devices ---- */

int cuInit(unsigned flags) {
    pthread_mutex_lock(&lock);
    int rc = failing(__func__);
    if (rc == OK || (rc == NOT_INITIALIZED && !started)) {
        rc = flags != 0 ? INVALID_VALUE : count() > 0 ? OK : NO_DEVICE;
        started = rc == OK;
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

int cuDriverGetVersion(int *version) {
    ENTER();
    *version = DRIVER_VERSION;
    LEAVE(OK);
}

int cuDeviceGetCount(int *n) {
    ENTER();
    *n = count();
    LEAVE(OK);
}

int cuDeviceGet(int *which, int number) {
    ENTER();
    *which = number;
    LEAVE(number >= 0 && number < count() ? OK : INVALID_DEVICE);
}

int cuDeviceGetName(char *name, int length, int which) {
    ENTER();
    snprintf(name, (size_t)length, "Fake GPU %d", which);
    LEAVE(OK);
}

int cuDeviceGetUuid(unsigned char *uuid, int which) {
    ENTER();
    memset(uuid, 'U', 16);
    uuid[15] = (unsigned char)which;
    LEAVE(OK);
}

int cuDeviceGetUuid_v2(unsigned char *uuid, int which) {
    ENTER();
    memset(uuid, 'U', 16);
    uuid[14] = (unsigned char)variable("DTL_FAKE_GPU_INSTANCE", 'U');
    uuid[15] = (unsigned char)which;
    LEAVE(OK);
}

int cuDeviceGetAttribute(int *value, int attribute, int which) {
    ENTER();
    switch (attribute) {
    case MANAGED_MEMORY: *value = (int)variable("DTL_FAKE_GPU_MANAGED", 1); break;
    case CONCURRENT_MANAGED: *value = concurrent(); break;
    case MULTIPROCESSORS: *value = 4; break;
    case CAPABILITY_MAJOR: *value = 9; break;
    case CAPABILITY_MINOR: *value = 0; break;
    default: LEAVE(INVALID_VALUE);
    }
    LEAVE(OK);
}

int cuDevicePrimaryCtxRetain(void **context, int which) {
    ENTER();
    if (which < 0 || which >= count())
        LEAVE(INVALID_DEVICE);
    device *d = &devices[which];
    if (d->outer == NULL) {
        d->size = (size_t)variable("DTL_FAKE_GPU_MEMORY", 64 << 20);
        const int allowed = variable("DTL_FAKE_GPU_REACHED", 0) ? PROT_READ | PROT_WRITE : PROT_NONE;
        d->file = fake_map(d->size, allowed, &d->outer, &d->inner);
        if (d->file < 0)
            LEAVE(OUT_OF_MEMORY);
        ASAN_POISON_MEMORY_REGION(d->inner, d->size);
    }
    d->retained++;
    *context = d;
    LEAVE(OK);
}

int cuCtxGetCurrent(void **context) {
    ENTER();
    *context = depth > 0 ? current[depth - 1] : AT_FIRST;
    LEAVE(OK);
}

int cuCtxPushCurrent_v2(void *context) {
    ENTER();
    device *d = context;
    if (d < devices || d >= devices + MOST_DEVICES || d->retained == 0 || depth == DEEPEST)
        LEAVE(INVALID_CONTEXT);
    current[depth++] = d;
    LEAVE(OK);
}

int cuCtxPopCurrent_v2(void **context) {
    ENTER();
    if (depth == 0)
        LEAVE(INVALID_CONTEXT);
    *context = current[--depth];
    LEAVE(OK);
}

#include "contexts.h"

int cuCtxSynchronize(void) {
    ENTER();
    NEED_CONTEXT();
    LEAVE(drain_device((int)(on - devices)));
}

/* ---- Allocation ---- */

static block **place_of(const char *at) {
    block **b = &blocks;
    while (*b != NULL && (*b)->at < at)
        b = &(*b)->next;
    return b;
}

static void enter_block(char *at, size_t size, device *on, int managed) {
    block **where = place_of(at), *b = calloc(1, sizeof *b);
    *b = (block){.at = at, .size = size, .device = (int)(on - devices), .managed = managed, .allowed = PROT_READ | PROT_WRITE, .next = *where};
    *where = b;
}

/* room returns the offset of free memory at or after from; the device's size where there is none. */
static size_t room(device *d, size_t from, size_t size) {
    for (block *b = blocks; b != NULL; b = b->next) {
        if (b->managed || b->device != d - devices || b->at + b->size <= d->outer + from)
            continue;
        size_t begins = (size_t)(b->at - d->outer);
        if (from + size <= begins)
            return from;
        from = (begins + b->size + GRAIN - 1) / GRAIN * GRAIN;
    }
    return from + size <= d->size ? from : d->size;
}

int cuMemAlloc_v2(unsigned long long *at, size_t size) {
    ENTER();
    NEED_CONTEXT();
    if (size == 0)
        LEAVE(INVALID_VALUE);
    size_t offset = room(on, on->next, size);
    if (offset == on->size)
        offset = room(on, 0, size);
    if (offset == on->size)
        LEAVE(OUT_OF_MEMORY);
    on->next = (offset + size + GRAIN - 1) / GRAIN * GRAIN;
    enter_block(on->outer + offset, size, on, 0);
    ASAN_UNPOISON_MEMORY_REGION(on->inner + offset, size);
    memset(on->inner + offset, 0xA5, size);
    *at = (unsigned long long)(uintptr_t)(on->outer + offset);
    LEAVE(OK);
}

int cuMemAllocManaged(unsigned long long *at, size_t size, unsigned flags) {
    ENTER();
    NEED_CONTEXT();
    if (size == 0 || flags != 1)
        LEAVE(INVALID_VALUE);
    char *made = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED)
        LEAVE(OUT_OF_MEMORY);
    memset(made, 0xA5, size);
    enter_block(made, size, on, 1);
    *at = (unsigned long long)(uintptr_t)made;
    LEAVE(OK);
}

#include "lent.h"

int cuMemFree_v2(unsigned long long at) {
    ENTER();
    NEED_CONTEXT();
    (void)on;
    block **where = place_of((char *)(uintptr_t)at), *b = *where;
    if (b == NULL || b->at != (char *)(uintptr_t)at)
        LEAVE(INVALID_VALUE);
    int did = drain_device(b->device);
    if (b->managed) {
        munmap(b->at, b->size);
    } else {
        memset(seen(b->at, b->size), 0xDE, b->size);
        ASAN_POISON_MEMORY_REGION(seen(b->at, b->size), b->size);
    }
    *where = b->next;
    free(b);
    LEAVE(did);
}

int cuMemHostAlloc(void **at, size_t size, unsigned flags) {
    ENTER();
    NEED_CONTEXT();
    (void)on, (void)flags;
    LEAVE(make_pinned(at, size));
}

int cuMemFreeHost(void *at) {
    ENTER();
    NEED_CONTEXT();
    (void)on;
    LEAVE(free_pinned(at));
}

int cuMemGetInfo_v2(size_t *left, size_t *total) {
    ENTER();
    NEED_CONTEXT();
    *left = *total = on->size;
    for (block *b = blocks; b != NULL; b = b->next)
        if (!b->managed && b->device == on - devices)
            *left -= b->size;
    LEAVE(OK);
}

int cuPointerGetAttribute(void *data, int attribute, unsigned long long at) {
    ENTER();
    NEED_CONTEXT();
    (void)on;
    const block *b = block_of((char *)(uintptr_t)at);
    if (b == NULL)
        LEAVE(INVALID_VALUE);
    switch (attribute) {
    case 1: *(device **)data = &devices[b->device]; break;
    case 2: *(unsigned *)data = 2; break; /* a device's */
    case 8: *(unsigned *)data = (unsigned)b->managed; break;
    case 9: *(int *)data = b->device; break;
    default: LEAVE(INVALID_VALUE);
    }
    LEAVE(OK);
}

/* ---- Work ---- */

int cuMemcpyAsync(unsigned long long to, unsigned long long from, size_t n, void *in) {
    ENTER();
    NEED_CONTEXT();
    char *dst = (char *)(uintptr_t)to, *src = (char *)(uintptr_t)from;
    if (n > 0 && (seen(dst, n) == NULL || seen(src, n) == NULL))
        LEAVE(INVALID_VALUE);
    copied[0] += of_host(dst) ? (long)n : 0;
    copied[1] += of_host(src) ? (long)n : 0;
    LEAVE(queue(on, in, (op){.kind = COPY, .to = dst, .from = src, .count = n}));
}

static int fill_later(device *on, unsigned long long to, unsigned value, size_t item, size_t n, void *in) {
    char *dst = (char *)(uintptr_t)to;
    if (to % item != 0 || (n > 0 && (block_of(dst) == NULL || seen(dst, n * item) == NULL)))
        return INVALID_VALUE;
    return queue(on, in, (op){.kind = FILL, .to = dst, .value = value, .item = item, .count = n});
}

int cuMemsetD8Async(unsigned long long to, unsigned char value, size_t n, void *in) {
    ENTER();
    NEED_CONTEXT();
    LEAVE(fill_later(on, to, value, 1, n, in));
}

int cuMemsetD16Async(unsigned long long to, unsigned short value, size_t n, void *in) {
    ENTER();
    NEED_CONTEXT();
    LEAVE(fill_later(on, to, value, 2, n, in));
}

int cuMemsetD32Async(unsigned long long to, unsigned value, size_t n, void *in) {
    ENTER();
    NEED_CONTEXT();
    LEAVE(fill_later(on, to, value, 4, n, in));
}

int cuStreamCreateWithPriority(void **made, unsigned flags, int priority) {
    ENTER();
    NEED_CONTEXT();
    (void)priority;
    if (flags != 1)
        LEAVE(INVALID_VALUE); /* one that waits for the legacy stream, too, which these tests do not pretend */
    stream *s = calloc(1, sizeof *s);
    *s = (stream){.device = (int)(on - devices), .next = streams};
    s->last = &s->first;
    streams = s;
    *made = s;
    LEAVE(OK);
}

int cuStreamDestroy_v2(void *handle) {
    ENTER();
    NEED_CONTEXT();
    stream *s = (uintptr_t)handle <= LAST_DEFAULT_STREAM ? NULL : stream_of(on, handle);
    if (s == NULL)
        LEAVE(INVALID_HANDLE);
    int did = drain(s);
    stream **where;
    for (where = &streams; *where != s; where = &(*where)->next) {}
    *where = s->next;
    free(s);
    LEAVE(did);
}

int cuStreamSynchronize(void *handle) {
    ENTER();
    NEED_CONTEXT();
    stream *s = stream_of(on, handle);
    LEAVE(s == NULL ? INVALID_HANDLE : drain(s));
}

/* A stream that is asked goes one operation on, so that whoever polls comes to an end. */
int cuStreamQuery(void *handle) {
    ENTER();
    NEED_CONTEXT();
    stream *s = stream_of(on, handle);
    if (s == NULL)
        LEAVE(INVALID_HANDLE);
    if (s->first == NULL)
        LEAVE(OK);
    int did = stopped(step(s));
    LEAVE(did != OK ? did : NOT_READY);
}

int cuStreamWaitEvent(void *handle, void *what, unsigned flags) {
    ENTER();
    NEED_CONTEXT();
    event *e = what;
    stream *s = stream_of(on, handle);
    if (s == NULL || flags != 0)
        LEAVE(INVALID_HANDLE);
    if (e->done == e->recorded)
        LEAVE(OK);
    e->users++;
    append(s, (op){.kind = WAIT, .event = e, .of = e->in, .serial = e->recorded});
    allow(PROT_NONE);
    LEAVE(OK);
}

#include "events.h"

/* ---- Kernels ---- */

/* What a module defines is run as the function of that name that is compiled into this driver. */
int cuModuleLoadDataEx(void **module, const void *image, unsigned n, int *options, void **values) {
    ENTER();
    NEED_CONTEXT();
    (void)on, (void)options, (void)values;
    *module = fake_module(image, &rc);
    LEAVE(n != 0 ? INVALID_VALUE : rc);
}

int cuModuleGetFunction(void **function, void *module, const char *name) {
    ENTER();
    NEED_CONTEXT();
    (void)on;
    const size_t bytes = fake_argument(module, name);
    if (bytes == 0)
        LEAVE(NOT_FOUND);
    kernel *k = calloc(1, sizeof *k);
    k->bytes = bytes;
    Dl_info here;
    void *self = dladdr((void *)(uintptr_t)cuInit, &here) != 0 ? dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD) : NULL;
    *(void **)&k->run = self != NULL ? dlsym(self, name) : NULL;
    if (k->run == NULL || k->bytes <= 16 || k->bytes > MOST_ARGUMENTS) {
        fprintf(stderr, "kernel %s is in the module, with %zu bytes, and not in this driver: make kernels\n", name, k->bytes);
        abort();
    }
    *function = k;
    LEAVE(OK);
}

int cuLaunchKernel(void *function, unsigned blocks, unsigned by, unsigned bz, unsigned threads, unsigned ty, unsigned tz,
                   unsigned shared, void *in, void **arguments, void **extra) {
    ENTER();
    NEED_CONTEXT();
    const kernel *k = function;
    if (blocks == 0 || threads == 0 || threads > 1024 || by != 1 || bz != 1 || ty != 1 || tz != 1 || shared != 0 || extra != NULL)
        LEAVE(INVALID_VALUE);
    op o = {.kind = RUN, .kernel = k, .device = (int)(on - devices), .threads = (long long)blocks * threads};
    memcpy(o.argument, arguments[0], k->bytes);
    LEAVE(queue(on, in, o));
}

/* ---- For tests ---- */

/* fake_queue has a stream come to a call, as a library does whose kernels wait for other devices. */
int fake_queue(void *in, int (*call)(void *), void *with) {
    ENTER();
    NEED_CONTEXT();
    LEAVE(queue(on, in, (op){.kind = CALL, .call = call, .with = with}));
}

/* fake_device returns the number of the device that is current, or -1. */
int fake_device(void) {
    const device *on = depth > 0 ? current[depth - 1] : AT_FIRST;
    return on != NULL ? (int)(on - devices) : -1;
}

/* fake_seen returns where a call finds n bytes of a device; NULL where that is no memory of the program's. */
char *fake_seen(const char *at, size_t n) { return block_of(at) != NULL ? seen(at, n) : NULL; }

/* fake_peek copies memory of a device as it is now, whatever is queued. It says 0 if that is memory of the program's. */
int fake_peek(void *to, unsigned long long from, size_t n) {
    pthread_mutex_lock(&lock);
    char *at = block_of((char *)(uintptr_t)from) != NULL ? seen((char *)(uintptr_t)from, n) : NULL;
    if (at != NULL)
        memcpy(to, at, n);
    pthread_mutex_unlock(&lock);
    return at == NULL;
}

/* fake_outstanding counts what was made and not given back: 0 blocks of memory, 1 their bytes, 2 streams, 3 events, 4 pinned blocks,
 * 5 contexts that this thread has not popped, 6 operations nobody has waited for; or bytes copied so far: 7 to the host, 8 from it. */
long fake_outstanding(int what) {
    pthread_mutex_lock(&lock);
    long n = 0;
    for (block *b = blocks; b != NULL && what <= 1; b = b->next)
        n += what == 0 ? 1 : (long)b->size;
    for (stream *s = streams; s != NULL; s = s->next) {
        n += what == 2;
        for (op *o = s->first; what == 6 && o != NULL; o = o->next)
            n++;
    }
    n += what == 3 ? events : what == 4 ? count_pinned() : what == 5 ? depth : what >= 7 ? copied[what - 7] : 0;
    pthread_mutex_unlock(&lock);
    return n;
}
