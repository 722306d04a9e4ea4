/*
 * Rows of Arrow's columns, taken in any order: of elements of a fixed width, of bits, and of text.
 *
 * Numbers of rows are int64. One that is outside the column, such as -1, stands for a row of nulls: its element is 0, its
 * bit is 0, and its text is empty.
 *
 * Package rows says why they are in C.
 */
#ifndef DTL_ROWS_H
#define DTL_ROWS_H

#include <stdint.h>
#include <string.h>

/* So many rows ahead, what is taken is fetched into the cache: the processor by itself looks ahead for a few only. */
enum { DTL_AHEAD = 64 };

/* Texts are copied by words of so many bytes, which may reach past the end of one. */
enum { DTL_WORD = 16 };

/* dtl_within returns a row of a column, or the first where it is outside. */
static inline int64_t dtl_within(int64_t row, int64_t length) { return (uint64_t)row < (uint64_t)length ? row : 0; }

/* TAKE copies the elements of one type. A row outside the column reads the first element, so that there is no branch to guess. */
#define TAKE(type)                                                                                                     \
    static inline void dtl_take_##type(void *to, const void *from, const int64_t *rows, int64_t n, int64_t length) {   \
        type *out = to;                                                                                                \
        const type *in = from;                                                                                         \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            if (i + DTL_AHEAD < n)                                                                                     \
                __builtin_prefetch(in + dtl_within(rows[i + DTL_AHEAD], length));                                      \
            int there = (uint64_t)rows[i] < (uint64_t)length;                                                          \
            type found = in[dtl_within(rows[i], length)];                                                              \
            out[i] = there ? found : (type)0;                                                                          \
        }                                                                                                              \
    }
TAKE(uint8_t)
TAKE(uint16_t)
TAKE(uint32_t)
TAKE(uint64_t)

static inline void dtl_take_any(char *to, const char *from, const int64_t *rows, int64_t n, int64_t length, int64_t width) {
    for (int64_t i = 0; i < n; i++)
        if ((uint64_t)rows[i] < (uint64_t)length)
            memcpy(to + i * width, from + rows[i] * width, (size_t)width);
        else
            memset(to + i * width, 0, (size_t)width);
}

static inline void dtl_take_elements(void *to, const void *from, const int64_t *rows, int64_t n, int64_t length, int64_t width) {
    if (length == 0)
        memset(to, 0, (size_t)(n * width));
    else if (width == 1)
        dtl_take_uint8_t(to, from, rows, n, length);
    else if (width == 2)
        dtl_take_uint16_t(to, from, rows, n, length);
    else if (width == 4)
        dtl_take_uint32_t(to, from, rows, n, length);
    else if (width == 8)
        dtl_take_uint64_t(to, from, rows, n, length);
    else
        dtl_take_any(to, from, rows, n, length, width);
}

/*
 * PART copies the elements of one type, each behind those of its part that came before. ends are how far each of many parts
 * has come, in elements of to, which has room for so many. It returns how many were copied: fewer than n if one's part is none
 * of these, or has no room.
 */
#define PART(type)                                                                                                     \
    static inline int64_t dtl_part_##type(void *to, int64_t room, const void *from, const int64_t *parts, int64_t n,   \
                                          int64_t *ends, int64_t many) {                                               \
        type *out = to;                                                                                                \
        const type *in = from;                                                                                         \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            if ((uint64_t)parts[i] >= (uint64_t)many || (uint64_t)ends[parts[i]] >= (uint64_t)room)                    \
                return i;                                                                                              \
            out[ends[parts[i]]++] = in[i];                                                                             \
        }                                                                                                              \
        return n;                                                                                                      \
    }
PART(uint8_t)
PART(uint16_t)
PART(uint32_t)
PART(uint64_t)

/* dtl_part_elements does what PART does for elements of 1, 2, 4 or 8 bytes; of another width it copies none. */
static inline int64_t dtl_part_elements(void *to, int64_t room, const void *from, const int64_t *parts, int64_t n, int64_t *ends,
                                        int64_t many, int64_t width) {
    switch (width) {
    case 1:
        return dtl_part_uint8_t(to, room, from, parts, n, ends, many);
    case 2:
        return dtl_part_uint16_t(to, room, from, parts, n, ends, many);
    case 4:
        return dtl_part_uint32_t(to, room, from, parts, n, ends, many);
    case 8:
        return dtl_part_uint64_t(to, room, from, parts, n, ends, many);
    }
    return 0;
}

/* dtl_take_word returns the bits of up to 64 rows, the first one's in the lowest bit. bits are NULL where all of the column are 1. */
static inline uint64_t dtl_take_word(const uint8_t *bits, int64_t first, int64_t length, const int64_t *rows, int64_t n) {
    uint64_t word = 0;
    for (int64_t i = 0; i < n; i++) {
        int there = (uint64_t)rows[i] < (uint64_t)length;
        int64_t at = first + dtl_within(rows[i], length);
        uint64_t bit = bits == NULL ? 1 : bits[at >> 3] >> (at & 7) & 1;
        word |= (there ? bit : 0) << i;
    }
    return word;
}

static inline int64_t dtl_take_bits(uint8_t *to, const uint8_t *bits, int64_t first, int64_t length, const int64_t *rows, int64_t n) {
    int64_t ones = 0;
    for (int64_t i = 0; i < n; i += 64) {
        int64_t many = n - i < 64 ? n - i : 64;
        uint64_t word = length == 0 ? 0 : dtl_take_word(bits, first, length, rows + i, many);
        ones += __builtin_popcountll(word);
        for (int64_t byte = 0; byte < (many + 7) / 8; byte++)
            to[i / 8 + byte] = (uint8_t)(word >> 8 * byte);
    }
    return ones;
}

/* dtl_measure_texts writes where each row's text begins in the column, and where it ends in the result. It returns the bytes of all, which
 * may be more than offsets of 32 bits can say. */
static inline int64_t dtl_measure_texts(int32_t *ends, int32_t *starts, const int32_t *offsets, int64_t length, const int64_t *rows, int64_t n) {
    int64_t total = 0;
    ends[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        if (i + DTL_AHEAD < n)
            __builtin_prefetch(offsets + dtl_within(rows[i + DTL_AHEAD], length));
        int there = (uint64_t)rows[i] < (uint64_t)length;
        const int32_t *of = offsets + dtl_within(rows[i], length);
        starts[i] = of[0];
        total += length > 0 && there ? of[1] - of[0] : 0;
        ends[i + 1] = (int32_t)total;
    }
    return total;
}

/* dtl_copy_texts copies texts of data, of so many bytes. A short one is a whole word where the word is in both memories: what is
 * beyond its end is overwritten by the next. */
static inline void dtl_copy_texts(char *to, int64_t room, const int32_t *ends, const int32_t *starts, int64_t n, const char *data, int64_t bytes) {
    for (int64_t i = 0; i < n; i++) {
        if (i + DTL_AHEAD < n)
            __builtin_prefetch(data + starts[i + DTL_AHEAD]);
        int64_t at = ends[i], long_ = ends[i + 1] - at, start = starts[i];
        if (long_ <= DTL_WORD && start + DTL_WORD <= bytes && at + DTL_WORD <= room)
            memcpy(to + at, data + start, DTL_WORD);
        else
            memcpy(to + at, data + start, (size_t)long_);
    }
}

#endif
