/* Each element combined with all before it, without threads that wait for each other: each thread combines a piece, then the pieces'
 * totals are scanned, in pieces of their own or by the host, and each thread scans its piece from what those before it come to.
 *
 * A total is two words: the number as core/kernel/scan has it in a Partial. */
#include "elements.h"

typedef unsigned long long word;

typedef struct {
    void *out;
    const void *a;
    const word *before; /* of each thread's piece: what those before it come to */
    long long n;
    long long each; /* how many a thread takes */
    long long exclusive;
} scan;

#define PIECE                                                                         \
    const long long from = FIRST * s.each, end = from + s.each < s.n ? from + s.each : s.n; \
    if (from >= s.n)                                                                  \
        return;

/* What a thread's piece comes to, as A. */
#define TOTAL(name, A, identity, combine, element)                                    \
    KERNEL name(scan s);                                                              \
    KERNEL name(scan s) {                                                             \
        PIECE                                                                         \
        A all = identity;                                                             \
        for (long long i = from; i < end; i++)                                        \
            all = combine(all, (element));                                            \
        __builtin_memcpy((word *)s.out + 2 * FIRST, &all, sizeof all);                \
    }

/* Of elements of type T, which are combined as A and written as R. */
#define ELEMENTS(name, T, A, R, wide, narrow, identity, combine)                      \
    TOTAL(totals_##name, A, identity, combine, wide(((const T *)s.a)[i]))             \
    KERNEL scan_##name(scan s);                                                       \
    KERNEL scan_##name(scan s) {                                                      \
        PIECE                                                                         \
        A all, before;                                                                \
        __builtin_memcpy(&all, s.before + 2 * FIRST, sizeof all);                     \
        for (long long i = from; i < end; i++) {                                      \
            before = all;                                                             \
            all = combine(all, wide(((const T *)s.a)[i]));                            \
            ((R *)s.out)[i] = s.exclusive ? narrow(before) : narrow(all);             \
        }                                                                             \
    }

/* Of totals of type A. */
#define TOTALS(name, A, identity, combine)                                            \
    static inline A total_##name(const word *at) {                                    \
        A x;                                                                          \
        __builtin_memcpy(&x, at, sizeof x);                                           \
        return x;                                                                     \
    }                                                                                 \
    TOTAL(merge_totals_##name, A, identity, combine, total_##name((const word *)s.a + 2 * i)) \
    /* The totals become what is before each of them. */                              \
    KERNEL spread_totals_##name(scan s);                                              \
    KERNEL spread_totals_##name(scan s) {                                             \
        PIECE                                                                         \
        A all, x;                                                                     \
        __builtin_memcpy(&all, s.before + 2 * FIRST, sizeof all);                     \
        for (long long i = from; i < end; i++) {                                      \
            __builtin_memcpy(&x, (const word *)s.a + 2 * i, sizeof x);                \
            __builtin_memcpy((word *)s.out + 2 * i, &all, sizeof all);                \
            all = combine(all, x);                                                    \
        }                                                                             \
    }

#define AS_WORD(x) ((word)(x))
#define AS_DOUBLE(x) ((double)(x))
#define AS_FLOAT(x) ((float)(x))
#define SAME(x) (x)
#define ADD(x, y) ((x) + (y))
#define MULTIPLY(x, y) ((x) * (y))

#define WIDENED(x) ((complex128){(x).re, (x).im})
#define NARROWED(x) ((complex64){(float)(x).re, (float)(x).im})
#define ADD_COMPLEX(x, y) added(x, y)
#define MULTIPLY_COMPLEX(x, y) multiplied(x, y)

static inline complex128 added(complex128 x, complex128 y) { return (complex128){x.re + y.re, x.im + y.im}; }

static inline complex128 multiplied(complex128 x, complex128 y) {
    return (complex128){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}

/* A NaN wins, and -0.0 is less than 0.0. */
#define BEFORE(x, y) ((x) < (y) || ((x) == (y) && __builtin_copysign(1, x) < __builtin_copysign(1, y)))
#define LEAST(x, y) ((x) != (x) ? (x) : (y) != (y) ? (y) : BEFORE(y, x) ? (y) : (x))
#define GREATEST(x, y) ((x) != (x) ? (x) : (y) != (y) ? (y) : BEFORE(x, y) ? (y) : (x))
#define LESS(x, y) ((y) < (x) ? (y) : (x))
#define GREATER(x, y) ((y) > (x) ? (y) : (x))

#define EXTREMES(type, T, highest, lowest, least, greatest)                           \
    ELEMENTS(min_##type, T, T, T, SAME, SAME, highest, least)                         \
    ELEMENTS(max_##type, T, T, T, SAME, SAME, lowest, greatest)                       \
    TOTALS(min_##type, T, highest, least)                                             \
    TOTALS(max_##type, T, lowest, greatest)

#define INTEGER(type, T, highest, lowest)                                             \
    ELEMENTS(sum_##type, T, word, word, AS_WORD, SAME, 0, ADD)                        \
    ELEMENTS(prod_##type, T, word, word, AS_WORD, SAME, 1, MULTIPLY)                  \
    EXTREMES(type, T, highest, lowest, LESS, GREATER)

#define FLOAT(type, T, narrow)                                                        \
    ELEMENTS(sum_##type, T, double, T, AS_DOUBLE, narrow, 0, ADD)                     \
    ELEMENTS(prod_##type, T, double, T, AS_DOUBLE, narrow, 1, MULTIPLY)               \
    EXTREMES(type, T, (T)__builtin_inf(), (T)-__builtin_inf(), LEAST, GREATEST)

#define COMPLEX(type, T, wide, narrow)                                                \
    ELEMENTS(sum_##type, T, complex128, T, wide, narrow, ((complex128){0, 0}), ADD_COMPLEX) \
    ELEMENTS(prod_##type, T, complex128, T, wide, narrow, ((complex128){1, 0}), MULTIPLY_COMPLEX)

INTEGER(int64, long long, 0x7fffffffffffffff, -0x7fffffffffffffff - 1)
INTEGER(int32, int, 0x7fffffff, -0x7fffffff - 1)
INTEGER(int16, short, 0x7fff, -0x8000)
INTEGER(int8, signed char, 0x7f, -0x80)
INTEGER(uint64, word, 0xffffffffffffffff, 0)
INTEGER(uint32, unsigned, 0xffffffff, 0)
INTEGER(uint16, unsigned short, 0xffff, 0)
INTEGER(uint8, unsigned char, 0xff, 0)
INTEGER(bool, boolean, 1, 0)
FLOAT(float64, double, SAME)
FLOAT(float32, float, AS_FLOAT)
COMPLEX(complex128, complex128, SAME, SAME)
COMPLEX(complex64, complex64, WIDENED, NARROWED)

TOTALS(sum_uint64, word, 0, ADD)
TOTALS(prod_uint64, word, 1, MULTIPLY)
TOTALS(sum_float64, double, 0, ADD)
TOTALS(prod_float64, double, 1, MULTIPLY)
TOTALS(sum_complex128, complex128, ((complex128){0, 0}), ADD_COMPLEX)
TOTALS(prod_complex128, complex128, ((complex128){1, 0}), MULTIPLY_COMPLEX)
