/* The loops of kernels that compute each element of a result from one of each operand. */
#pragma once
#include "elements.h"

/* A dimension along which operands lie otherwise than the result: n / extent is the high word of n * magic, shifted. */
typedef struct {
    unsigned long long extent, magic, shift;
    long long step[3]; /* of each operand, from an element to the next; 0 where one is for all */
} dimension;

#define MOST_DIMENSIONS 6

/* An operand is an array, or, where that is 0, one number for all elements: x of a, y of b. c is where's condition. */
typedef struct {
    void *out;
    const void *a, *b, *c;
    long long n;
    unsigned long long x[2], y[2];
    long long narrow;     /* whether functions of doubles take floats */
    long long form;       /* which of the functions it is that a kernel has in common */
    long long dimensions; /* 0 where all operands lie as the result does, which is in C order */
    dimension of[MOST_DIMENSIONS]; /* the last first */
} operands;

/* Where the elements of the operands are that go with element i of the result. Magic: Granlund and Montgomery, PLDI 1994. */
#define PLACES                                                                        \
    long long p = s.dimensions ? 0 : i, q = p, r = p;                                 \
    unsigned long long rest = (unsigned long long)i;                                  \
    for (long long d = 0; d < s.dimensions; d++) {                                    \
        const dimension *of = s.of + d;                                               \
        const unsigned long long times = (unsigned long long)((unsigned __int128)rest * of->magic >> 64) >> of->shift; \
        const long long along = (long long)(rest - times * of->extent);               \
        p += along * of->step[0];                                                     \
        q += along * of->step[1];                                                     \
        r += along * of->step[2];                                                     \
        rest = times;                                                                 \
    }                                                                                 \
    (void)q;                                                                          \
    (void)r;

#define EACH(name, T, R, expression)                                                  \
    KERNEL name(operands s);                                                          \
    KERNEL name(operands s) {                                                         \
        const T *a = s.a, *b = s.b;                                                   \
        T x, y;                                                                       \
        __builtin_memcpy(&x, s.x, sizeof x);                                          \
        __builtin_memcpy(&y, s.y, sizeof y);                                          \
        for (long long i = FIRST; i < s.n; i += STEP) {                               \
            PLACES                                                                    \
            x = a ? a[p] : x;                                                         \
            y = b ? b[q] : y;                                                         \
            ((R *)s.out)[i] = expression;                                             \
        }                                                                             \
    }

/* The types of integers: the kernels that a macro makes of a signed one, or of an unsigned one, and what it is computed in. */
#define EACH_INTEGER(signed_one, unsigned_one)                                        \
    signed_one(int64, long long, unsigned long long)                                  \
    signed_one(int32, int, unsigned)                                                  \
    signed_one(int16, short, unsigned)                                                \
    signed_one(int8, signed char, unsigned)                                           \
    unsigned_one(uint64, unsigned long long, unsigned long long)                      \
    unsigned_one(uint32, unsigned, unsigned)                                          \
    unsigned_one(uint16, unsigned short, unsigned)                                    \
    unsigned_one(uint8, unsigned char, unsigned)

/* ---- Functions of doubles, and of complex numbers of doubles, of which those of narrow ones are rounded ---- */

static inline double real_at(const void *a, long long i, long long narrow) {
    return narrow ? (double)((const float *)a)[i] : ((const double *)a)[i];
}

static inline void put_real(void *out, long long i, long long narrow, double v) {
    if (narrow)
        ((float *)out)[i] = (float)v;
    else
        ((double *)out)[i] = v;
}

static inline complex128 complex_at(const void *a, long long i, long long narrow) {
    if (!narrow)
        return ((const complex128 *)a)[i];
    const complex64 v = ((const complex64 *)a)[i];
    return (complex128){v.re, v.im};
}

static inline void put_complex(void *out, long long i, long long narrow, complex128 v) {
    if (narrow)
        ((complex64 *)out)[i] = (complex64){(float)v.re, (float)v.im};
    else
        ((complex128 *)out)[i] = v;
}

#define FUNCTION(name, T, kind, expression)                                           \
    KERNEL name(operands s);                                                          \
    KERNEL name(operands s) {                                                         \
        _Alignas(complex128) unsigned long long numbers[4]; /* which arguments need not be at multiples of */ \
        __builtin_memcpy(numbers, s.x, sizeof s.x);                                   \
        __builtin_memcpy(numbers + 2, s.y, sizeof s.y);                               \
        const T left = kind##_at(numbers, 0, s.narrow), right = kind##_at(numbers + 2, 0, s.narrow); \
        for (long long i = FIRST; i < s.n; i += STEP) {                               \
            PLACES                                                                    \
            const T x = s.a ? kind##_at(s.a, p, s.narrow) : left;                     \
            const T y = s.b ? kind##_at(s.b, q, s.narrow) : right;                    \
            (void)y;                                                                  \
            put_##kind(s.out, i, s.narrow, expression);                               \
        }                                                                             \
    }

#define OF_ONE(name, f) FUNCTION(name##_float64, double, real, f(x))
#define OF_TWO(name, f) FUNCTION(name##_float64, double, real, f(x, y))
