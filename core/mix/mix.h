/* The step of hashes that ranks compare, for C: Step of this package. */
#ifndef DTL_MIX_H
#define DTL_MIX_H

#include <stdint.h>

/* dtl_mix adds a word to a hash. */
static inline uint64_t dtl_mix(uint64_t h, uint64_t v) {
    h = (h ^ v) * UINT64_C(1099511628211);
    return h ^ h >> 32;
}

#endif
