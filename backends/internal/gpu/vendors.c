/* The descriptions of the two drivers. */
#include "vendors.h"

#include <stdlib.h>
#include <string.h>

/* ---- CUDA: a thread has a stack of contexts ---- */

static const char *const cuda_symbols[] = {
#define X(field, cuda, hip, parameters) cuda,
    GPU_FUNCTIONS(X) GPU_OWN(X) GPU_OPTIONAL(X)
#undef X
};

/* The primary context, which other libraries of the process have in common with us, is kept for as long as the process lives. */
static int cuda_begin(gpu_device *d) { return d->table->context_retain(&d->context, d->number); }

static int cuda_enter(const gpu_device *d, int *outer) {
    void *current = NULL;
    int rc = d->table->context_current(&current);
    if (rc == 0 && current != d->context) {
        rc = d->table->context_push(d->context);
        *outer = rc == 0;
    }
    return rc;
}

static int cuda_leave(const gpu_device *d, int outer) {
    void *popped;
    (void)outer;
    return d->table->context_pop(&popped);
}

static int cuda_copy(const gpu_table *t, gpu_address to, gpu_address from, size_t size, void *stream) {
    return t->copy(to, from, size, stream);
}

/* ---- HIP: a thread has a current device, at first the first one. Its functions for contexts are deprecated, and hipCtxPopCurrent
 * leaves the device current whose context it pops. ---- */

static const char *const hip_symbols[] = {
#define X(field, cuda, hip, parameters) hip,
    GPU_FUNCTIONS(X) GPU_OWN(X) GPU_OPTIONAL(X)
#undef X
};

enum {
    OUT_OF_MEMORY = 2,
    COPY_BY_ADDRESS = 4,   /* hipMemcpyDefault */
    PROPERTIES = 1472,     /* bytes of hipDeviceProp_tR0600 */
    ARCHITECTURE_AT = 1160, /* its gcnArchName, of 256 bytes */
};

static int hip_begin(gpu_device *d) {
    char *properties = calloc(1, 2 * PROPERTIES); /* a later version may have more at the end */
    if (properties == NULL)
        return OUT_OF_MEMORY;
    int rc = d->table->properties(properties, d->number);
    memcpy(d->architecture, properties + ARCHITECTURE_AT, sizeof d->architecture - 1);
    free(properties);
    return rc;
}

static int hip_enter(const gpu_device *d, int *outer) {
    int current = 0, rc = d->table->device_current(&current);
    if (rc == 0 && current != d->number) {
        rc = d->table->device_choose(d->number);
        *outer = rc == 0 ? current + 1 : 0;
    }
    return rc;
}

static int hip_leave(const gpu_device *d, int outer) { return d->table->device_choose(outer - 1); }

static int hip_copy(const gpu_table *t, gpu_address to, gpu_address from, size_t size, void *stream) {
    return t->copy_of_kind(to, from, size, COPY_BY_ADDRESS, stream);
}

static const gpu_driver drivers[] = {
    {
        .name = "cuda",
        .symbols = cuda_symbols,
        .managed_memory = 83, /* CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY */
        .concurrent = 89,     /* CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS */
        .default_stream = 1,  /* CU_STREAM_LEGACY */
        .begin = cuda_begin,
        .enter = cuda_enter,
        .leave = cuda_leave,
        .copy = cuda_copy,
    },
    {
        .name = "hip",
        .symbols = hip_symbols,
        .managed_memory = 24, /* hipDeviceAttributeManagedMemory */
        .concurrent = 9,      /* hipDeviceAttributeConcurrentManagedAccess */
        .default_stream = 0,  /* the null stream; hipStreamLegacy is of late versions */
        .begin = hip_begin,
        .enter = hip_enter,
        .leave = hip_leave,
        .copy = hip_copy,
    },
};

const gpu_driver *gpu_driver_of(const char *name) {
    for (size_t i = 0; i < sizeof drivers / sizeof *drivers; i++)
        if (strcmp(drivers[i].name, name) == 0)
            return &drivers[i];
    return NULL;
}
