/* How many elements are in each bin, or have each value. Counts are whole numbers, so the order in which threads add does not matter. */
#include "elements.h"

typedef unsigned long long word;

typedef struct {
    word *counts;
    const void *a;
    const double *edges; /* one more than there are bins, and ascending */
    long long n;
    long long bins;
    long long unused;
} histogram;

static inline void add_one(word *count) { __atomic_fetch_add(count, 1, __ATOMIC_RELAXED); }

/* Bin i has the elements from edge i on that are less than edge i + 1, and the last those that equal the last edge, too. */
#define BINS(type, T)                                                                 \
    KERNEL bins_##type(histogram s);                                                  \
    KERNEL bins_##type(histogram s) {                                                 \
        const double first = s.edges[0], last = s.edges[s.bins];                      \
        for (long long i = FIRST; i < s.n; i += STEP) {                               \
            double x = (double)((const T *)s.a)[i];                                   \
            long long low = 0, high = s.bins; /* the bin is from low on, and before high */ \
            if (!(x >= first && x <= last))                                           \
                continue;                                                             \
            while (high - low > 1) {                                                  \
                long long middle = low + (high - low) / 2;                            \
                if (x >= s.edges[middle])                                             \
                    low = middle;                                                     \
                else                                                                  \
                    high = middle;                                                    \
            }                                                                         \
            add_one(s.counts + low);                                                  \
        }                                                                             \
    }

#define VALUES(type, T)                                                               \
    KERNEL values_##type(histogram s);                                                \
    KERNEL values_##type(histogram s) {                                               \
        for (long long i = FIRST; i < s.n; i += STEP)                                 \
            add_one(s.counts + ((const T *)s.a)[i]);                                  \
    }

#define INTEGER(type, T)                                                              \
    BINS(type, T)                                                                     \
    VALUES(type, T)

BINS(float64, double)
BINS(float32, float)
INTEGER(int64, long long)
INTEGER(int32, int)
INTEGER(int16, short)
INTEGER(int8, signed char)
BINS(uint64, word)
INTEGER(uint32, unsigned)
INTEGER(uint16, unsigned short)
INTEGER(uint8, unsigned char)
INTEGER(bool, boolean)
