/* Calls of a GPU driver. The current context belongs to the thread of the system, of which Go changes at will and on which
 * Python may have another device current: each call has the device's context current for its own time only. */
#include "vendors.h"

enum {
#define X(field, cuda, hip, parameters) + 1
    REQUIRED = 0 GPU_FUNCTIONS(X) GPU_OWN(X),
    FUNCTIONS = REQUIRED GPU_OPTIONAL(X),
#undef X
    /* What both drivers have by the same number. */
    LAZY_PEER_ACCESS = 1, /* CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS */
    ATTACH_GLOBAL = 1,    /* CU_MEM_ATTACH_GLOBAL: every stream may touch it */
    IS_MANAGED = 8,       /* CU_POINTER_ATTRIBUTE_IS_MANAGED */
    DEVICE_ORDINAL = 9,   /* CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL */
    PORTABLE = 1,         /* CU_MEMHOSTALLOC_PORTABLE: pinned for every context */
    NON_BLOCKING = 1,     /* CU_STREAM_NON_BLOCKING */
    DISABLE_TIMING = 2,   /* CU_EVENT_DISABLE_TIMING */
    DEFAULT_STREAM = 1,   /* CU_STREAM_LEGACY, and for all of this repository the default stream of HIP, too */
};

_Static_assert(offsetof(gpu_table, driver) == FUNCTIONS * sizeof(void *), "a table begins with an array of addresses");

const char *gpu_symbol(const gpu_driver *driver, int i) { return i >= 0 && i < FUNCTIONS ? driver->symbols[i] : NULL; }

int gpu_required(void) { return REQUIRED; }

void gpu_set(gpu_table *table, int i, void *function) { ((void **)table)[i] = function; }

int gpu_enter(const gpu_device *d, int *outer) {
    *outer = 0;
    return d->table->driver->enter(d, outer);
}

int gpu_leave(const gpu_device *d, int outer, int rc) {
    int failed = outer != 0 ? d->table->driver->leave(d, outer) : 0;
    if (rc == 0)
        rc = failed;
    if (rc != 0 && d->table->last_error != NULL)
        d->table->last_error(); /* which others ask for after calls of theirs, and would take for one of these: it is forgotten */
    return rc;
}

/* WITHIN calls a function of the driver while the device is current, and returns its error. */
#define WITHIN(d, call)                  \
    do {                                 \
        int outer, rc = gpu_enter(d, &outer); \
        if (rc == 0)                     \
            rc = (d)->table->call;       \
        return gpu_leave(d, outer, rc);  \
    } while (0)

int gpu_version(const gpu_table *t) {
    int version = 0;
    return t->driver_version != NULL && t->driver_version(&version) == 0 ? version : 0;
}

int gpu_name(const gpu_table *t, int number, char name[128]) {
    int device, rc = t->device_get(&device, number);
    if (rc == 0)
        rc = t->device_name(name, 128, device);
    name[127] = 0;
    return rc;
}

int gpu_open(const gpu_table *t, int number, gpu_device *d) {
    d->table = t;
    int rc = t->device_get(&d->number, number);
    if (rc == 0)
        rc = gpu_name(t, number, d->name);
    if (rc == 0)
        rc = t->device_attribute(&d->managed, t->driver->managed_memory, d->number);
    if (rc == 0)
        rc = (t->instance_uuid != NULL ? t->instance_uuid : t->device_uuid)(d->uuid, d->number); /* of a part of a GPU, its own */
    if (rc == 0)
        rc = t->device_attribute(&d->concurrent, t->driver->concurrent, d->number);
    return rc == 0 ? t->driver->begin(d) : rc;
}

int gpu_memory_info(const gpu_device *d, size_t *left, size_t *total) { WITHIN(d, memory_info(left, total)); }

int gpu_alloc(const gpu_device *d, size_t size, int managed, gpu_address *at) {
    if (managed)
        WITHIN(d, alloc_managed(at, size, ATTACH_GLOBAL));
    WITHIN(d, alloc(at, size));
}

int gpu_release(const gpu_device *d, gpu_address at) { WITHIN(d, release(at)); }

int gpu_host_alloc(const gpu_device *d, size_t size, void **at) { WITHIN(d, host_alloc(at, size, PORTABLE)); }

int gpu_host_release(const gpu_device *d, void *at) { WITHIN(d, host_release(at)); }

int gpu_synchronize(const gpu_device *d) { WITHIN(d, context_synchronize()); }

int gpu_stream_create(const gpu_device *d, gpu_stream *stream) { WITHIN(d, stream_create((void **)stream, NON_BLOCKING, 0)); }

int gpu_stream_synchronize(const gpu_device *d, gpu_stream stream) { WITHIN(d, stream_synchronize((void *)stream)); }

int gpu_stream_query(const gpu_device *d, gpu_stream stream) { WITHIN(d, stream_query((void *)stream)); }

int gpu_event_create(const gpu_device *d, gpu_event *event) { WITHIN(d, event_create((void **)event, DISABLE_TIMING)); }

int gpu_event_destroy(const gpu_device *d, gpu_event event) { WITHIN(d, event_destroy((void *)event)); }

int gpu_event_query(const gpu_device *d, gpu_event event) { WITHIN(d, event_query((void *)event)); }

int gpu_event_record(const gpu_device *d, gpu_event event, gpu_stream stream) {
    WITHIN(d, event_record((void *)event, (void *)stream));
}

int gpu_records_all(const gpu_device *d) { return d->table->context_record != NULL; }

int gpu_event_record_all(const gpu_device *d, gpu_event event) { WITHIN(d, context_record(d->context, (void *)event)); }

int gpu_event_synchronize(const gpu_device *d, gpu_event event) { WITHIN(d, event_synchronize((void *)event)); }

int gpu_copy(const gpu_device *d, gpu_stream stream, gpu_address to, gpu_address from, size_t size, gpu_event event) {
    int outer, rc = gpu_enter(d, &outer);
    if (rc == 0)
        rc = d->table->driver->copy(d->table, to, from, size, (void *)stream);
    if (rc == 0 && event != 0)
        rc = d->table->event_record((void *)event, (void *)stream);
    return gpu_leave(d, outer, rc);
}

int gpu_fill(const gpu_device *d, gpu_stream stream, gpu_address to, unsigned value, int item, size_t n) {
    if (item == 1)
        WITHIN(d, fill_8(to, (unsigned char)value, n, (void *)stream));
    if (item == 2)
        WITHIN(d, fill_16(to, (unsigned short)value, n, (void *)stream));
    WITHIN(d, fill_32(to, value, n, (void *)stream));
}

int gpu_locate(const gpu_device *d, gpu_address at, int *number, int *managed) {
    unsigned is = 0;
    int outer, rc = gpu_enter(d, &outer);
    if (rc == 0)
        rc = d->table->pointer_attribute(number, DEVICE_ORDINAL, at);
    if (rc == 0)
        rc = d->table->pointer_attribute(&is, IS_MANAGED, at);
    *managed = is != 0;
    return gpu_leave(d, outer, rc);
}

int gpu_lends(const gpu_table *t) { return t->lend != NULL && t->borrow != NULL; }

int gpu_lend(const gpu_device *d, gpu_address at, gpu_key *key) {
    gpu_address begins = at;
    size_t size;
    int outer, rc = gpu_enter(d, &outer);
    if (rc == 0)
        rc = d->table->range(&begins, &size, at);
    if (rc == 0)
        rc = d->table->lend(&key->handle, begins);
    key->offset = at - begins;
    return gpu_leave(d, outer, rc);
}

int gpu_borrow(const gpu_device *d, const gpu_key *key, gpu_address *at) {
    int outer, rc = gpu_enter(d, &outer);
    if (rc == 0)
        rc = d->table->borrow(at, key->handle, LAZY_PEER_ACCESS);
    *at += rc == 0 ? key->offset : 0;
    return gpu_leave(d, outer, rc);
}

/* as_known returns a stream as the driver knows it. */
static void *as_known(const gpu_device *d, gpu_stream stream) {
    return (void *)(stream == DEFAULT_STREAM ? d->table->driver->default_stream : stream);
}

int gpu_order(const gpu_device *d, gpu_stream before, gpu_stream after) {
    void *event = NULL;
    int outer, rc = gpu_enter(d, &outer);
    if (rc == 0)
        rc = d->table->event_create(&event, DISABLE_TIMING);
    if (rc == 0)
        rc = d->table->event_record(event, as_known(d, before));
    if (rc == 0)
        rc = d->table->stream_wait(as_known(d, after), event, 0);
    if (event != NULL) {
        int failed = d->table->event_destroy(event); /* the driver keeps it until the stream has come to it */
        rc = rc != 0 ? rc : failed;
    }
    return gpu_leave(d, outer, rc);
}

int gpu_load(const gpu_device *d, const void *image, uintptr_t *module) {
    WITHIN(d, module_load((void **)module, image, 0, NULL, NULL));
}

int gpu_function(const gpu_device *d, uintptr_t module, const char *name, uintptr_t *function) {
    WITHIN(d, module_function((void **)function, (void *)module, name));
}

int gpu_launch(const gpu_device *d, gpu_stream stream, uintptr_t function, unsigned blocks, unsigned threads, void *argument) {
    void *arguments[] = {argument};
    WITHIN(d, launch((void *)function, blocks, 1, 1, threads, 1, 1, 0, (void *)stream, arguments, NULL));
}
