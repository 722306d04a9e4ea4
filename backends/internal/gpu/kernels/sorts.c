/* A stable radix sort, without threads that wait for each other: for each digit of the keys, each thread counts the digits of a piece,
 * the counts are scanned (scans.c), and each thread moves the elements of its piece to their places.
 *
 * Keys are those of core/kernel/radix: unsigned numbers that compare as the elements do. */
#include "elements.h"

typedef unsigned long long word;

typedef struct {
    void *to;
    const void *from;
    long long *to_index; /* 0 where indices are not asked for */
    const long long *from_index; /* 0 for those of the elements themselves */
    word *counts; /* of each digit, of each piece */
    long long n, each;
    word shift; /* of the digit in the key */
    word top, flip, sign, zero, turn, add, full, most; /* an Order of core/kernel/radix, and the greatest key */
} sort;

enum { DIGITS = 16 };

#define SORT(type, T)                                                                 \
    static inline unsigned digit_##type(const sort *s, T v) {                         \
        word b = v, k;                                                                \
        b = b == s->zero ? 0 : b;                                                     \
        k = (((b ^ (((0 - (b >> s->top)) & s->flip) | s->sign)) ^ s->turn) + s->add) & s->full; \
        k = k < s->most ? k : s->most;                                                \
        return (unsigned)(k >> s->shift) % DIGITS;                                    \
    }                                                                                 \
    KERNEL count_digits_##type(sort s);                                               \
    KERNEL count_digits_##type(sort s) {                                              \
        const long long from = FIRST * s.each, end = from + s.each < s.n ? from + s.each : s.n; \
        const long long pieces = (s.n + s.each - 1) / s.each;                         \
        word counts[DIGITS] = {0};                                                    \
        if (from >= s.n)                                                              \
            return;                                                                   \
        for (long long i = from; i < end; i++)                                        \
            counts[digit_##type(&s, ((const T *)s.from)[i])]++;                       \
        for (int d = 0; d < DIGITS; d++)                                              \
            s.counts[d * pieces + FIRST] = counts[d];                                 \
    }                                                                                 \
    KERNEL move_digits_##type(sort s);                                                \
    KERNEL move_digits_##type(sort s) {                                               \
        const long long from = FIRST * s.each, end = from + s.each < s.n ? from + s.each : s.n; \
        const long long pieces = (s.n + s.each - 1) / s.each;                         \
        word places[DIGITS];                                                          \
        if (from >= s.n)                                                              \
            return;                                                                   \
        for (int d = 0; d < DIGITS; d++)                                              \
            places[d] = s.counts[d * pieces + FIRST];                                 \
        for (long long i = from; i < end; i++) {                                      \
            T v = ((const T *)s.from)[i];                                             \
            word at = places[digit_##type(&s, v)]++;                                  \
            ((T *)s.to)[at] = v;                                                      \
            if (s.to_index)                                                           \
                s.to_index[at] = s.from_index ? s.from_index[i] : i;                  \
        }                                                                             \
    }

SORT(uint64, word)
SORT(uint32, unsigned)
SORT(uint16, unsigned short)
SORT(uint8, unsigned char)
