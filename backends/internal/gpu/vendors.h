/* What differs between the drivers of NVIDIA and AMD, in one description of each. */
#ifndef DTL_GPU_VENDORS_H
#define DTL_GPU_VENDORS_H

#include "driver.h"

struct gpu_driver {
    const char *name;
    const char *const *symbols;    /* in the table's order */
    int managed_memory, concurrent; /* attributes of devices */
    gpu_stream default_stream;
    int (*begin)(gpu_device *device);
    int (*enter)(const gpu_device *device, int *outer);
    int (*leave)(const gpu_device *device, int outer);
    int (*copy)(const gpu_table *table, gpu_address to, gpu_address from, size_t size, void *stream);
};

#endif
