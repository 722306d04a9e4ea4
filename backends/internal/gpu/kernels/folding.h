/* What elements are folded to on their way to a result: partials of four words, which are those of core/kernel/fold. */
#include "elements.h"

typedef unsigned long long word;

static inline word bits_of(double v) {
    word w;
    __builtin_memcpy(&w, &v, sizeof w);
    return w;
}

static inline double number_of(word w) {
    double v;
    __builtin_memcpy(&v, &w, sizeof v);
    return v;
}

static inline void put(word *out, word first, word second, word third, word fourth) {
    out[0] = first;
    out[1] = second;
    out[2] = third;
    out[3] = fourth;
}

/* ---- Sums of floats: the second number is what rounding took from the first. Knuth, TAOCP 2, 4.2.2 ---- */

typedef struct {
    double high, low;
} sum;

static inline void add(sum *s, double x) {
    double t = s->high + x, b = t - s->high;
    s->low += (s->high - (t - b)) + (x - b);
    s->high = t;
}

/* ---- Products: of floats a number between 1 and 2 with its exponent, so that none overflows on the way ---- */

static inline void split(double *v, long long *exponent) {
    word w = bits_of(*v);
    if ((w >> 52 & 2047) == 0) { /* zero, or too small for the form of the others */
        if (*v == 0)
            return;
        w = bits_of(*v * 0x1p54);
        *exponent -= 54;
    }
    if ((w >> 52 & 2047) == 2047)
        return; /* no finite number */
    *exponent += (long long)(w >> 52 & 2047) - 1023;
    *v = number_of((w & ~(2047ull << 52)) | 1023ull << 52);
}

static inline void multiply(double *v, long long *exponent, double by) {
    split(&by, exponent);
    *v *= by;
    split(v, exponent);
}

/* ---- Extremes: the value, where the first such is, and whether there is any. The first NaN comes before all numbers ---- */

#define LEAST(v, than) ((v) < (than) || ((v) != (v) && (than) == (than)))
#define GREATEST(v, than) ((v) > (than) || ((v) != (v) && (than) == (than)))
