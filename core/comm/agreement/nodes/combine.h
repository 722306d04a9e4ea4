/*
 * Sums and products of float64, and of int64, which C combines by itself: in meetings of nodes, and numpybridge on a board.
 */
#ifndef DTL_COMBINE_H
#define DTL_COMBINE_H

#include <stdint.h>

/* Several elements at once, and one. Overflow of integers is defined where they have no sign: it wraps around. */
typedef double dtl_reals __attribute__((vector_size(32), aligned(8), may_alias));
typedef uint64_t dtl_integers __attribute__((vector_size(32), aligned(8), may_alias));
typedef double dtl_real __attribute__((may_alias));
typedef uint64_t dtl_integer __attribute__((may_alias));
enum { DTL_AT_ONCE = 4 };

#define DTL_COMBINE(several, one, op)                                                                           \
    do {                                                                                                        \
        int64_t i = 0;                                                                                          \
        for (; i + DTL_AT_ONCE <= count; i += DTL_AT_ONCE)                                                      \
            *(several *)(into + 8 * i) = *(const several *)(left + 8 * i) op *(const several *)(right + 8 * i); \
        for (; i < count; i++)                                                                                  \
            *(one *)(into + 8 * i) = *(const one *)(left + 8 * i) op *(const one *)(right + 8 * i);             \
    } while (0)

/* dtl_combine_numbers adds or multiplies elements, reals or integers, in the place of either or elsewhere. */
static inline void dtl_combine_numbers(int reals, int sum, char *into, const char *left, const char *right, int64_t count) {
    if (reals && sum)
        DTL_COMBINE(dtl_reals, dtl_real, +);
    else if (reals)
        DTL_COMBINE(dtl_reals, dtl_real, *);
    else if (sum)
        DTL_COMBINE(dtl_integers, dtl_integer, +);
    else
        DTL_COMBINE(dtl_integers, dtl_integer, *);
}

#endif
