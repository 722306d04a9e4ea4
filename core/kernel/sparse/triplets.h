/*
 * Triplets of a sparse matrix, a row, a column and a value each, sorted by rows and columns in linear time.
 *
 * Rows are taken in blocks of a power of two. One that the rows of two ranks share is a block of each. Triplets are counted, and then
 * written block after block, as a key of 8 bytes and the value. What belongs to a block has room in a cache, where it is sorted.
 *
 * Package sparse says why this is in C.
 */
#ifndef DTL_TRIPLETS_H
#define DTL_TRIPLETS_H

#include <stdint.h>
#include <string.h>
#include "wide.h"

/* How rows are divided among ranks, and in blocks of 2**shift. */
typedef struct {
    const int64_t *begins; /* where the rows of each rank begin, and where the last ones end */
    const int64_t *owners; /* of each block, the rank that has its first row */
    int64_t rows, columns;
    int shift;
} dtl_blocks;

/* dtl_block_of returns the number of a row's block. Each rank has one more of them than there are blocks of all rows, so that a
 * shared one has a number for each. */
static inline int64_t dtl_block_of(const dtl_blocks *by, int64_t row) {
    int64_t at = row >> by->shift, owner = by->owners[at];
    while (row >= by->begins[owner + 1])
        owner++;
    return at + owner;
}

/* COUNT adds the triplets of each block to counts. It returns the first triplet outside the matrix; n if there is none. */
#define COUNT(index)                                                                                                   \
    static inline int64_t dtl_count_##index(const dtl_blocks *by, const index *rows, const index *columns, int64_t n, int64_t *counts) { \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            int64_t row = rows[i], column = columns[i];                                                                \
            if ((uint64_t)row >= (uint64_t)by->rows || (uint64_t)column >= (uint64_t)by->columns)                      \
                return i;                                                                                              \
            counts[dtl_block_of(by, row)]++;                                                                           \
        }                                                                                                              \
        return n;                                                                                                      \
    }
COUNT(int32_t)
COUNT(int64_t)

/* A key has the column in its lower half, and in its upper one the lowest bits of the row, which tell it from others of the block. */
static inline uint64_t dtl_key(const dtl_blocks *by, int64_t row, int64_t column) {
    return ((uint64_t)row & (((uint64_t)1 << by->shift) - 1)) << 32 | (uint64_t)column;
}

/* WRITE writes triplets where places say of their blocks, one after the other. */
#define WRITE(index, value)                                                                                            \
    static inline void dtl_write_##index##_##value(const dtl_blocks *by, const index *rows, const index *columns, const value *values, \
                                                   int64_t n, int64_t *places, uint64_t *keys, value *out) {           \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            int64_t at = places[dtl_block_of(by, rows[i])]++;                                                          \
            keys[at] = dtl_key(by, rows[i], columns[i]);                                                               \
            out[at] = values[i];                                                                                       \
        }                                                                                                              \
    }
#define WRITES(value) WRITE(int32_t, value) WRITE(int64_t, value)
WRITES(uint8_t)
WRITES(uint16_t)
WRITES(uint32_t)
WRITES(uint64_t)
WRITES(dtl_wide)

/* Numbers that are sorted have a column above so many bits, in which they say which triplet of the block they are of. */
enum { DTL_TRIPLET = 33 };

/* So many numbers are sorted by insertion, and more by their bytes. */
enum { DTL_SHORT = 48 };

static inline void dtl_sort_short(uint64_t *numbers, int64_t n) {
    for (int64_t i = 1; i < n; i++) {
        uint64_t one = numbers[i];
        int64_t j = i;
        for (; j > 0 && numbers[j - 1] > one; j--)
            numbers[j] = numbers[j - 1];
        numbers[j] = one;
    }
}

/* dtl_sort_long sorts numbers by their columns, and leaves those of one column as they are. spare has room for as many. */
static inline void dtl_sort_long(uint64_t *numbers, uint64_t *spare, int64_t n) {
    uint64_t *from = numbers, *to = spare, some = 0, all = ~(uint64_t)0;
    for (int64_t i = 0; i < n; i++) {
        some |= numbers[i];
        all &= numbers[i];
    }
    for (int bit = DTL_TRIPLET; bit < 64; bit += 8) {
        int64_t places[257] = {0};
        if (((some ^ all) >> bit & 255) == 0)
            continue;
        for (int64_t i = 0; i < n; i++)
            places[(from[i] >> bit & 255) + 1]++;
        for (int byte = 0; byte < 255; byte++)
            places[byte + 1] += places[byte];
        for (int64_t i = 0; i < n; i++)
            to[places[from[i] >> bit & 255]++] = from[i];
        uint64_t *next = from;
        from = to;
        to = next;
    }
    if (from != numbers)
        memcpy(numbers, from, (size_t)n * sizeof *numbers);
}

/* The triplets of one block, which come in pieces of several ranks, and memory for as many to sort them in. */
typedef struct {
    int64_t pieces;
    const int64_t *counts, *starts; /* of each piece, how many triplets it has, and where they begin in what came */
    int64_t rows, low;              /* how many rows the block has, and the lowest bits of the first */
    uint64_t *order, *spare;
    void *room;
} dtl_block;

/* SORT writes the columns and the values of a block, sorted, and where each row ends. It returns how many are of the place of the one
 * before, which they follow as they came. */
#define SORT(value)                                                                                                    \
    static inline int64_t dtl_sort_##value(const dtl_block *b, const uint64_t *keys, const value *values, int64_t *ends, \
                                           int32_t *columns, value *out) {                                             \
        value *room = b->room;                                                                                         \
        int64_t same = 0, before = 0;                                                                                  \
        memset(ends, 0, (size_t)b->rows * sizeof *ends);                                                               \
        for (int64_t p = 0; p < b->pieces; p++)                                                                        \
            for (int64_t i = b->starts[p]; i < b->starts[p] + b->counts[p]; i++)                                       \
                ends[(int64_t)(keys[i] >> 32) - b->low]++;                                                             \
        for (int64_t row = 0; row < b->rows; row++) {                                                                  \
            int64_t n = ends[row];                                                                                     \
            ends[row] = before;                                                                                        \
            before += n;                                                                                               \
        }                                                                                                              \
        for (int64_t p = 0; p < b->pieces; p++)                                                                        \
            for (int64_t i = b->starts[p]; i < b->starts[p] + b->counts[p]; i++) {                                     \
                int64_t at = ends[(int64_t)(keys[i] >> 32) - b->low]++;                                                \
                b->order[at] = keys[i] << 32 << (DTL_TRIPLET - 32) | (uint64_t)at;                                     \
                room[at] = values[i];                                                                                  \
            }                                                                                                          \
        for (int64_t row = 0, begin = 0; row < b->rows; begin = ends[row++]) {                                         \
            if (ends[row] - begin <= DTL_SHORT)                                                                        \
                dtl_sort_short(b->order + begin, ends[row] - begin);                                                   \
            else                                                                                                       \
                dtl_sort_long(b->order + begin, b->spare, ends[row] - begin);                                          \
            for (int64_t i = begin; i < ends[row]; i++) {                                                              \
                columns[i] = (int32_t)(b->order[i] >> DTL_TRIPLET);                                                    \
                out[i] = room[b->order[i] & (((uint64_t)1 << DTL_TRIPLET) - 1)];                                       \
                same += i > begin && columns[i] == columns[i - 1];                                                     \
            }                                                                                                          \
        }                                                                                                              \
        return same;                                                                                                   \
    }
SORT(uint8_t)
SORT(uint16_t)
SORT(uint32_t)
SORT(uint64_t)
SORT(dtl_wide)

#endif
