/* What an MPI library that was built for CUDA calls of the driver, and DTL does not. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { OK = 0, INVALID_VALUE = 1, NOT_SUPPORTED = 801 };

int cuPointerGetAttribute(void *data, int attribute, unsigned long long at);
int cuStreamCreateWithPriority(void **made, unsigned flags, int priority);

/* One that waits for the default stream is one that does not: nothing is in that. */
int cuStreamCreate(void **made, unsigned flags) { return cuStreamCreateWithPriority(made, flags | 1, 0); }

/* Of memory that is none of a device's, all are zero. */
int cuPointerGetAttributes(unsigned count, const int *attributes, void **data, unsigned long long at) {
    for (unsigned i = 0; i < count; i++)
        if (cuPointerGetAttribute(data[i], attributes[i], at) != OK)
            memset(data[i], 0, attributes[i] == 1 ? sizeof(void *) : sizeof(unsigned));
    return OK;
}

int cuPointerSetAttribute(const void *value, int attribute, unsigned long long at) {
    (void)value, (void)attribute, (void)at;
    return OK;
}

int cuDeviceCanAccessPeer(int *can, int which, int other) {
    *can = which != other;
    return OK;
}

int cuDeviceGetPCIBusId(char *text, int length, int which) {
    snprintf(text, (size_t)length, "0000:%02x:00.0", which);
    return OK;
}

/* What another process has lent stays reachable. */
int cuIpcCloseMemHandle(unsigned long long at) {
    (void)at;
    return OK;
}

int cuIpcGetEventHandle(void *made, void *event) {
    (void)made, (void)event;
    return NOT_SUPPORTED;
}

/* Pinning memory that is there changes nothing that a program sees. */
int cuMemHostRegister_v2(void *at, size_t size, unsigned flags) {
    (void)at, (void)size, (void)flags;
    return OK;
}

int cuMemHostUnregister(void *at) {
    (void)at;
    return OK;
}

/* No memory comes from a pool, or was made in parts. */
int cuMemRetainAllocationHandle(void *made, void *at) {
    (void)made, (void)at;
    return INVALID_VALUE;
}

int cuMemGetAllocationPropertiesFromHandle(void *properties, unsigned long long of) {
    (void)properties, (void)of;
    return INVALID_VALUE;
}

int cuMemGetAccess(unsigned long long *flags, const void *location, unsigned long long at) {
    (void)flags, (void)location, (void)at;
    return INVALID_VALUE;
}

int cuMemPoolGetAccess(unsigned *flags, void *pool, void *location) {
    (void)flags, (void)pool, (void)location;
    return INVALID_VALUE;
}

int cuMemRelease(unsigned long long of) {
    (void)of;
    return INVALID_VALUE;
}
