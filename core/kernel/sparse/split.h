/*
 * Rows of a sparse matrix whose columns ascend, divided in the elements of a range of columns and in those outside.
 *
 * Package sparse says why this is in C.
 */
#ifndef DTL_SPLIT_H
#define DTL_SPLIT_H

#include <stdint.h>
#include "wide.h"

/* WITHIN finds the elements of a row that are in columns from the first to the end: from low to high. COUNT_WITHIN writes how many each
 * row has. */
#define WITHIN(index)                                                                                                  \
    static inline void dtl_within_##index(const index *columns, int64_t begin, int64_t behind, int64_t first, int64_t end, \
                                          int64_t *low, int64_t *high) {                                               \
        int64_t i = begin;                                                                                             \
        while (i < behind && columns[i] < first)                                                                       \
            i++;                                                                                                       \
        *low = i;                                                                                                      \
        while (i < behind && columns[i] < end)                                                                         \
            i++;                                                                                                       \
        *high = i;                                                                                                     \
    }                                                                                                                  \
    static inline void dtl_count_within_##index(const index *indptr, const index *columns, int64_t rows, int64_t first, int64_t end, \
                                                index *counts) {                                                       \
        for (int64_t row = 0; row < rows; row++) {                                                                     \
            int64_t low, high;                                                                                         \
            dtl_within_##index(columns, indptr[row], indptr[row + 1], first, end, &low, &high);                        \
            counts[row] = (index)(high - low);                                                                         \
        }                                                                                                              \
    }
WITHIN(int32_t)
WITHIN(int64_t)

/* SPLIT writes the elements within to one matrix, of which they have columns from the first on, and those outside to another one. there
 * gets a 1 for each column that is outside, unless it is NULL. */
#define SPLIT(index, value)                                                                                            \
    static inline void dtl_move_##index##_##value(const index *columns, const value *values, int64_t begin, int64_t end, int64_t less, \
                                                  index *to, value *out) {                                             \
        for (int64_t i = begin; i < end; i++) {                                                                        \
            to[i - begin] = (index)(columns[i] - less);                                                                \
            out[i - begin] = values[i];                                                                                \
        }                                                                                                              \
    }                                                                                                                  \
    static inline void dtl_split_##index##_##value(const index *indptr, const index *columns, const value *values, int64_t row, \
                                                   int64_t behind, int64_t first, int64_t end, const index *ends, index *own, \
                                                   value *own_values, index *other, value *other_values, uint8_t *there) { \
        for (; row < behind; row++) {                                                                                  \
            int64_t low, high, from = indptr[row], to = indptr[row + 1], o = ends[row], t = from - o;                  \
            dtl_within_##index(columns, from, to, first, end, &low, &high);                                            \
            dtl_move_##index##_##value(columns, values, low, high, first, own + o, own_values + o);                    \
            dtl_move_##index##_##value(columns, values, from, low, 0, other + t, other_values + t);                    \
            t += low - from;                                                                                           \
            dtl_move_##index##_##value(columns, values, high, to, 0, other + t, other_values + t);                     \
            if (there != NULL) {                                                                                       \
                for (int64_t i = from; i < low; i++)                                                                   \
                    there[columns[i]] = 1;                                                                             \
                for (int64_t i = high; i < to; i++)                                                                    \
                    there[columns[i]] = 1;                                                                             \
            }                                                                                                          \
        }                                                                                                              \
    }
#define SPLITS(value) SPLIT(int32_t, value) SPLIT(int64_t, value)
SPLITS(uint8_t)
SPLITS(uint16_t)
SPLITS(uint32_t)
SPLITS(uint64_t)
SPLITS(dtl_wide)

/* RENUMBER writes the number that each column has in a table in its place. */
#define RENUMBER(index)                                                                                                \
    static inline void dtl_renumber_##index(index *columns, int64_t n, const index *numbers) {                         \
        for (int64_t i = 0; i < n; i++)                                                                                \
            columns[i] = numbers[columns[i]];                                                                          \
    }
RENUMBER(int32_t)
RENUMBER(int64_t)

#endif
