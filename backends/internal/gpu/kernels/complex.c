/* Functions of complex numbers, with the exceptions and the signs of C's Annex G.
 *
 * They are made of those of real numbers, by the formulas of Kahan, Branch Cuts for Complex Elementary Functions, in The State of the Art
 * in Numerical Analysis, 1987. Functions that have nearly all of their code in common are the forms of one kernel, as in functions.go: each by
 * itself would take as much of a wheel. */
#include "angles.h"
#include "exponentials.h"

#include "each.h"

typedef complex128 complex;

#define MISSING(z) ((z).re != (z).re || (z).im != (z).im)
#define FINITE_PARTS(z) (FINITE((z).re) && FINITE((z).im))

INLINE complex exchanged(complex z, long long whether) { return whether ? (complex){z.im, z.re} : z; }

/* The greater of the parts' magnitudes. Of one that is missing it is the other. */
INLINE double most_of(complex z) {
    const double a = MAGNITUDE(z.re), b = MAGNITUDE(z.im);
    return a > b || b != b ? a : b;
}

/* A power of 4 by which numbers are divided whose squares would overflow, or lose bits. */
INLINE double unit_of(double most) { return most > 0x1p400 ? 0x1p800 : most < 0x1p-400 ? 0x1p-800 : 1; }

/* A product times 2^k, which may be 0 or infinite. */
INLINE double scaled_product(pair x, pair y, long long k) {
    if (k > 0 && MAGNITUDE(y.high) < 0x1p-700) { /* whose product would have lost bits */
        y = times_power(y, 0x1p300);
        k -= 300;
    }
    const double p = x.high * y.high;
    return scaled(p != 0 && FINITE(p) ? rounded(times(x, y)) : p, k);
}

INLINE pair sine(double y) { return MAGNITUDE(y) < SMALL ? (pair){y, 0} : sine_of_angle(angle_of(y)); }
INLINE pair cosine(double y) { return cosine_of_angle(angle_of(y)); }

/* ---- Lengths, directions and logarithms ---- */

/* The logarithm of the length, of finite parts that are not both 0. */
INLINE pair length_logarithm(complex z) {
    const double unit = unit_of(most_of(z)), re = z.re / unit, im = z.im / unit;
    const pair square = plus(product_of(re, re), product_of(im, im));
    const pair of_unit = times_number(LN2, unit > 1 ? 800 : unit < 1 ? -800 : 0);
    return plus(times_power(logarithm_of(square), 0.5), of_unit);
}

/* Forms 1 to 3 are to the base of 2, to that of 10, and of 1 and z. */
INLINE complex clog_of(complex z, long long form) {
    const pair one = sum_of(1, z.re);
    z.re = form == 3 ? one.high : z.re;
    double length = most_of(z) == INFINITY ? INFINITY : MISSING(z) ? NAN : -INFINITY;
    if (FINITE_PARTS(z) && most_of(z) != 0) {
        pair l = length_logarithm(z);
        if (form == 3 && MAGNITUDE(l.high) < 1) /* what was rounded of 1 and z may be all that counts */
            l = plus(l, over((pair){one.low * z.re, 0}, plus(product_of(z.re, z.re), product_of(z.im, z.im))));
        length = rounded(times(l, form == 1 ? PER_LN2 : form == 2 ? PER_LN10 : (pair){1, 0}));
    }
    const double unit = form == 1 ? PER_LN2.high : form == 2 ? PER_LN10.high : 1;
    return (complex){length, unit * arctan2_of(z.im, z.re)};
}

/* ---- Powers ---- */

/* A power of e, which is a number times 2^k. What is beyond 1400 is infinite or 0, whatever multiplies it. */
typedef struct {
    pair number;
    long long k;
} large_power;

INLINE large_power large_power_of_e(pair x) {
    const double limited = x.high > 1400 ? 1400 : x.high < -1400 ? -1400 : x.high;
    const power p = power_of_e((pair){limited, limited == x.high ? x.low : 0});
    const pair one = sum_of_ordered(1, p.rest.high);
    return (large_power){times_power((pair){one.high, one.low + p.rest.low}, limited < x.high ? 0x1p200 : 1), p.k};
}

INLINE complex raised_and_turned(pair x, angle a) {
    const large_power e = large_power_of_e(x);
    const pair sine = MAGNITUDE(a.left.high) < SMALL && !(a.quarters & 3) ? a.left : sine_of_angle(a);
    return (complex){scaled_product(e.number, cosine_of_angle(a), e.k), scaled_product(e.number, sine, e.k)};
}

INLINE angle angle_of_pair(pair x) {
    angle a = angle_of(x.high);
    if (MAGNITUDE(x.low) < 0.1) /* else the angle has no bit after the point, and anything is as near */
        a.left = plus(a.left, (pair){x.low, 0});
    return a;
}

/* The power of e of two pairs. One whose first number is not finite may have anything as its second. */
INLINE complex cexp_of_pairs(pair re, pair im) {
    if (!FINITE(im.high))
        return re.high == -INFINITY ? (complex){0, 0} : (complex){re.high == INFINITY ? INFINITY : NAN, NAN};
    if (!FINITE(re.high) && im.high == 0)
        return (complex){re.high == -INFINITY ? 0 : re.high, im.high};
    return re.high != re.high ? (complex){NAN, NAN} : raised_and_turned(re, angle_of_pair(im));
}

/* Form 1 is to the base of 2. */
INLINE complex cexp_of(complex z, long long form) {
    if (!FINITE_PARTS(z))
        return cexp_of_pairs((pair){z.re, 0}, (pair){z.im, 0});
    const pair unit = form == 1 ? LN2 : (pair){1, 0};
    const complex e = cexp_of_pairs(times_number(unit, z.re), times_number(unit, z.im));
    return (complex){e.re, z.im == 0 ? z.im : e.im};
}

/* Its real part is (exp(x) - 1) cos(y) - 2 sin(y/2)^2. */
INLINE complex cexpm1_of(complex z) {
    const complex e = cexp_of(z, 0);
    if (!FINITE_PARTS(z) || z.re > 40)
        return (complex){FINITE(z.im) ? e.re - 1 : NAN, FINITE(z.im) ? e.im : NAN};
    const pair less = MAGNITUDE(z.re) < 0x1p-54 ? (pair){z.re, 0} : z.re < -50 ? (pair){-1, 0} : power_less_one(power_of_e((pair){z.re, 0}));
    if (z.im == 0)
        return (complex){less.high, z.im};
    const pair half = sine(0.5 * z.im);
    return (complex){rounded(plus(times(less, cosine(z.im)), times_power(times(half, half), -2))), e.im};
}

INLINE complex times_complex(complex x, complex y) { return (complex){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re}; }

INLINE complex over_complex(complex y) { /* 1 / y: Smith, CACM 5 (1962) 435 */
    if (MAGNITUDE(y.re) >= MAGNITUDE(y.im)) {
        const double ratio = y.im / y.re, by = 1 / (y.re + y.im * ratio);
        return (complex){by, -ratio * by};
    }
    const double ratio = y.re / y.im, by = 1 / (y.im + y.re * ratio);
    return (complex){ratio * by, -by};
}

/* Small whole powers are products, as in NumPy, so that those of whole numbers are exact. */
INLINE complex cpower_of(complex x, complex y) {
    if (y.re == 0 && y.im == 0)
        return (complex){1, 0};
    if (x.re == 0 && x.im == 0)
        return y.re > 0 ? (complex){0, 0} : (complex){NAN, NAN};
    if (y.im == 0 && __builtin_trunc(y.re) == y.re && MAGNITUDE(y.re) < 100) {
        complex all = {1, 0};
        for (int n = (int)MAGNITUDE(y.re);; x = times_complex(x, x)) {
            if (n & 1)
                all = times_complex(all, x);
            if (!(n >>= 1))
                return y.re < 0 ? over_complex(all) : all;
        }
    }
    const double about = arctan2_of(x.im, x.re);
    pair length = {most_of(x) == INFINITY ? INFINITY : NAN, 0}, direction = {about, 0};
    if (FINITE_PARTS(x)) {
        length = length_logarithm(x);
        const double unit = unit_of(most_of(x));
        if (MAGNITUDE(about) > 0x1p-50) { /* a lesser angle has no more bits that count */
            direction = arc_of((pair){MAGNITUDE(x.im / unit), 0}, (pair){MAGNITUDE(x.re / unit), 0});
            direction = WITH_SIGN(1, x.re) < 0 ? plus(PI, negated(direction)) : direction;
            direction = about < 0 ? negated(direction) : direction;
        }
    }
    const pair re = plus(times_number(length, y.re), times_number(direction, -y.im));
    const pair im = plus(times_number(length, y.im), times_number(direction, y.re));
    const complex l = times_complex(y, (complex){length.high, about});
    return cexp_of_pairs(FINITE(re.high) ? re : (pair){l.re, 0}, FINITE(im.high) ? im : (pair){l.im, 0});
}

/* ---- Roots ---- */

INLINE complex csqrt_of(complex z) {
    if (most_of(z) == 0 && !MISSING(z))
        return (complex){0, z.im};
    if (MAGNITUDE(z.im) == INFINITY)
        return (complex){INFINITY, z.im};
    if (MAGNITUDE(z.re) == INFINITY) {
        const double rest = z.im != z.im ? NAN : 0;
        return z.re > 0 ? (complex){z.re, WITH_SIGN(rest, z.im)} : (complex){rest, WITH_SIGN(INFINITY, z.im)};
    }
    if (MISSING(z))
        return (complex){NAN, NAN};
    const double unit = unit_of(most_of(z)), root = unit > 1 ? 0x1p400 : unit < 1 ? 0x1p-400 : 1;
    const double x = MAGNITUDE(z.re) / unit, y = MAGNITUDE(z.im) / unit;
    const pair length = root_of(plus(product_of(x, x), product_of(y, y)));
    const pair t = root_of(times_power(plus(length, (pair){x, 0}), 0.5));
    const double more = root * rounded(t), less = root * rounded(over((pair){y, 0}, times_power(t, 2)));
    return z.re < 0 ? (complex){less, WITH_SIGN(more, z.im)} : (complex){more, WITH_SIGN(less, z.im)};
}

/* ---- Hyperbolic functions, and those of angles ---- */

/* Of a real number, times 2^-k. */
typedef struct {
    pair sinh, cosh;
    long long k;
} hyperbolic;

INLINE hyperbolic hyperbolic_of(double x) {
    const double a = MAGNITUDE(x), sign = WITH_SIGN(1, x);
    if (a > 40) {
        const large_power e = large_power_of_e((pair){a, 0});
        return (hyperbolic){times_power(e.number, sign), e.number, e.k - 1};
    }
    const pair t = power_less_one(power_of_e((pair){a, 0})), e = plus((pair){1, 0}, t);
    const pair sinh = a < SMALL ? (pair){a, 0} : times_power(plus(t, over(t, e)), 0.5);
    return (hyperbolic){times_power(sinh, sign), times_power(plus(e, over((pair){1, 0}, e)), 0.5), 0};
}

INLINE complex csinh_of(complex z) {
    if (!FINITE(z.im))
        return (complex){z.re == 0 || MAGNITUDE(z.re) == INFINITY ? z.re : NAN, NAN};
    if (z.re != z.re)
        return (complex){NAN, z.im == 0 ? z.im : NAN};
    const hyperbolic h = hyperbolic_of(z.re);
    return (complex){scaled_product(h.sinh, cosine(z.im), h.k), scaled_product(h.cosh, sine(z.im), h.k)};
}

INLINE complex ccosh_of(complex z) {
    if (!FINITE(z.im))
        return (complex){MAGNITUDE(z.re) == INFINITY ? INFINITY : NAN, z.re == 0 ? z.re : NAN};
    if (z.re != z.re)
        return (complex){NAN, z.im == 0 ? z.im : NAN};
    const hyperbolic h = hyperbolic_of(z.re);
    return (complex){scaled_product(h.cosh, cosine(z.im), h.k), scaled_product(h.sinh, sine(z.im), h.k)};
}

/* (sinh(x) cosh(x) + i sin(y) cos(y)) / (sinh(x)^2 + cos(y)^2) */
INLINE complex ctanh_of(complex z) {
    if (MAGNITUDE(z.re) == INFINITY)
        return (complex){WITH_SIGN(1, z.re), WITH_SIGN(0, FINITE(z.im) ? sine(z.im).high * cosine(z.im).high : z.im)};
    if (!FINITE_PARTS(z))
        return (complex){z.re == 0 ? z.re : NAN, z.im == 0 ? z.im : NAN};
    const pair s = sine(z.im), c = cosine(z.im);
    if (MAGNITUDE(z.re) > 40) {
        const complex e = raised_and_turned((pair){-2 * MAGNITUDE(z.re), 0}, (angle){{0, 0}, 0});
        return (complex){WITH_SIGN(1, z.re), 4 * e.re * s.high * c.high};
    }
    const hyperbolic h = hyperbolic_of(z.re);
    const pair below = plus(times(h.sinh, h.sinh), times(c, c));
    return (complex){
        z.re == 0 ? z.re : rounded(over(times(h.sinh, h.cosh), below)),
        z.im == 0 ? z.im : rounded(over(times(s, c), below)),
    };
}

/* ---- Their inverses ---- */

#define LARGE 0x1p60 /* what 1 adds to a number beyond it is lost */

INLINE complex carcsin_of(complex z) {
    if (MISSING(z)) {
        if (MAGNITUDE(z.im) == INFINITY)
            return (complex){NAN, z.im};
        return (complex){z.re == 0 ? z.re : NAN, MAGNITUDE(z.re) == INFINITY ? z.re : NAN};
    }
    if (most_of(z) > LARGE) {
        const complex l = clog_of((complex){MAGNITUDE(z.im), MAGNITUDE(z.re)}, 0);
        return (complex){WITH_SIGN(l.im, z.re), WITH_SIGN(l.re + LN2.high, z.im)};
    }
    const complex under = csqrt_of((complex){1 - z.re, -z.im}), above = csqrt_of((complex){1 + z.re, z.im});
    return (complex){
        arctan2_of(z.re, under.re * above.re - under.im * above.im),
        arcsinh_of(under.re * above.im - under.im * above.re),
    };
}

INLINE complex carccos_of(complex z) {
    if (MISSING(z)) {
        if (MAGNITUDE(z.re) == INFINITY)
            return (complex){NAN, -INFINITY};
        return (complex){z.re == 0 ? HALF_PI.high : NAN, MAGNITUDE(z.im) == INFINITY ? -z.im : NAN};
    }
    if (most_of(z) > LARGE) {
        const complex l = clog_of(z, 0);
        return (complex){MAGNITUDE(l.im), -WITH_SIGN(l.re + LN2.high, z.im)};
    }
    const complex under = csqrt_of((complex){1 - z.re, -z.im}), above = csqrt_of((complex){1 + z.re, z.im});
    return (complex){2 * arctan2_of(under.re, above.re), arcsinh_of(above.re * under.im - above.im * under.re)};
}

INLINE complex carccos_or_arccosh_of(complex z, long long form) {
    const complex w = carccos_of(z);
    return form ? (complex){w.re != w.re && w.im != w.im ? NAN : MAGNITUDE(w.im), WITH_SIGN(w.re, z.im)} : w;
}

INLINE complex carctanh_of(complex z) {
    const double a = MAGNITUDE(z.re), b = MAGNITUDE(z.im);
    if (MISSING(z) && a != INFINITY && b != INFINITY)
        return (complex){z.re == 0 ? z.re : NAN, NAN};
    if (a == INFINITY || b == INFINITY)
        return (complex){WITH_SIGN(0, z.re), z.im != z.im ? NAN : WITH_SIGN(HALF_PI.high, z.im)};
    if (most_of(z) > LARGE) {
        const complex part = over_complex(z);
        return (complex){part.re, WITH_SIGN(HALF_PI.high, z.im)};
    }
    const pair short_of = sum_of(1, -a), square = product_of(b, b);
    const pair below = plus(times(short_of, short_of), square), beside = plus(times(short_of, sum_of(1, a)), negated(square));
    const double re = a < 0x1p-500                      ? a / (1 + b * b)
                      : below.high < 0x1p-900            ? 0.5 * (log_of(2) - log_of(hypot_of(short_of.high, b)))
                                                        : 0.25 * rounded(logarithm_beside_one(over((pair){4 * a, 0}, below)));
    return (complex){WITH_SIGN(re, z.re), WITH_SIGN(0.5 * arctan2_of(2 * b, rounded(beside)), z.im)};
}

/* ---- The kernels. A second form is that of angles, or of the inverse function of the other kind, which have i z for z ---- */

#define COMPLEX(name, value) FUNCTION(name##_complex128, complex128, complex, value)

COMPLEX(log, clog_of(x, s.form))
COMPLEX(exp, cexp_of(x, s.form))
COMPLEX(expm1, cexpm1_of(x))
COMPLEX(power, cpower_of(x, y))
COMPLEX(sqrt, csqrt_of(x))
COMPLEX(sinh, exchanged(csinh_of(exchanged(x, s.form)), s.form))
COMPLEX(cosh, ccosh_of(s.form ? (complex){-x.im, x.re} : x))
COMPLEX(tanh, exchanged(ctanh_of(exchanged(x, s.form)), s.form))
COMPLEX(arcsin, exchanged(carcsin_of(exchanged(x, s.form)), s.form))
COMPLEX(arccos, carccos_or_arccosh_of(x, s.form))
COMPLEX(arctanh, exchanged(carctanh_of(exchanged(x, s.form)), s.form))
