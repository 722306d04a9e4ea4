/* Numbers of twice a double's precision: the sum of two doubles, of which the second is at most half a unit in the last place of the first.
 *
 * Functions compute with them where a double would lose what the last bit of their result needs. A relative error of 2^-100 is left.
 * Dekker, Numerische Mathematik 18 (1971) 224; Knuth, TAOCP 2, 4.2.2; with fused multiplications, which are exact before they are
 * rounded, Muller et al., Handbook of Floating-Point Arithmetic, 2nd ed., 2018, chapters 4.4 and 14. */
#pragma once
#include "elements.h"

typedef unsigned long long word;

#define INFINITY __builtin_inf()
#define NAN __builtin_nan("")
#define FINITE(x) ((x) - (x) == 0)
#define MAGNITUDE(x) __builtin_fabs(x)
#define WITH_SIGN(x, of) __builtin_copysign(x, of)
#define SMALL 0x1p-28 /* what follows x in the series of odd functions is less than the last bit below it */

#define INLINE static inline __attribute__((always_inline))

INLINE word bits_of(double v) {
    word w;
    __builtin_memcpy(&w, &v, sizeof w);
    return w;
}

INLINE double number_of(word w) {
    double v;
    __builtin_memcpy(&v, &w, sizeof v);
    return v;
}

/* 2 to the power k, from -1022 to 1023. */
INLINE double power_of_two(long long k) { return number_of((word)(k + 1023) << 52); }

/* v times 2 to the power k, rounded once: from about -2000 to 2000. */
INLINE double scaled(double v, long long k) { return v * power_of_two(k / 2) * power_of_two(k - k / 2); }

typedef struct {
    double high, low;
} pair;

INLINE pair sum_of_ordered(double x, double y) { /* |x| is not less than |y|, or x is 0 */
    const double s = x + y;
    return (pair){s, y - (s - x)};
}

INLINE pair sum_of(double x, double y) {
    const double s = x + y, b = s - x;
    return (pair){s, (x - (s - b)) + (y - b)};
}

INLINE pair product_of(double x, double y) {
    const double p = x * y;
    return (pair){p, __builtin_fma(x, y, -p)};
}

INLINE double rounded(pair x) { return x.high + x.low; }

INLINE pair negated(pair x) { return (pair){-x.high, -x.low}; }

INLINE pair times_power(pair x, double power) { return (pair){x.high * power, x.low * power}; } /* of two: nothing is rounded */

INLINE pair plus(pair x, pair y) {
    const pair s = sum_of(x.high, y.high), t = sum_of(x.low, y.low);
    const pair u = sum_of_ordered(s.high, s.low + t.high);
    return sum_of_ordered(u.high, t.low + u.low);
}

INLINE pair times(pair x, pair y) {
    const pair p = product_of(x.high, y.high);
    return sum_of_ordered(p.high, p.low + (x.high * y.low + x.low * y.high));
}

INLINE pair times_number(pair x, double y) {
    const pair p = product_of(x.high, y);
    return sum_of_ordered(p.high, __builtin_fma(x.low, y, p.low));
}

INLINE pair over(pair x, pair y) {
    const double q = x.high / y.high;
    const pair back = product_of(q, y.high);
    const double left = (x.high - back.high) - back.low + (x.low - q * y.low);
    return sum_of_ordered(q, left / y.high);
}

INLINE pair root_of(pair x) { /* of what is not negative */
    const double r = __builtin_sqrt(x.high);
    if (r == 0)
        return (pair){r, 0};
    return sum_of_ordered(r, (__builtin_fma(-r, r, x.high) + x.low) / (2 * r));
}
