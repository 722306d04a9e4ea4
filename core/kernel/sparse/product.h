/*
 * Products of rows of a sparse matrix with a vector, which fetch elements before they are needed.
 *
 * Package sparse says why this is in C. Elements are added up one after the other, as SciPy does, which makes the same bits of them.
 */
#ifndef DTL_PRODUCT_H
#define DTL_PRODUCT_H

#include <stdint.h>

/* So many elements ahead of those that are multiplied are fetched; twice as many of their columns, which are half as long. */
#define DTL_AHEAD 256

/* FETCH asks for elements and columns, once for eight elements, which are a line of the cache, or half of one. */
#define FETCH(columns, values, i, fetched)                                                                             \
    if ((i) >= fetched) {                                                                                              \
        __builtin_prefetch((values) + (i) + DTL_AHEAD, 0, 0);                                                          \
        __builtin_prefetch((columns) + (i) + 2 * DTL_AHEAD, 0, 0);                                                     \
        fetched = (i) + 8;                                                                                             \
    }

/* MULTIPLY writes the products of rows with a vector to out, or adds them. MULTIPLY_BACK adds the products of the transposed rows. */
#define MULTIPLY(index, value)                                                                                         \
    static inline void dtl_multiply_##index##_##value(const index *indptr, const index *columns, const value *values, int64_t row, \
                                                      int64_t behind, const value *vector, value *out, int adds) {     \
        int64_t fetched = 0;                                                                                           \
        for (; row < behind; row++) {                                                                                  \
            value sum = adds ? out[row] : 0;                                                                           \
            int64_t i = indptr[row], end = indptr[row + 1];                                                            \
            for (; i + 8 <= end; i += 8) {                                                                             \
                FETCH(columns, values, i, fetched)                                                                     \
                for (int64_t k = i; k < i + 8; k++)                                                                    \
                    sum += values[k] * vector[columns[k]];                                                             \
            }                                                                                                          \
            FETCH(columns, values, i, fetched)                                                                         \
            for (; i < end; i++)                                                                                       \
                sum += values[i] * vector[columns[i]];                                                                 \
            out[row] = sum;                                                                                            \
        }                                                                                                              \
    }                                                                                                                  \
    static inline void dtl_multiply_back_##index##_##value(const index *indptr, const index *columns, const value *values, int64_t rows, \
                                                           const value *vector, value *out) {                          \
        int64_t fetched = 0;                                                                                           \
        for (int64_t row = 0; row < rows; row++) {                                                                     \
            int64_t i = indptr[row], end = indptr[row + 1];                                                            \
            for (; i + 8 <= end; i += 8) {                                                                             \
                FETCH(columns, values, i, fetched)                                                                     \
                for (int64_t k = i; k < i + 8; k++)                                                                    \
                    out[columns[k]] += values[k] * vector[row];                                                        \
            }                                                                                                          \
            FETCH(columns, values, i, fetched)                                                                         \
            for (; i < end; i++)                                                                                       \
                out[columns[i]] += values[i] * vector[row];                                                            \
        }                                                                                                              \
    }
MULTIPLY(int32_t, float)
MULTIPLY(int32_t, double)
MULTIPLY(int64_t, float)
MULTIPLY(int64_t, double)

#endif
