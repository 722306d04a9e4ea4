/* Quotients that are whole, and remainders; common divisors, and powers of integers. What is divided by zero is zero, of integers. */
#include "pairs.h"

#include "each.h"

/* ---- Integers. Signed ones wrap, as unsigned ones do ---- */

#define DIVISORS(type, T, U)                                                          \
    static inline U divisor_##type(U x, U y) { /* the greatest of both: Euclid */     \
        while (y != 0) {                                                              \
            const U rest = x % y;                                                     \
            x = y;                                                                    \
            y = rest;                                                                 \
        }                                                                             \
        return x;                                                                     \
    }                                                                                 \
    static inline U multiple_##type(U x, U y) { return x == 0 || y == 0 ? 0 : x / divisor_##type(x, y) * y; } \
    static inline U power_of_##type(U x, U n) {                                       \
        U all = 1;                                                                    \
        for (; n != 0; n >>= 1, x *= x)                                               \
            if (n & 1)                                                                \
                all *= x;                                                             \
        return all;                                                                   \
    }

/* A quotient is rounded down, and a remainder has the sign of what is divided by; that of C, which fmod has, has the other's. */
#define SIGNED(type, T, U)                                                            \
    DIVISORS(type, T, U)                                                              \
    static inline U size_##type(T x) { return x < 0 ? 0 - (U)x : (U)x; }              \
    EACH(floor_divide_##type, T, T,                                                   \
         y == 0 ? 0 : y == -1 ? 0 - (U)x : (U)(x / y) - (x % y != 0 && (x < 0) != (y < 0))) \
    EACH(remainder_##type, T, T, y == 0 || y == -1 ? 0 : (U)(x % y) + (x % y != 0 && (x < 0) != (y < 0) ? (U)y : 0)) \
    EACH(fmod_##type, T, T, y == 0 || y == -1 ? 0 : x % y)                            \
    EACH(gcd_##type, T, T, divisor_##type(size_##type(x), size_##type(y)))            \
    EACH(lcm_##type, T, T, multiple_##type(size_##type(x), size_##type(y)))           \
    EACH(power_##type, T, T, power_of_##type((U)x, (U)y))

#define UNSIGNED(type, T, U)                                                          \
    DIVISORS(type, T, U)                                                              \
    EACH(floor_divide_##type, T, T, y == 0 ? 0 : x / y)                               \
    EACH(remainder_##type, T, T, y == 0 ? 0 : x % y)                                  \
    EACH(gcd_##type, T, T, divisor_##type(x, y))                                      \
    EACH(lcm_##type, T, T, multiple_##type(x, y))                                     \
    EACH(power_##type, T, T, power_of_##type(x, y))

EACH_INTEGER(SIGNED, UNSIGNED)

/* ---- Floats: a remainder is exact. As long as the quotient has more bits than a double, it is taken by a multiple of what is divided by
 * that is nearly as large; with a fused multiplication, what a quotient leaves is not rounded. ---- */

INLINE double left_of(double a, double b) { /* of a quotient below 2^53; neither is negative */
    const double r = __builtin_fma(-__builtin_trunc(a / b), b, a);
    return r < 0 ? r + b : r >= b ? r - b : r;
}

INLINE double fmod_of(double x, double y) {
    double a = MAGNITUDE(x);
    const double b = MAGNITUDE(y);
    if (!(a < INFINITY) || !(b > 0))
        return x != x || y != y ? x + y : NAN;
    if (b == INFINITY)
        return x;
    while (a >= b) {
        double unit = b;
        while (unit * 0x1p500 < a) /* which overflows to what is greater */
            unit *= 0x1p450;
        for (int i = 0; i < 9 && unit * 0x1p50 < a; i++)
            unit *= 0x1p50;
        a = left_of(a, unit);
    }
    return WITH_SIGN(a, x);
}

#define FLOATING(type, T, of)                                                         \
    static inline T remainder_of_##type(T x, T y) {                                   \
        const T r = (T)fmod_of(x, y);                                                 \
        if (y == 0 || r != r)                                                         \
            return r;                                                                 \
        return r == 0 ? of(__builtin_copysign)(0, y) : (y < 0) != (r < 0) ? r + y : r; \
    }                                                                                 \
    static inline T quotient_of_##type(T x, T y) {                                    \
        if (y == 0)                                                                   \
            return x / y;                                                             \
        const T r = (T)fmod_of(x, y);                                                 \
        T q = (x - r) / y;                                                            \
        if (r != 0 && (y < 0) != (r < 0))                                             \
            q -= 1;                                                                   \
        if (q == 0)                                                                   \
            return of(__builtin_copysign)(0, x / y);                                  \
        const T down = of(__builtin_floor)(q);                                        \
        return q - down > (T)0.5 ? down + 1 : down;                                   \
    }                                                                                 \
    EACH(fmod_##type, T, T, (T)fmod_of(x, y))                                         \
    EACH(remainder_##type, T, T, remainder_of_##type(x, y))                           \
    EACH(floor_divide_##type, T, T, quotient_of_##type(x, y))

#define DOUBLE(name) name
#define SINGLE(name) name##f

FLOATING(float64, double, DOUBLE)
FLOATING(float32, float, SINGLE)
