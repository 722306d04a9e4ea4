/* What a GPU does element by element.
 *
 * A kernel takes one structure by value. Floating point is IEEE's, without contraction, so that results are the host's; those of
 * complex numbers are as close as the host's. */
#include "each.h"

/* ---- Of every type but complex ones ---- */

#define COMPARISONS(type, T)                                  \
    EACH(equal_##type, T, boolean, x == y)                    \
    EACH(not_equal_##type, T, boolean, x != y)                \
    EACH(less_##type, T, boolean, x < y)                      \
    EACH(less_equal_##type, T, boolean, x <= y)               \
    EACH(greater_##type, T, boolean, x > y)                   \
    EACH(greater_equal_##type, T, boolean, x >= y)            \
    EACH(logical_and_##type, T, boolean, x != 0 && y != 0)    \
    EACH(logical_or_##type, T, boolean, x != 0 || y != 0)     \
    EACH(logical_xor_##type, T, boolean, (x != 0) != (y != 0)) \
    EACH(logical_not_##type, T, boolean, x == 0)

#define BITS(type, T)                                         \
    EACH(bitwise_and_##type, T, T, x & y)                     \
    EACH(bitwise_or_##type, T, T, x | y)                      \
    EACH(bitwise_xor_##type, T, T, x ^ y)

/* ---- Integers. Signed ones wrap, as unsigned ones do; what is divided by zero is zero ---- */

#define WIDTH(T) (8 * sizeof(T))

#define INTEGER(type, T, U)                                   \
    COMPARISONS(type, T)                                      \
    BITS(type, T)                                             \
    EACH(invert_##type, T, T, ~x)                             \
    EACH(left_shift_##type, T, T, (unsigned long long)y < WIDTH(T) ? (U)x << y : 0) \
    EACH(add_##type, T, T, (U)x + (U)y)                       \
    EACH(subtract_##type, T, T, (U)x - (U)y)                  \
    EACH(multiply_##type, T, T, (U)x *(U)y)                   \
    EACH(negative_##type, T, T, 0 - (U)x)                     \
    EACH(square_##type, T, T, (U)x *(U)x)                     \
    EACH(maximum_##type, T, T, x >= y ? x : y)                \
    EACH(minimum_##type, T, T, x <= y ? x : y)

#define SIGNED(type, T, U)                                                            \
    INTEGER(type, T, U)                                                               \
    EACH(absolute_##type, T, T, x < 0 ? 0 - (U)x : (U)x)                              \
    EACH(sign_##type, T, T, (x > 0) - (x < 0))                                        \
    EACH(right_shift_##type, T, T, x >> ((unsigned long long)y < WIDTH(T) ? y : (T)WIDTH(T) - 1)) \
    EACH(reciprocal_##type, T, T, /* of 0, the number that x86-64 makes of an infinity */ \
         x == 0 && sizeof(T) > 2 ? (T)((U)1 << (WIDTH(T) - 1)) : x == 1 || x == -1 ? x : 0) \
    EACH(bitwise_count_##type, T, unsigned char, (unsigned char)__builtin_popcountll(x < 0 ? 0 - (U)x : (U)x))

#define UNSIGNED(type, T, U)                                                          \
    INTEGER(type, T, U)                                                               \
    EACH(absolute_##type, T, T, x)                                                    \
    EACH(sign_##type, T, T, x > 0)                                                    \
    EACH(right_shift_##type, T, T, (unsigned long long)y < WIDTH(T) ? x >> y : 0)     \
    EACH(reciprocal_##type, T, T, x == 1)                                             \
    EACH(bitwise_count_##type, T, unsigned char, (unsigned char)__builtin_popcountll(x))

EACH_INTEGER(SIGNED, UNSIGNED)

COMPARISONS(bool, boolean)
BITS(bool, boolean)
EACH(invert_bool, boolean, boolean, !x)
EACH(add_bool, boolean, boolean, x | y)
EACH(multiply_bool, boolean, boolean, x & y)
EACH(maximum_bool, boolean, boolean, x | y)
EACH(minimum_bool, boolean, boolean, x & y)
EACH(absolute_bool, boolean, boolean, x)

/* ---- Floating point. A NaN wins over a number, and the first over the second ---- */

#define FLOATING(type, T, of)                                                         \
    COMPARISONS(type, T)                                                              \
    EACH(add_##type, T, T, x + y)                                                     \
    EACH(subtract_##type, T, T, x - y)                                                \
    EACH(multiply_##type, T, T, x *y)                                                 \
    EACH(divide_##type, T, T, x / y)                                                  \
    EACH(negative_##type, T, T, -x)                                                   \
    EACH(absolute_##type, T, T, of(__builtin_fabs)(x))                                \
    EACH(fabs_##type, T, T, of(__builtin_fabs)(x))                                    \
    EACH(sqrt_##type, T, T, of(__builtin_sqrt)(x))                                    \
    EACH(square_##type, T, T, x *x)                                                   \
    EACH(reciprocal_##type, T, T, 1 / x)                                              \
    EACH(sign_##type, T, T, x > 0 ? 1 : x < 0 ? -1 : x == 0 ? 0 : x)                  \
    EACH(floor_##type, T, T, of(__builtin_floor)(x))                                  \
    EACH(ceil_##type, T, T, of(__builtin_ceil)(x))                                    \
    EACH(trunc_##type, T, T, of(__builtin_trunc)(x))                                  \
    EACH(rint_##type, T, T, of(__builtin_rint)(x))                                    \
    EACH(isnan_##type, T, boolean, x != x)                                            \
    EACH(isinf_##type, T, boolean, x - x != 0 && x == x)                              \
    EACH(isfinite_##type, T, boolean, x - x == 0)                                     \
    EACH(signbit_##type, T, boolean, of(__builtin_copysign)(1, x) < 0)                \
    EACH(copysign_##type, T, T, of(__builtin_copysign)(x, y))                         \
    EACH(maximum_##type, T, T, x >= y || x != x ? x : y)                              \
    EACH(minimum_##type, T, T, x <= y || x != x ? x : y)                              \
    EACH(fmax_##type, T, T, x >= y || y != y ? x : y)                                 \
    EACH(fmin_##type, T, T, x <= y || y != y ? x : y)

#define DOUBLE(name) name
#define SINGLE(name) name##f

FLOATING(float64, double, DOUBLE)
FLOATING(float32, float, SINGLE)

/* ---- Complex numbers. They are ordered by the real part, and where these are equal by the other; what is missing has no place ---- */

#define INFINITE(r) ((r) - (r) != 0 && (r) == (r))
#define MISSING(z) ((z).re != (z).re || (z).im != (z).im)
#define NONZERO(z) ((z).re != 0 || (z).im != 0)
#define STRICTLY_ORDERED(x, order, y) ((x).re order (y).re && (x).re != (y).re && (x).im == (x).im && (y).im == (y).im)
#define ORDERED(x, order, y) (STRICTLY_ORDERED(x, order, y) || ((x).re == (y).re && (x).im order (y).im))

#define COMPLEX(type, T, R, of)                                                       \
    static inline T times_##type(T x, T y) {                                          \
        return (T){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};             \
    }                                                                                 \
    /* Smith, CACM 5 (1962) 435: the larger part of y divides first, so that nothing overflows on the way. */ \
    static inline T over_##type(T x, T y) {                                           \
        R a = of(__builtin_fabs)(y.re), b = of(__builtin_fabs)(y.im), ratio, by;      \
        if (a >= b) {                                                                 \
            if (a == 0)                                                               \
                return (T){x.re / a, x.im / a};                                       \
            ratio = y.im / y.re;                                                      \
            by = 1 / (y.re + y.im * ratio);                                           \
            return (T){(x.re + x.im * ratio) * by, (x.im - x.re * ratio) * by};       \
        }                                                                             \
        ratio = y.re / y.im;                                                          \
        by = 1 / (y.im + y.re * ratio);                                               \
        return (T){(x.re * ratio + x.im) * by, (x.im * ratio - x.re) * by};           \
    }                                                                                 \
    static inline R size_##type(T x) {                                                \
        R a = of(__builtin_fabs)(x.re), b = of(__builtin_fabs)(x.im);                 \
        R large = a > b ? a : b, small = a > b ? b : a;                               \
        if (large - large != 0 || small - small != 0) /* an infinity wins over NaN */ \
            return a == a && a - a != 0 ? a : b == b && b - b != 0 ? b : a + b;       \
        if (large == 0)                                                               \
            return large;                                                             \
        R part = small / large;                                                       \
        return part == 0 ? large : large * of(__builtin_sqrt)(1 + part * part);       \
    }                                                                                 \
    static inline T over_one_##type(T x) {                                            \
        R ratio, by;                                                                  \
        if (of(__builtin_fabs)(x.im) <= of(__builtin_fabs)(x.re)) {                   \
            ratio = x.im / x.re;                                                      \
            by = x.re + x.im * ratio;                                                 \
            return (T){1 / by, -ratio / by};                                          \
        }                                                                             \
        ratio = x.re / x.im;                                                          \
        by = x.re * ratio + x.im;                                                     \
        return (T){ratio / by, -1 / by};                                              \
    }                                                                                 \
    static inline T direction_##type(T x) {                                           \
        const R size = size_##type(x);                                                \
        if (size != size || (INFINITE(x.re) && INFINITE(x.im)))                       \
            return (T){(R)__builtin_nan(""), (R)__builtin_nan("")};                   \
        if (INFINITE(size))                                                           \
            return (T){INFINITE(x.re) ? of(__builtin_copysign)(1, x.re) : 0, INFINITE(x.im) ? of(__builtin_copysign)(1, x.im) : 0}; \
        return size == 0 ? (T){0, 0} : (T){x.re / size, x.im / size};                 \
    }                                                                                 \
    EACH(reciprocal_##type, T, T, over_one_##type(x))                                 \
    EACH(sign_##type, T, T, direction_##type(x))                                      \
    EACH(rint_##type, T, T, ((T){of(__builtin_rint)(x.re), of(__builtin_rint)(x.im)})) \
    EACH(less_##type, T, boolean, ORDERED(x, <, y))                                   \
    EACH(less_equal_##type, T, boolean, ORDERED(x, <=, y))                            \
    EACH(greater_##type, T, boolean, ORDERED(x, >, y))                                \
    EACH(greater_equal_##type, T, boolean, ORDERED(x, >=, y))                         \
    EACH(logical_and_##type, T, boolean, NONZERO(x) && NONZERO(y))                    \
    EACH(logical_or_##type, T, boolean, NONZERO(x) || NONZERO(y))                     \
    EACH(logical_xor_##type, T, boolean, NONZERO(x) != NONZERO(y))                    \
    EACH(maximum_##type, T, T, MISSING(x) || ORDERED(x, >=, y) ? x : y)               \
    EACH(minimum_##type, T, T, MISSING(x) || ORDERED(x, <=, y) ? x : y)               \
    EACH(fmax_##type, T, T, MISSING(y) || ORDERED(x, >=, y) ? x : y)                  \
    EACH(fmin_##type, T, T, MISSING(y) || ORDERED(x, <=, y) ? x : y)                  \
    EACH(isinf_##type, T, boolean, INFINITE(x.re) || INFINITE(x.im))                  \
    EACH(add_##type, T, T, ((T){x.re + y.re, x.im + y.im}))                           \
    EACH(subtract_##type, T, T, ((T){x.re - y.re, x.im - y.im}))                      \
    EACH(multiply_##type, T, T, times_##type(x, y))                                   \
    EACH(divide_##type, T, T, over_##type(x, y))                                      \
    EACH(negative_##type, T, T, ((T){-x.re, -x.im}))                                  \
    EACH(conjugate_##type, T, T, ((T){x.re, -x.im}))                                  \
    EACH(square_##type, T, T, times_##type(x, x))                                     \
    EACH(absolute_##type, T, R, size_##type(x))                                       \
    EACH(equal_##type, T, boolean, x.re == y.re && x.im == y.im)                      \
    EACH(not_equal_##type, T, boolean, x.re != y.re || x.im != y.im)                  \
    EACH(isnan_##type, T, boolean, x.re != x.re || x.im != x.im)                      \
    EACH(isfinite_##type, T, boolean, x.re - x.re == 0 && x.im - x.im == 0)           \
    EACH(logical_not_##type, T, boolean, x.re == 0 && x.im == 0)

COMPLEX(complex128, complex128, double, DOUBLE)
COMPLEX(complex64, complex64, float, SINGLE)

/* ---- Of x and y, the one that a condition says: types of one size are moved alike ---- */

typedef unsigned long long two_words __attribute__((vector_size(16))); /* which stay in registers, where a structure would not */

#define WHERE(type, T)                                                                \
    KERNEL where_##type(operands s);                                                  \
    KERNEL where_##type(operands s) {                                                 \
        const T *a = s.a, *b = s.b;                                                   \
        const boolean *c = s.c;                                                       \
        T x, y;                                                                       \
        __builtin_memcpy(&x, s.x, sizeof x);                                          \
        __builtin_memcpy(&y, s.y, sizeof y);                                          \
        for (long long i = FIRST; i < s.n; i += STEP) {                               \
            PLACES                                                                    \
            ((T *)s.out)[i] = c[r] ? (a ? a[p] : x) : (b ? b[q] : y);                 \
        }                                                                             \
    }

#define MOVES(type, T)                                                                \
    WHERE(type, T)                                                                    \
    EACH(positive_##type, T, T, x)

MOVES(uint8, unsigned char)
MOVES(uint16, unsigned short)
MOVES(uint32, unsigned)
MOVES(uint64, unsigned long long)
MOVES(complex128, two_words)
