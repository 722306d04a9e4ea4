/* What HIP's driver has by other parameters than CUDA's: a thread has a current device in place of contexts, the first one until it
 * chooses another. */
#include "../parts.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { INVALID_VALUE = 1, COPY_BY_ADDRESS = 4, PROPERTIES = 1472, ARCHITECTURE_AT = 1160 };

int fake_retain(void **context, int which);
int fake_push(void *context);
int fake_pop(void **context);
int fake_copy(unsigned long long to, unsigned long long from, size_t n, void *in);
int hipDeviceGet(int *which, int number);

int hipGetDevice(int *which);
int hipSetDevice(int which);
int hipMemcpyAsync(void *to, const void *from, size_t n, int kind, void *in);
int hipGetDevicePropertiesR0600(void *properties, int which);
int hipGetLastError(void);

static _Thread_local int chosen;

int hipGetDevice(int *which) {
    void *context;
    int rc = fake_failing("hipGetDevice");
    if (rc == 0)
        rc = fake_retain(&context, chosen);
    *which = chosen;
    return rc;
}

int hipSetDevice(int which) {
    void *context, *popped;
    int rc = fake_failing("hipSetDevice");
    if (rc == 0)
        rc = fake_retain(&context, which);
    if (rc == 0 && chosen != 0)
        rc = fake_pop(&popped);
    if (rc == 0)
        chosen = 0;
    if (rc == 0 && which != 0)
        rc = fake_push(context);
    if (rc == 0)
        chosen = which;
    return rc;
}

int hipMemcpyAsync(void *to, const void *from, size_t n, int kind, void *in) {
    int rc = fake_failing("hipMemcpyAsync");
    if (rc == 0 && kind != COPY_BY_ADDRESS)
        rc = INVALID_VALUE;
    return rc == 0 ? fake_copy((unsigned long long)(uintptr_t)to, (unsigned long long)(uintptr_t)from, n, in) : rc;
}

const char *fake_architecture(void) {
    const char *name = getenv("DTL_FAKE_GPU_ARCH");
    return name != NULL ? name : "";
}

int hipGetDevicePropertiesR0600(void *properties, int which) {
    int rc = fake_failing("hipGetDevicePropertiesR0600"), number;
    if (rc == 0)
        rc = hipDeviceGet(&number, which);
    if (rc == 0) {
        memset(properties, 0xA5, PROPERTIES);
        strcpy((char *)properties + ARCHITECTURE_AT, fake_architecture());
    }
    return rc;
}

/* As of ROCm 7: what has failed since somebody asked, whatever has worked since. */
int hipGetLastError(void) {
    int last = fake_last;
    fake_last = 0;
    return fake_failing(__func__) != 0 ? 1 : last;
}
