/* Kernels of the tests' driver as PTX has them. */
#include "parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *fake_ptx_module(const void *image, int *rc) {
    const int can = strstr(image, ".version 6.4") != NULL && strstr(image, ".target sm_70") != NULL;
    *rc = can ? 0 : 200;
    return can ? strdup(image) : NULL;
}

size_t fake_ptx_argument(const void *module, const char *name) {
    char entry[128];
    snprintf(entry, sizeof entry, ".entry %s(", name);
    const char *text = strstr(module, entry), *size = text != NULL ? strchr(text, '[') : NULL;
    return size != NULL ? (size_t)atol(size + 1) : 0;
}
