/* What a GPU makes of many elements: each thread a partial, which is four words, and of these fewer ones. The partials are those of
 * core/kernel/fold, which merges the last of them on the host.
 *
 * Thread t takes the elements t, t + STEP and so on, and the number of threads follows from that of elements. So a result does not
 * depend on when which thread runs, and arrays of one size give equal bits. */
#include "folding.h"

typedef struct {
    word *out; /* four words for each thread */
    const void *a, *b;
    long long n;
    double x;
    long long each; /* of merges: how many partials a thread takes */
} reduction;

/* ---- Sums of floats ---- */

#define SUM(name, T, f)                                                               \
    KERNEL name(reduction s);                                                         \
    KERNEL name(reduction s) {                                                        \
        const T *a = s.a, *b = s.b;                                                   \
        (void)b;                                                                      \
        sum all = {0, 0};                                                             \
        const long long step = STEP;                                                  \
        long long i = FIRST;                                                          \
        for (; i + 3 * step < s.n; i += 4 * step)                                     \
            add(&all, (f(i) + f(i + step)) + (f(i + 2 * step) + f(i + 3 * step)));    \
        for (; i < s.n; i += step)                                                    \
            add(&all, f(i));                                                          \
        put(s.out + 4 * FIRST, bits_of(all.high), bits_of(all.low), 0, 0);            \
    }

#define ELEMENT(i) ((double)a[i])
#define SQUARE(i) ((double)a[i] * (double)a[i])
#define MAGNITUDE(i) (__builtin_fabs((double)a[i]))
#define DISTANCE(i) (((double)a[i] - s.x) * ((double)a[i] - s.x)) /* from the mean, squared */
#define PRODUCT(i) ((double)a[i] * (double)b[i])

KERNEL merge_floats(reduction s);
KERNEL merge_floats(reduction s) {
    const word *a = s.a;
    sum all = {0, 0};
    long long end = (FIRST + 1) * s.each < s.n ? (FIRST + 1) * s.each : s.n;
    if (FIRST * s.each >= s.n)
        return;
    for (long long i = FIRST * s.each; i < end; i++) {
        add(&all, number_of(a[4 * i]));
        all.low += number_of(a[4 * i + 1]);
    }
    put(s.out + 4 * FIRST, bits_of(all.high), bits_of(all.low), 0, 0);
}

/* ---- Sums and counts of integers, which wrap ---- */

#define COUNT(name, T, f)                                                             \
    KERNEL name(reduction s);                                                         \
    KERNEL name(reduction s) {                                                        \
        const T *a = s.a, *b = s.b;                                                   \
        (void)b;                                                                      \
        word all = 0;                                                                 \
        for (long long i = FIRST; i < s.n; i += STEP)                                 \
            all += f(i);                                                              \
        put(s.out + 4 * FIRST, all, 0, 0, 0);                                         \
    }

#define INTEGER(i) ((word)a[i])
#define INTEGER_PRODUCT(i) ((word)a[i] * (word)b[i])
#define TRUTH(i) (a[i] != 0)

KERNEL merge_integers(reduction s);
KERNEL merge_integers(reduction s) {
    const word *a = s.a;
    word all = 0;
    long long end = (FIRST + 1) * s.each < s.n ? (FIRST + 1) * s.each : s.n;
    if (FIRST * s.each >= s.n)
        return;
    for (long long i = FIRST * s.each; i < end; i++)
        all += a[4 * i];
    put(s.out + 4 * FIRST, all, 0, 0, 0);
}

/* ---- Products ---- */

#define FLOAT_PRODUCT(name, T)                                                        \
    KERNEL name(reduction s);                                                         \
    KERNEL name(reduction s) {                                                        \
        const T *a = s.a;                                                             \
        double v = 1;                                                                 \
        long long exponent = 0;                                                       \
        for (long long i = FIRST; i < s.n; i += STEP)                                 \
            multiply(&v, &exponent, (double)a[i]);                                    \
        put(s.out + 4 * FIRST, bits_of(v), (word)exponent, FIRST < s.n, 0);           \
    }

#define COUNT_PRODUCT(name, T)                                                        \
    KERNEL name(reduction s);                                                         \
    KERNEL name(reduction s) {                                                        \
        const T *a = s.a;                                                             \
        word all = 1;                                                                 \
        for (long long i = FIRST; i < s.n; i += STEP)                                 \
            all *= (word)a[i];                                                        \
        put(s.out + 4 * FIRST, all, 0, FIRST < s.n, 0);                               \
    }

KERNEL merge_products(reduction s);
KERNEL merge_products(reduction s) {
    const word *a = s.a;
    word all = 1, begun = 0;
    long long end = (FIRST + 1) * s.each < s.n ? (FIRST + 1) * s.each : s.n;
    if (FIRST * s.each >= s.n)
        return;
    for (long long i = FIRST * s.each; i < end; i++) {
        all *= a[4 * i + 2] ? a[4 * i] : 1;
        begun |= a[4 * i + 2];
    }
    put(s.out + 4 * FIRST, all, 0, begun, 0);
}

KERNEL merge_float_products(reduction s);
KERNEL merge_float_products(reduction s) {
    const word *a = s.a;
    word begun = 0;
    double v = 1;
    long long exponent = 0, end = (FIRST + 1) * s.each < s.n ? (FIRST + 1) * s.each : s.n;
    if (FIRST * s.each >= s.n)
        return;
    for (long long i = FIRST * s.each; i < end; i++)
        if (a[4 * i + 2]) {
            multiply(&v, &exponent, number_of(a[4 * i]));
            exponent += (long long)a[4 * i + 1];
            begun = 1;
        }
    put(s.out + 4 * FIRST, bits_of(v), (word)exponent, begun, 0);
}

/* ---- Extremes: the value, where the first such is, and whether there is any ---- */

#define EXTREME(name, T, A, before)                                                   \
    KERNEL name(reduction s);                                                         \
    KERNEL name(reduction s) {                                                        \
        const T *a = s.a;                                                             \
        long long at = FIRST;                                                         \
        T m = at < s.n ? a[at] : (T)0;                                                \
        for (long long i = FIRST + STEP; i < s.n; i += STEP)                          \
            if (before(a[i], m)) {                                                    \
                m = a[i];                                                             \
                at = i;                                                               \
            }                                                                         \
        A wide = (A)m;                                                                \
        word w;                                                                       \
        __builtin_memcpy(&w, &wide, sizeof w);                                        \
        put(s.out + 4 * FIRST, w, (word)at, FIRST < s.n, 0);                          \
    }

#define MERGE_EXTREMES(name, A, before)                                               \
    KERNEL name(reduction s);                                                         \
    KERNEL name(reduction s) {                                                        \
        const word *a = s.a;                                                          \
        word w = 0, at = 0, found = 0;                                                \
        A m = 0;                                                                      \
        long long end = (FIRST + 1) * s.each < s.n ? (FIRST + 1) * s.each : s.n;      \
        if (FIRST * s.each >= s.n)                                                    \
            return;                                                                   \
        for (long long i = FIRST * s.each; i < end; i++) {                            \
            A v;                                                                      \
            __builtin_memcpy(&v, &a[4 * i], sizeof v);                                \
            if (!a[4 * i + 2])                                                        \
                continue;                                                             \
            if (!found || before(v, m) || (!before(m, v) && a[4 * i + 1] < at)) {     \
                m = v;                                                                \
                w = a[4 * i];                                                         \
                at = a[4 * i + 1];                                                    \
                found = 1;                                                            \
            }                                                                         \
        }                                                                             \
        put(s.out + 4 * FIRST, w, at, found, 0);                                      \
    }

#define MERGES(type, A)                                   \
    MERGE_EXTREMES(merge_argmin_##type, A, LEAST)         \
    MERGE_EXTREMES(merge_argmax_##type, A, GREATEST)

MERGES(signed, long long)
MERGES(unsigned, word)
MERGES(floating, double)

/* ---- The types. Integers are added up in 64 bits; their means and moments are of floats ---- */

#define REAL(type, T, A)                                  \
    SUM(total_##type, T, ELEMENT)                         \
    SUM(squares_##type, T, SQUARE)                        \
    SUM(magnitudes_##type, T, MAGNITUDE)                  \
    SUM(distances_##type, T, DISTANCE)                    \
    COUNT(truths_##type, T, TRUTH)                        \
    EXTREME(argmin_##type, T, A, LEAST)                   \
    EXTREME(argmax_##type, T, A, GREATEST)

#define INTEGERS(type, T, A)                              \
    REAL(type, T, A)                                      \
    COUNT(sum_##type, T, INTEGER)                         \
    COUNT(dot_##type, T, INTEGER_PRODUCT)                 \
    COUNT_PRODUCT(prod_##type, T)

#define FLOATS(type, T)                                   \
    REAL(type, T, double)                                 \
    SUM(dot_##type, T, PRODUCT)                           \
    FLOAT_PRODUCT(prod_##type, T)

FLOATS(float64, double)
FLOATS(float32, float)
INTEGERS(int64, long long, long long)
INTEGERS(int32, int, long long)
INTEGERS(int16, short, long long)
INTEGERS(int8, signed char, long long)
INTEGERS(uint64, word, word)
INTEGERS(uint32, unsigned, word)
INTEGERS(uint16, unsigned short, word)
INTEGERS(uint8, unsigned char, word)
INTEGERS(bool, unsigned char, long long)
