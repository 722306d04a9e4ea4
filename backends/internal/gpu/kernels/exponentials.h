/* Powers of e and natural logarithms, for everything that is made of them.
 *
 * Arguments are reduced by multiples of ln 2, as in Cody and Waite, Software Manual for the Elementary Functions, 1980, and what is left goes
 * into Taylor series, whose coefficients need no derivation. Their first terms are pairs, so that a relative error of 2^-58 is left of powers,
 * and of 2^-66 of logarithms, which a power multiplies by up to 745. */
#include "pairs.h"

#define LN2 ((pair){0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56})
#define PER_LN2 ((pair){0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56})
#define PER_LN10 ((pair){0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57})

/* A power of e is 2^k (1 + rest), where rest is from -0.3 to 0.42. */
typedef struct {
    pair rest;
    long long k;
} power;

/* The power of e of what is between -2000 and 2000. */
INLINE power power_of_e(pair x) {
    const double k = __builtin_rint(x.high * PER_LN2.high);
    const double near = __builtin_fma(-k, LN2.high, x.high); /* which is exact */
    const pair far = product_of(k, LN2.low);
    pair r = sum_of(near, -far.high);
    r = sum_of_ordered(r.high, r.low + (x.low - far.low));
    const double z = r.high;
    const double series =
        1.0 / 6 + z * (1.0 / 24 + z * (1.0 / 120 + z * (1.0 / 720 + z * (1.0 / 5040 + z * (1.0 / 40320 + z * (1.0 / 362880 +
        z * (1.0 / 3628800 + z * (1.0 / 39916800 + z * (1.0 / 479001600 + z * (1.0 / 6227020800 + z * (1.0 / 87178291200)))))))))));
    pair square = product_of(z, z);
    square = (pair){0.5 * square.high, 0.5 * square.low + z * r.low};
    const pair s = sum_of_ordered(z, square.high);
    return (power){sum_of_ordered(s.high, s.low + (r.low + (square.low + z * z * z * series))), (long long)k};
}

INLINE double rounded_power(power p) {
    const pair one = sum_of_ordered(1, p.rest.high);
    return scaled(one.high + (one.low + p.rest.low), p.k);
}

/* The power less 1, of what is at least -50; it is no finite number from 745 on. */
INLINE pair power_less_one(power p) {
    const double two = scaled(1, p.k);
    return plus(sum_of(two, -1), times_power(p.rest, two));
}

INLINE double raised(double x) {
    if (x > 710)
        return INFINITY;
    if (x < -746)
        return 0;
    return x != x ? x : rounded_power(power_of_e((pair){x, 0}));
}

/* The natural logarithm of a positive, finite number: m 2^k, with m between the roots of 1/2 and of 2, and ln m = 2 artanh((m-1)/(m+1)). */
INLINE pair logarithm_of(pair x) {
    double shift = 0;
    if (x.high < 0x1p-1022) {
        x = times_power(x, 0x1p54);
        shift = -54;
    }
    const word bits = bits_of(x.high);
    const long long k = (long long)(bits - 0x3fe6a09e667f3bcdull) >> 52;
    const double m = number_of(bits - ((word)k << 52));
    const pair f = sum_of(m - 1, x.low == 0 ? 0 : scaled(x.low, -k));
    const pair below = sum_of_ordered(2, f.high);
    const pair s = over(f, (pair){below.high, below.low + f.low}), z = times(s, s);
    const double series =
        1.0 / 7 + z.high * (1.0 / 9 + z.high * (1.0 / 11 + z.high * (1.0 / 13 + z.high * (1.0 / 15 + z.high * (1.0 / 17 +
        z.high * (1.0 / 19 + z.high * (1.0 / 21 + z.high * (1.0 / 23 + z.high * (1.0 / 25)))))))));
    const pair fifth = sum_of_ordered(0.2, z.high * series - 0x1.999999999999ap-57);
    const pair third = plus((pair){0x1.5555555555555p-2, 0x1.5555555555555p-56}, times(z, fifth));
    const pair of_m = plus(times_power(s, 2), times_power(times(s, times(z, third)), 2));
    return plus(times_number(LN2, (double)k + shift), of_m);
}

INLINE pair logarithm_of_number(double x) { return logarithm_of((pair){x, 0}); }

/* The natural logarithm of 1 and x, which is more than -1 and less than 2^100. */
INLINE pair logarithm_beside_one(pair x) {
    const pair u = sum_of(1, x.high);
    return logarithm_of(sum_of_ordered(u.high, u.low + x.low));
}

/* What logarithms are of numbers that have none, or that is no pair. */
#define LOGARITHM(x, result)                                                          \
    ((x) > 0 && (x) < INFINITY ? (result)                                      \
     : (x) == 0                       ? -INFINITY                              \
     : (x) < 0                        ? NAN                             \
                                      : (x))

/* ---- Powers ---- */

INLINE double exp2_of(double x) {
    if (x > 1025)
        return INFINITY;
    if (!(x > -1077))
        return x != x ? x : 0;
    const double whole = __builtin_rint(x);
    power p = power_of_e(times_number(LN2, x - whole));
    p.k += (long long)whole;
    return rounded_power(p);
}

INLINE double expm1_of(double x) {
    if (MAGNITUDE(x) < 0x1p-54 || x != x)
        return x;
    if (x > 60)
        return raised(x);
    return x < -40 ? -1 : rounded(power_less_one(power_of_e((pair){x, 0})));
}

/* x to the power y, with the exceptions of C's Annex F. */
INLINE double to_the_power(double x, double y) {
    if (y == 0 || x == 1)
        return 1;
    if (x != x || y != y)
        return x + y;
    const double a = MAGNITUDE(x);
    const int whole = __builtin_trunc(y) == y, odd = whole && MAGNITUDE(y) < 0x1p53 && 2 * __builtin_trunc(0.5 * y) != y;
    const double sign = odd ? WITH_SIGN(1, x) : 1;
    if (MAGNITUDE(y) == INFINITY)
        return a == 1 ? 1 : (a > 1) == (y > 0) ? INFINITY : 0;
    if (a == 0 || a == INFINITY)
        return sign * ((a == 0) == (y > 0) ? 0 : INFINITY);
    if (x < 0 && !whole)
        return NAN;
    const pair l = logarithm_of_number(a);
    const double about = l.high * y;
    return sign * (about > 710 ? INFINITY : about < -746 ? 0 : rounded_power(power_of_e(times_number(l, y))));
}

/* ---- Logarithms ---- */

INLINE double log_of(double x) { return LOGARITHM(x, rounded(logarithm_of_number(x))); }
INLINE double log2_of(double x) { return LOGARITHM(x, rounded(times(logarithm_of_number(x), PER_LN2))); }
INLINE double log10_of(double x) { return LOGARITHM(x, rounded(times(logarithm_of_number(x), PER_LN10))); }

INLINE double log1p_of(double x) {
    if (MAGNITUDE(x) < 0x1p-54)
        return x;
    return LOGARITHM(x + 1, x < 0x1p100 ? rounded(logarithm_beside_one((pair){x, 0})) : rounded(logarithm_of_number(x)));
}

/* The logarithm of the sum of two powers, of which x and y are the logarithms, where a unit of them is so many of e's. */
INLINE double added(double x, double y, pair unit, pair per_unit) {
    if (x == y)
        return FINITE(x) ? rounded(plus((pair){x, 0}, times(LN2, per_unit))) : x;
    const double large = x > y ? x : y, small = x > y ? y : x;
    pair d = sum_of(small, -large);
    if (!(d.high > -1100))
        return d.high != d.high ? d.high : large + 0; /* which has no sign where it is zero */
    const power p = power_of_e(times(d, unit));
    const pair one = sum_of_ordered(1, p.rest.high);
    const pair e = {scaled(one.high, p.k), scaled(one.low + p.rest.low, p.k)};
    return rounded(plus((pair){large, 0}, times(logarithm_beside_one(e), per_unit)));
}

#define ONE ((pair){1, 0})

INLINE double logaddexp_of(double x, double y) { return added(x, y, ONE, ONE); }
INLINE double logaddexp2_of(double x, double y) { return added(x, y, LN2, PER_LN2); }

/* ---- Hyperbolic functions ---- */

/* Half the power of e, of what is large. */
INLINE double half_raised(double x) {
    if (!(x < 712))
        return x;
    power p = power_of_e((pair){x, 0});
    p.k--;
    return rounded_power(p);
}

INLINE double sinh_of(double x) {
    const double a = MAGNITUDE(x);
    if (a < SMALL || x != x)
        return x;
    if (a > 40)
        return WITH_SIGN(a < 712 ? half_raised(a) : INFINITY, x);
    const pair t = power_less_one(power_of_e((pair){a, 0}));
    return WITH_SIGN(0.5 * rounded(plus(t, over(t, plus(ONE, t)))), x);
}

INLINE double cosh_of(double x) {
    const double a = MAGNITUDE(x);
    if (!(a < 40))
        return a < 712 ? half_raised(a) : a != a ? a : INFINITY;
    const pair e = plus(ONE, power_less_one(power_of_e((pair){a, 0})));
    return 0.5 * rounded(plus(e, over(ONE, e)));
}

INLINE double tanh_of(double x) {
    const double a = MAGNITUDE(x);
    if (a < SMALL || x != x)
        return x;
    if (a > 22)
        return WITH_SIGN(1, x);
    const pair t = power_less_one(power_of_e((pair){2 * a, 0}));
    return WITH_SIGN(rounded(over(t, plus((pair){2, 0}, t))), x);
}

INLINE double arcsinh_of(double x) {
    const double a = MAGNITUDE(x);
    if (a < SMALL || !(a < INFINITY))
        return x;
    if (a > 0x1p28)
        return WITH_SIGN(rounded(plus(logarithm_of_number(a), LN2)), x);
    const pair square = product_of(a, a), beyond = over(square, plus(ONE, root_of(plus(ONE, square))));
    return WITH_SIGN(rounded(logarithm_beside_one(plus((pair){a, 0}, beyond))), x);
}

INLINE double arccosh_of(double x) {
    if (!(x >= 1))
        return NAN;
    if (x > 0x1p28)
        return x < INFINITY ? rounded(plus(logarithm_of_number(x), LN2)) : x;
    const pair t = {x - 1, 0};
    return rounded(logarithm_beside_one(plus(t, root_of(times_number(sum_of(2, t.high), t.high)))));
}

INLINE double arctanh_of(double x) {
    const double a = MAGNITUDE(x);
    if (a < SMALL)
        return x;
    if (!(a < 1))
        return a == 1 ? WITH_SIGN(INFINITY, x) : NAN;
    return WITH_SIGN(0.5 * rounded(logarithm_beside_one(over((pair){2 * a, 0}, sum_of(1, -a)))), x);
}

/* ---- The cube root: Halley's method, which triples the correct bits, and once Newton's with what is left of x ---- */

INLINE double cbrt_of(double x) {
    double a = MAGNITUDE(x), back = 1;
    if (a == 0 || !(a < INFINITY))
        return x;
    if (a < 0x1p-900 || a > 0x1p900) {
        back = a < 1 ? 0x1p-100 : 0x1p100;
        a *= a < 1 ? 0x1p300 : 0x1p-300;
    }
    double t = number_of(bits_of(a) / 3 + 0x2a9f7893782da1ceull);
    for (int i = 0; i < 2; i++) {
        const double cube = t * t * t;
        t *= (cube + 2 * a) / (2 * cube + a);
    }
    const pair cube = times_number(product_of(t, t), t);
    t += ((a - cube.high) - cube.low) / (3 * t * t);
    return WITH_SIGN(t * back, x);
}
