/* A value of 16 bytes, such as a complex number. */
#ifndef DTL_WIDE_H
#define DTL_WIDE_H

#include <stdint.h>

typedef struct {
    uint64_t low, high;
} dtl_wide;

#endif
