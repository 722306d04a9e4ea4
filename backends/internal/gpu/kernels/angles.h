/* Sines, cosines and arc tangents, for everything that is made of them.
 *
 * What is left of an angle, or of a ratio, goes into Taylor series, as in exponentials.h. */
#include "pairs.h"

#define PI ((pair){0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53})
#define HALF_PI ((pair){0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54})

/* ---- Angles: what is left of quarters of a turn, between -pi/4 and pi/4, and how many they are, by their last two bits ---- */

typedef struct {
    pair left;
    int quarters;
} angle;

/* Where 2/pi has its bits after the point. A double's 53 bits need 192 of them, from where they make less than a turn. */
static const word two_over_pi[20] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
    0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4,
    0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d,
};

/* Of what is 2^30 or more: Payne and Hanek, SIGNUM Newsletter 18 (1983) 19. */
INLINE angle angle_of_large(double x) {
    const word bits = bits_of(x), m = (bits & 0xfffffffffffffull) | 1ull << 52;
    const int at = (int)(bits >> 52 & 2047) - 1075 - 2; /* the first bit that counts, which stands for two quarters */
    word part[3];
    for (int i = 0; i < 3; i++) {
        const int bit = at + 64 * i, first = bit >> 6, shift = bit & 63;
        const word high = first < 0 ? 0 : two_over_pi[first], low = two_over_pi[first + 1];
        part[i] = shift ? high << shift | low >> (64 - shift) : high;
    }
    const unsigned __int128 last = (unsigned __int128)m * part[2], middle = (unsigned __int128)m * part[1] + (word)(last >> 64);
    word f[3] = {m * part[0] + (word)(middle >> 64), (word)middle, (word)last};
    int quarters = (int)(f[0] >> 62);
    f[0] = f[0] << 2 | f[1] >> 62;
    f[1] = f[1] << 2 | f[2] >> 62;
    f[2] <<= 2;
    const int beyond = (int)(f[0] >> 63); /* half a quarter: what is left counts from the next one back */
    if (beyond) {
        quarters++;
        f[0] = ~f[0];
        f[1] = ~f[1];
        f[2] = ~f[2];
    }
    const int zeros = f[0] ? __builtin_clzll(f[0]) : 63; /* no double is so near to a multiple that more of them are */
    if (zeros) {
        f[0] = f[0] << zeros | f[1] >> (64 - zeros);
        f[1] = f[1] << zeros | f[2] >> (64 - zeros);
    }
    const double unit = (beyond ? -1 : 1) * power_of_two(-53 - zeros);
    const pair fraction = {(double)(f[0] >> 11) * unit, (double)((f[0] & 0x7ff) << 42 | f[1] >> 22) * unit * 0x1p-53};
    const pair left = times(sum_of_ordered(fraction.high, fraction.low), HALF_PI);
    return x < 0 ? (angle){negated(left), -quarters} : (angle){left, quarters};
}

INLINE angle angle_of(double x) {
    if (!(MAGNITUDE(x) < 0x1p30))
        return MAGNITUDE(x) < INFINITY ? angle_of_large(x) : (angle){{x - x, 0}, 0};
    const double k = __builtin_rint(x * 0x1.45f306dc9c883p-1);
    const double near = __builtin_fma(-k, HALF_PI.high, x); /* which is exact */
    const pair far = product_of(k, HALF_PI.low), left = sum_of(near, -far.high);
    return (angle){sum_of_ordered(left.high, __builtin_fma(k, 0x1.f1976b7ed8fbcp-110, left.low - far.low)), (int)(long long)k};
}

/* Of what is left of an angle. */
INLINE pair sine_of(pair r) {
    const double x = r.high, z = x * x;
    const double series =
        -1.0 / 6 + z * (1.0 / 120 + z * (-1.0 / 5040 + z * (1.0 / 362880 + z * (-1.0 / 39916800 + z * (1.0 / 6227020800 +
        z * (-1.0 / 1307674368000 + z * (1.0 / 355687428096000)))))));
    return sum_of_ordered(x, r.low * (1 - 0.5 * z) + x * z * series);
}

INLINE pair cosine_of(pair r) {
    const double x = r.high, z = x * x;
    const double series =
        1.0 / 24 + z * (-1.0 / 720 + z * (1.0 / 40320 + z * (-1.0 / 3628800 + z * (1.0 / 479001600 + z * (-1.0 / 87178291200 +
        z * (1.0 / 20922789888000 + z * (-1.0 / 6402373705728000)))))));
    const pair square = product_of(x, x), one = sum_of_ordered(1, -0.5 * square.high);
    return sum_of_ordered(one.high, one.low + (z * z * series - (0.5 * square.low + x * r.low)));
}

INLINE pair sine_of_angle(angle a) {
    const pair v = a.quarters & 1 ? cosine_of(a.left) : sine_of(a.left);
    return a.quarters & 2 ? negated(v) : v;
}

INLINE pair cosine_of_angle(angle a) { return sine_of_angle((angle){a.left, a.quarters + 1}); }

/* ---- The arc tangent of y / x, of which neither is negative, and one is not 0. Of the ratio of the lesser to the greater, what is beyond
 * the nearest quarter goes into the series. ---- */

INLINE pair arc_of(pair y, pair x) {
    const int steep = y.high > x.high;
    const pair less = steep ? x : y, more = steep ? y : x;
    const double c = 0.25 * __builtin_rint(4 * (less.high / more.high));
    const pair t = over(plus(less, times_number(more, -c)), plus(more, times_number(less, c)));
    const double z = t.high * t.high;
    const double series =
        -1.0 / 3 + z * (1.0 / 5 + z * (-1.0 / 7 + z * (1.0 / 9 + z * (-1.0 / 11 + z * (1.0 / 13 + z * (-1.0 / 15 +
        z * (1.0 / 17 + z * (-1.0 / 19))))))));
    const pair beyond = sum_of_ordered(t.high, t.low + t.high * z * series);
    const pair quarter = c == 0      ? (pair){0, 0}
                         : c == 0.25 ? (pair){0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57}
                         : c == 0.5  ? (pair){0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56}
                         : c == 0.75 ? (pair){0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56}
                                     : (pair){0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55};
    const pair arc = plus(quarter, beyond);
    return steep ? plus(HALF_PI, negated(arc)) : arc;
}

/* ---- The functions ---- */

INLINE double sin_of(double x) { return MAGNITUDE(x) < SMALL ? x : rounded(sine_of_angle(angle_of(x))); }
INLINE double cos_of(double x) { return rounded(cosine_of_angle(angle_of(x))); }

INLINE double tan_of(double x) {
    if (MAGNITUDE(x) < SMALL)
        return x;
    const angle a = angle_of(x);
    const pair sine = sine_of(a.left), cosine = cosine_of(a.left);
    return rounded(a.quarters & 1 ? negated(over(cosine, sine)) : over(sine, cosine));
}

/* The root of 1 - x^2, of what is not beyond 1. */
INLINE pair beside(double x) { return root_of(times(sum_of(1, -x), sum_of(1, x))); }

INLINE double arcsin_of(double x) {
    const double a = MAGNITUDE(x);
    if (a < SMALL)
        return x;
    return a <= 1 ? WITH_SIGN(rounded(arc_of((pair){a, 0}, beside(a))), x) : NAN;
}

INLINE double arccos_of(double x) {
    const double a = MAGNITUDE(x);
    if (!(a <= 1))
        return NAN;
    const pair arc = arc_of(beside(a), (pair){a, 0});
    return rounded(x < 0 ? plus(PI, negated(arc)) : arc);
}

INLINE double arctan_of(double x) {
    const double a = MAGNITUDE(x);
    if (a < SMALL || x != x)
        return x;
    return WITH_SIGN(a < 0x1p60 ? rounded(arc_of((pair){a, 0}, (pair){1, 0})) : HALF_PI.high, x);
}

/* With the exceptions of C's Annex F. */
INLINE double arctan2_of(double y, double x) {
    if (x != x || y != y)
        return x + y;
    double a = MAGNITUDE(y), b = MAGNITUDE(x);
    const int backward = WITH_SIGN(1, x) < 0;
    if (a == b && (a == 0 || a == INFINITY)) /* as in directions of the axes and the diagonals */
        return WITH_SIGN(a == 0 ? backward ? PI.high : 0 : (backward ? 0x1.2d97c7f3321d2p+1 : 0.5 * HALF_PI.high), y);
    if (b == 0 || a == INFINITY || a * 0x1p-70 > b)
        return WITH_SIGN(HALF_PI.high, y);
    if (a == 0 || b == INFINITY || b * 0x1p-70 > a)
        return WITH_SIGN(backward ? PI.high : a / b, y);
    const double scale = a > 1 || b > 1 ? 0x1p-500 : 0x1p500; /* so that products neither overflow nor lose bits */
    const int far = a > 0x1p400 || b > 0x1p400 || a < 0x1p-400 || b < 0x1p-400;
    a = far ? a * scale : a;
    b = far ? b * scale : b;
    const pair arc = arc_of((pair){a, 0}, (pair){b, 0});
    return WITH_SIGN(rounded(backward ? plus(PI, negated(arc)) : arc), y);
}

INLINE double hypot_of(double x, double y) {
    double a = MAGNITUDE(x), b = MAGNITUDE(y), back = 1;
    if (a == INFINITY || b == INFINITY)
        return INFINITY;
    if (x != x || y != y)
        return x + y;
    if (a > 0x1p500 || b > 0x1p500)
        back = 0x1p600;
    else if (a < 0x1p-400 && b < 0x1p-400)
        back = 0x1p-600;
    a /= back;
    b /= back;
    return back * rounded(root_of(plus(product_of(a, a), product_of(b, b))));
}
