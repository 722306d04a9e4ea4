/* The functions of a GPU driver that this package calls, found by name at run time, and calls of them that have a context
 * current for as long as they take.
 *
 * Every function below returns the driver's error, 0 for none. */
#ifndef DTL_GPU_DRIVER_H
#define DTL_GPU_DRIVER_H

#include <stddef.h>
#include <stdint.h>

typedef unsigned long long gpu_address;

/* CUipcMemHandle, which the driver takes by value. */
typedef struct {
    char bytes[64];
} gpu_handle;

/* Streams and events as Go passes them, whose pointers are not small numbers, as streams that others made may be. */
typedef uintptr_t gpu_stream;
typedef uintptr_t gpu_event;

/* X(our name, CUDA's, HIP's, its parameters). An address is an integer in CUDA and a pointer in HIP, which are passed alike. */
#define GPU_FUNCTIONS(X) \
    X(init, "cuInit", "hipInit", (unsigned flags)) \
    X(error_text, "cuGetErrorString", "hipDrvGetErrorString", (int code, const char **text)) \
    X(device_count, "cuDeviceGetCount", "hipGetDeviceCount", (int *count)) \
    X(device_get, "cuDeviceGet", "hipDeviceGet", (int *device, int number)) \
    X(device_name, "cuDeviceGetName", "hipDeviceGetName", (char *name, int length, int device)) \
    X(device_uuid, "cuDeviceGetUuid", "hipDeviceGetUuid", (void *uuid, int device)) \
    X(device_attribute, "cuDeviceGetAttribute", "hipDeviceGetAttribute", (int *value, int attribute, int device)) \
    X(context_synchronize, "cuCtxSynchronize", "hipDeviceSynchronize", (void)) \
    X(memory_info, "cuMemGetInfo_v2", "hipMemGetInfo", (size_t *left, size_t *total)) \
    X(alloc, "cuMemAlloc_v2", "hipMalloc", (gpu_address *at, size_t size)) \
    X(alloc_managed, "cuMemAllocManaged", "hipMallocManaged", (gpu_address *at, size_t size, unsigned flags)) \
    X(release, "cuMemFree_v2", "hipFree", (gpu_address at)) \
    X(host_alloc, "cuMemHostAlloc", "hipHostMalloc", (void **at, size_t size, unsigned flags)) \
    X(host_release, "cuMemFreeHost", "hipHostFree", (void *at)) \
    X(fill_8, "cuMemsetD8Async", "hipMemsetD8Async", (gpu_address to, unsigned char value, size_t n, void *stream)) \
    X(fill_16, "cuMemsetD16Async", "hipMemsetD16Async", (gpu_address to, unsigned short value, size_t n, void *stream)) \
    X(fill_32, "cuMemsetD32Async", "hipMemsetD32Async", (gpu_address to, unsigned value, size_t n, void *stream)) \
    X(stream_create, "cuStreamCreateWithPriority", "hipStreamCreateWithPriority", (void **stream, unsigned flags, \
        int priority)) \
    X(stream_synchronize, "cuStreamSynchronize", "hipStreamSynchronize", (void *stream)) \
    X(stream_query, "cuStreamQuery", "hipStreamQuery", (void *stream)) \
    X(stream_wait, "cuStreamWaitEvent", "hipStreamWaitEvent", (void *stream, void *event, unsigned flags)) \
    X(event_create, "cuEventCreate", "hipEventCreateWithFlags", (void **event, unsigned flags)) \
    X(event_destroy, "cuEventDestroy_v2", "hipEventDestroy", (void *event)) \
    X(event_record, "cuEventRecord", "hipEventRecord", (void *event, void *stream)) \
    X(event_query, "cuEventQuery", "hipEventQuery", (void *event)) \
    X(event_synchronize, "cuEventSynchronize", "hipEventSynchronize", (void *event)) \
    X(range, "cuMemGetAddressRange_v2", "hipMemGetAddressRange", (gpu_address *begins, size_t *size, gpu_address at)) \
    X(pointer_attribute, "cuPointerGetAttribute", "hipPointerGetAttribute", (void *data, int attribute, gpu_address at)) \
    X(module_load, "cuModuleLoadDataEx", "hipModuleLoadDataEx", (void **module, const void *image, unsigned n, \
        int *options, void **values)) \
    X(module_function, "cuModuleGetFunction", "hipModuleGetFunction", (void **function, void *module, const char *name)) \
    X(launch, "cuLaunchKernel", "hipModuleLaunchKernel", (void *function, unsigned blocks, unsigned by, unsigned bz, \
        unsigned threads, unsigned ty, unsigned tz, unsigned shared, void *stream, void **arguments, void **extra))

/* Those that only one of the two has, or that have other parameters there. */
#define GPU_OWN(X) \
    X(context_retain, "cuDevicePrimaryCtxRetain", "", (void **context, int device)) \
    X(context_current, "cuCtxGetCurrent", "", (void **context)) \
    X(context_push, "cuCtxPushCurrent_v2", "", (void *context)) \
    X(context_pop, "cuCtxPopCurrent_v2", "", (void **context)) \
    X(copy, "cuMemcpyAsync", "", (gpu_address to, gpu_address from, size_t size, void *stream)) \
    X(device_current, "", "hipGetDevice", (int *device)) \
    X(device_choose, "", "hipSetDevice", (int device)) \
    X(copy_of_kind, "", "hipMemcpyAsync", (gpu_address to, gpu_address from, size_t size, int kind, void *stream)) \
    X(properties, "", "hipGetDevicePropertiesR0600", (void *properties, int device)) \
    X(last_error, "", "hipGetLastError", (void))

/* Those that a driver may lack: NULL. */
#define GPU_OPTIONAL(X) \
    X(lend, "cuIpcGetMemHandle", "hipIpcGetMemHandle", (gpu_handle *handle, gpu_address at)) \
    X(borrow, "cuIpcOpenMemHandle_v2", "hipIpcOpenMemHandle", (gpu_address *at, gpu_handle handle, unsigned flags)) \
    X(context_record, "cuCtxRecordEvent", "", (void *context, void *event)) \
    X(instance_uuid, "cuDeviceGetUuid_v2", "", (void *uuid, int device)) \
    X(driver_version, "cuDriverGetVersion", "hipDriverGetVersion", (int *version))

typedef struct gpu_driver gpu_driver;

typedef struct {
#define X(field, cuda, hip, parameters) int(*field) parameters;
    GPU_FUNCTIONS(X)
    GPU_OWN(X)
    GPU_OPTIONAL(X)
#undef X
    const gpu_driver *driver;
} gpu_table;

/* gpu_driver_of returns the description of a driver, "cuda" or "hip"; NULL of another one. */
const gpu_driver *gpu_driver_of(const char *name);

/* gpu_symbol returns the driver's name of the i-th function, "" of one that it has not, or NULL after the last. */
const char *gpu_symbol(const gpu_driver *driver, int i);

/* gpu_required returns how many of the functions, from the first on, the driver must have. */
int gpu_required(void);

/* gpu_set sets the i-th function. */
void gpu_set(gpu_table *table, int i, void *function);

/* A device of this process: its primary context, which other libraries of the process have in common with us. */
typedef struct {
    const gpu_table *table;
    void *context; /* of CUDA */
    int number;    /* the driver's */
    int managed; /* 1: it has memory that processor and device both reach */
    int concurrent; /* 1: and both at once */
    char name[128];
    char architecture[64];  /* such as gfx90a:sramecc+:xnack-; nothing where the driver compiles for its devices */
    unsigned char uuid[16]; /* the same for every process */
} gpu_device;

/* gpu_version returns the driver's version as the vendor writes it, 0 if it does not say. */
int gpu_version(const gpu_table *table);

/* gpu_name writes what the vendor calls a device. */
int gpu_name(const gpu_table *table, int number, char name[128]);

/* gpu_open begins to use a device: its primary context is kept for as long as the process lives. */
int gpu_open(const gpu_table *table, int number, gpu_device *device);

int gpu_memory_info(const gpu_device *device, size_t *left, size_t *total);
int gpu_alloc(const gpu_device *device, size_t size, int managed, gpu_address *at);
int gpu_release(const gpu_device *device, gpu_address at);
int gpu_host_alloc(const gpu_device *device, size_t size, void **at);
int gpu_host_release(const gpu_device *device, void *at);

/* gpu_synchronize waits for all that any library of the process has queued on the device. */
int gpu_synchronize(const gpu_device *device);

/* gpu_stream_create makes a stream that does not wait for the legacy default stream. */
int gpu_stream_create(const gpu_device *device, gpu_stream *stream);
int gpu_stream_synchronize(const gpu_device *device, gpu_stream stream);
int gpu_stream_query(const gpu_device *device, gpu_stream stream);

/* gpu_enter makes the device current for this thread of the system, and says in *outer what was; 0 if it was itself.
 * gpu_leave makes that current again. It returns rc, or else its own error. */
int gpu_enter(const gpu_device *device, int *outer);
int gpu_leave(const gpu_device *device, int outer, int rc);

int gpu_event_create(const gpu_device *device, gpu_event *event);
int gpu_event_destroy(const gpu_device *device, gpu_event event);
int gpu_event_query(const gpu_device *device, gpu_event event);
int gpu_event_synchronize(const gpu_device *device, gpu_event event);

/* gpu_event_record has an event come after what is queued on a stream by now; gpu_event_record_all, after what is queued on all streams of
 * the device's context, which drivers can do from CUDA 12.5 on. */
int gpu_event_record(const gpu_device *device, gpu_event event, gpu_stream stream);
int gpu_records_all(const gpu_device *device);
int gpu_event_record_all(const gpu_device *device, gpu_event event);

/* gpu_copy queues a copy, and then, where event is not 0, the recording of it. */
int gpu_copy(const gpu_device *device, gpu_stream stream, gpu_address to, gpu_address from, size_t size, gpu_event event);

/* gpu_fill queues n items of 1, 2 or 4 bytes. */
int gpu_fill(const gpu_device *device, gpu_stream stream, gpu_address to, unsigned value, int item, size_t n);

/* gpu_locate writes which device the memory at an address belongs to, and whether it is managed. The error is 1 where it is none
 * of a device. */
int gpu_locate(const gpu_device *device, gpu_address at, int *number, int *managed);

/* What another process needs to reach memory: the driver's handle of what it was allocated in, and how far from its beginning it is. */
typedef struct {
    gpu_handle handle;
    uint64_t offset;
} gpu_key;

/* gpu_lends says whether the driver has the functions by which processes of a machine reach each other's memory of devices. gpu_lend
 * writes the key of memory that begins at an address, and gpu_borrow where this process's device finds memory that another one lends. */
int gpu_lends(const gpu_table *table);
int gpu_lend(const gpu_device *device, gpu_address at, gpu_key *key);
int gpu_borrow(const gpu_device *device, const gpu_key *key, gpu_address *at);

/* gpu_order, where 1 is the default stream, has what is queued on one stream from now on run after what is on another one by now. */
int gpu_order(const gpu_device *device, gpu_stream before, gpu_stream after);

/* gpu_load loads kernels: of CUDA PTX, a text; of HIP a code object. */
int gpu_load(const gpu_device *device, const void *image, uintptr_t *module);
int gpu_function(const gpu_device *device, uintptr_t module, const char *name, uintptr_t *function);

/* gpu_launch queues a kernel on blocks of threads. Its only argument is a structure, which is copied. */
int gpu_launch(const gpu_device *device, gpu_stream stream, uintptr_t function, unsigned blocks, unsigned threads, void *argument);

#endif
