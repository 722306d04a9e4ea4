/* What depends on how floats are written: their fractions and exponents, and their neighbours; and steps, and units of angles. */
#include "pairs.h"

#include "each.h"

/* ---- A number is a fraction from 1/2 on times a power of two ---- */

INLINE int exponent_of(double x) {
    if (!FINITE(x) || x == 0)
        return 0;
    const int small = MAGNITUDE(x) < 0x1p-1022; /* which has no exponent of its own */
    return (int)(bits_of(small ? x * 0x1p54 : x) >> 52 & 2047) - 1022 - (small ? 54 : 0);
}

/* x times 2^by. Of the steps, the last alone rounds: what an earlier one makes so small that it does becomes 0. */
INLINE double times_two_to(double x, double by) {
    long long k = by > 2200 ? 2200 : by < -2200 ? -2200 : (long long)by;
    for (; k > 1023; k -= 1023)
        x *= 0x1p1023;
    for (; k < -1022; k += 969)
        x *= 0x1p-969;
    return x * power_of_two(k);
}

INLINE double fraction_of(double x) { return times_two_to(x, -exponent_of(x)); }

INLINE double beyond_the_point(double x) {
    return WITH_SIGN(MAGNITUDE(x) == INFINITY ? 0 : x - __builtin_trunc(x), x);
}

#define FLOATING(type, T, U, of)                                                      \
    INLINE T written_##type(U w) {                                                    \
        T v;                                                                          \
        __builtin_memcpy(&v, &w, sizeof v);                                           \
        return v;                                                                     \
    }                                                                                 \
    /* The number after x, away from 0, or toward it. The bits of numbers of one sign are in the order of the numbers. */ \
    INLINE T neighbour_##type(T x, int away) {                                        \
        U w;                                                                          \
        __builtin_memcpy(&w, &x, sizeof w);                                           \
        return written_##type(away ? w + 1 : w - 1);                                  \
    }                                                                                 \
    INLINE T next_##type(T x, T y) {                                                  \
        if (x != x || y != y)                                                         \
            return x + y;                                                             \
        if (x == y)                                                                   \
            return y;                                                                 \
        return x == 0 ? of(__builtin_copysign)(written_##type(1), y) : neighbour_##type(x, (x < y) == (x > 0)); \
    }                                                                                 \
    EACH(nextafter_##type, T, T, next_##type(x, y))                                   \
    EACH(spacing_##type, T, T, x == 0 ? written_##type(1) : FINITE(x) ? neighbour_##type(x, 1) - x : x - x) \
    EACH(frexp_mantissa_##type, T, T, (T)fraction_of(x))                              \
    EACH(frexp_exponent_##type, T, int, exponent_of(x))                               \
    EACH(modf_fraction_##type, T, T, (T)beyond_the_point(x))                          \
    EACH(modf_whole_##type, T, T, of(__builtin_trunc)(x))                             \
    EACH(ldexp_##type, T, T, (T)times_two_to(x, y))                                   \
    EACH(heaviside_##type, T, T, x != x ? x : x == 0 ? y : x > 0 ? 1 : 0)             \
    EACH(degrees_##type, T, T, x *((T)180 / (T)0x1.921fb54442d18p+1))                 \
    EACH(radians_##type, T, T, x *((T)0x1.921fb54442d18p+1 / (T)180))

#define DOUBLE(name) name
#define SINGLE(name) name##f

FLOATING(float64, double, word, DOUBLE)
FLOATING(float32, float, unsigned, SINGLE)
