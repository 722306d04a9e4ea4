/* A stable radix sort, without threads that wait for each other: for each digit of the keys, each thread counts the digits of a piece,
 * the counts are scanned (scans.c), and each thread moves the elements of its piece to their places. And searches in what is sorted.
 *
 * Keys are computed as core/kernel/radix does: unsigned numbers that compare as the elements do. */
#include "elements.h"

typedef unsigned long long word;

/* An Order of core/kernel/radix, and the greatest key. */
typedef struct {
    word top, flip, sign, zero, turn, add, full, most;
} order;

typedef struct {
    void *to;
    const void *from;
    long long *to_index; /* 0 where indices are not asked for */
    const long long *from_index; /* 0 for those of the elements themselves */
    word *counts; /* of each digit, of each piece */
    long long n, each;
    word shift; /* of the digit in the key */
    order keys;
} sort;

typedef struct {
    long long *counts; /* of the elements less than a key, and of those not greater */
    const word *wanted; /* the keys */
    long long n; /* of the counts */
    const void *from; /* elements that are sorted */
    long long length;
    order keys;
} search;

enum { DIGITS = 16 };

#define SORT(type, T)                                                                 \
    static inline word key_##type(const order *o, T v) {                              \
        word b = v, k;                                                                \
        b = b == o->zero ? 0 : b;                                                     \
        k = (((b ^ (((0 - (b >> o->top)) & o->flip) | o->sign)) ^ o->turn) + o->add) & o->full; \
        return k < o->most ? k : o->most;                                             \
    }                                                                                 \
    static inline unsigned digit_##type(const sort *s, T v) {                         \
        return (unsigned)(key_##type(&s->keys, v) >> s->shift) % DIGITS;              \
    }                                                                                 \
    KERNEL search_keys_##type(search s);                                              \
    KERNEL search_keys_##type(search s) {                                             \
        for (long long i = FIRST; i < s.n; i += STEP) {                               \
            long long from = 0, end = s.length;                                       \
            while (from < end) {                                                      \
                const long long middle = from + (end - from) / 2;                     \
                const word k = key_##type(&s.keys, ((const T *)s.from)[middle]);      \
                if (k < s.wanted[i / 2] || (i % 2 == 1 && k == s.wanted[i / 2]))      \
                    from = middle + 1;                                                \
                else                                                                  \
                    end = middle;                                                     \
            }                                                                         \
            s.counts[i] = from;                                                       \
        }                                                                             \
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
