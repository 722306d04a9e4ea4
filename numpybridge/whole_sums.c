//go:build cpython

/*
 * Sums of all floats of an array, of products of two arrays, and of squares of distances from a mean, which the core calls. Several
 * numbers are added at once, in registers as wide as the processor has them. Of one array, those of four ranges side by side: the processor then
 * fetches more from memory ahead of time than from one range. Of two arrays it does so anyway, and more ranges take each other's place in its
 * caches. An array that is multiplied with itself is one array. The additions have one order on every processor, and products are rounded before they are added.
 */
#include "loops.h"

typedef double lanes __attribute__((vector_size(32), aligned(8), may_alias));

/* Sums of so many elements at most are added up without losing what rounding takes away there. */
enum { LANES = 4, ALL_SUMS = 8, CHUNK = 1 << 10 };

/* add_word adds a number to a sum of two words (Knuth, volume 2, section 4.2.2). */
static inline void add_word(double *sum, double x) {
    const double s = sum[0] + x, y = s - sum[0];
    sum[1] += (sum[0] - (s - y)) + (x - y);
    sum[0] = s;
}

/* NAME##_ranges adds up a value of the elements of some ranges, each of n elements, which begin so far apart; NAME##_rest that of n elements
 * side by side. VALUE is an expression of an element of each array, v and w, and of the number m. */
#define SUMS(NAME, TYPE, WIDE, RANGES, VALUE)                                                                                              \
    WIDE_VECTORS static double NAME##_ranges(const TYPE *x, const TYPE *y, double m, ptrdiff_t apart, ptrdiff_t n) {                       \
        lanes sums[ALL_SUMS] = {{0}};                                                                                                      \
        for (ptrdiff_t i = 0; i < n; i += LANES * ALL_SUMS / RANGES)                                                                       \
            for (int k = 0; k < ALL_SUMS; k++) {                                                                                           \
                const ptrdiff_t at = k % RANGES * apart + i + k / RANGES * LANES;                                                          \
                const lanes v = WIDE(x + at), w = WIDE(y + at);                                                                            \
                sums[k] += VALUE;                                                                                                          \
                (void)w;                                                                                                                   \
            }                                                                                                                              \
        const lanes all = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));                       \
        (void)m;                                                                                                                           \
        return (all[0] + all[1]) + (all[2] + all[3]);                                                                                      \
    }                                                                                                                                      \
    static double NAME##_rest(const TYPE *x, const TYPE *y, double m, ptrdiff_t n) {                                                       \
        double of[LANES] = {0};                                                                                                            \
        for (ptrdiff_t i = 0; i < n; i++) {                                                                                                \
            const double v = x[i], w = y[i];                                                                                               \
            of[i % LANES] += VALUE;                                                                                                        \
            (void)w;                                                                                                                       \
        }                                                                                                                                  \
        (void)m;                                                                                                                           \
        return (of[0] + of[1]) + (of[2] + of[3]);                                                                                          \
    }                                                                                                                                      \
    /* NAME adds the value of n elements to a sum of two words. */                                                                         \
    static void NAME(const TYPE *x, const TYPE *y, double m, ptrdiff_t n, double *sum) {                                                   \
        const ptrdiff_t range = n / (LANES * ALL_SUMS) * (LANES * ALL_SUMS / RANGES), some = CHUNK / RANGES;                               \
        for (ptrdiff_t at = 0; at < range; at += some)                                                                                     \
            add_word(sum, NAME##_ranges(x + at, y + at, m, range, range - at < some ? range - at : some));                                 \
        if (n > RANGES * range)                                                                                                            \
            add_word(sum, NAME##_rest(x + RANGES * range, y + RANGES * range, m, n - RANGES * range));                                     \
    }

/* Four numbers from an address on. */
#define AS_THEY_ARE(at) (*(const lanes *)(at))
#define WIDENED(at) ((lanes){(at)[0], (at)[1], (at)[2], (at)[3]})

/* NAME##_moments writes the mean of n elements in two words, and the sum of the squares of their distances from it. What the distances from a mean
 * that is rounded come to says how far that is from the mean. */
#define OF_TYPE(NAME, TYPE, WIDE)                                                                                                          \
    SUMS(NAME##_elements, TYPE, WIDE, 4, v)                                                                                                \
    SUMS(NAME##_products, TYPE, WIDE, 1, v * w)                                                                                            \
    SUMS(NAME##_powers, TYPE, WIDE, 4, v * v)                                                                                            \
    SUMS(NAME##_distances, TYPE, WIDE, 4, v - m)                                                                                           \
    SUMS(NAME##_squares, TYPE, WIDE, 4, (v - m) * (v - m))                                                                                 \
    static void NAME##_moments(const TYPE *x, ptrdiff_t n, double *moments) {                                                              \
        double sum[2] = {0}, away[2] = {0}, squares[2] = {0};                                                                              \
        NAME##_elements(x, x, 0, n, sum);                                                                                                  \
        const double m = (sum[0] + sum[1]) / (double)n;                                                                                    \
        NAME##_squares(x, x, m, n, squares);                                                                                               \
        moments[0] = m;                                                                                                                    \
        moments[1] = 0;                                                                                                                    \
        moments[2] = squares[0] + squares[1];                                                                                              \
        if (m * m * (double)n <= 16 * moments[2])                                                                                          \
            return; /* what rounding has taken away is nothing beside the distances */                                                     \
        NAME##_distances(x, x, m, n, away);                                                                                                \
        const double all = away[0] + away[1], rest = moments[2] - all * (all / (double)n);                                                 \
        add_word(moments, all / (double)n);                                                                                                \
        moments[2] = rest > 0 ? rest : rest == rest ? 0 : rest;                                                                            \
    }

OF_TYPE(doubles, double, AS_THEY_ARE)
OF_TYPE(floats, float, WIDENED)

void dtl_add_elements(int size, const void *x, ptrdiff_t n, double *sum) {
    if (size == sizeof(double))
        doubles_elements(x, x, 0, n, sum);
    else
        floats_elements(x, x, 0, n, sum);
}

void dtl_add_products(int size, const void *x, const void *y, ptrdiff_t n, double *sum) {
    if (size == sizeof(double))
        (x == y ? doubles_powers : doubles_products)(x, y, 0, n, sum);
    else
        (x == y ? floats_powers : floats_products)(x, y, 0, n, sum);
}

void dtl_moments(int size, const void *x, ptrdiff_t n, double *moments) {
    if (size == sizeof(double))
        doubles_moments(x, n, moments);
    else
        floats_moments(x, n, moments);
}

/* NAME adds up a value of n elements of each of ROWS rows, which begin so far apart. VALUE is an expression of an element of a row and of what it
 * is multiplied with, v and w. */
#define OF_ROWS(NAME, ROWS, VALUE)                                                                                                         \
    WIDE_VECTORS static void NAME(const double *x, ptrdiff_t between, const double *y, ptrdiff_t apart, ptrdiff_t n, double *of) {         \
        lanes sums[2 * ROWS] = {{0}};                                                                                                      \
        ptrdiff_t i = 0;                                                                                                                   \
        for (; i + 2 * LANES <= n; i += 2 * LANES)                                                                                         \
            for (int k = 0; k < 2 * ROWS; k++) {                                                                                           \
                const ptrdiff_t at = i + k % 2 * LANES;                                                                                    \
                const lanes v = AS_THEY_ARE(x + k / 2 * between + at), w = AS_THEY_ARE(y + k / 2 * apart + at);                            \
                sums[k] += VALUE;                                                                                                          \
                (void)w;                                                                                                                   \
            }                                                                                                                              \
        for (int k = 0; k < ROWS; k++) {                                                                                                   \
            const lanes all = sums[2 * k] + sums[2 * k + 1];                                                                               \
            of[k] = (all[0] + all[1]) + (all[2] + all[3]);                                                                                 \
            for (ptrdiff_t j = i; j < n; j++) {                                                                                            \
                const double v = x[k * between + j], w = y[k * apart + j];                                                                 \
                of[k] += VALUE;                                                                                                            \
                (void)w;                                                                                                                   \
            }                                                                                                                              \
        }                                                                                                                                  \
    }

enum { ROWS = 4 };

typedef void (*rows_loop)(const double *x, ptrdiff_t between, const double *y, ptrdiff_t apart, ptrdiff_t n, double *of);

OF_ROWS(add_one, 1, v)
OF_ROWS(add_some, ROWS, v)
OF_ROWS(multiply_one, 1, v * w)
OF_ROWS(multiply_some, ROWS, v * w)

/* add_up_rows writes what a loop makes of so many rows, CHUNK elements at a time, to numbers that lie a step apart. */
static void add_up_rows(rows_loop loop, int rows, const double *x, ptrdiff_t between, const double *y, ptrdiff_t apart, ptrdiff_t n, double *out,
                        ptrdiff_t step) {
    double sums[ROWS][2] = {{0}}, of[ROWS];
    for (ptrdiff_t at = 0; at < n; at += CHUNK) {
        loop(x + at, between, y + at, apart, n - at < CHUNK ? n - at : CHUNK, of);
        for (int k = 0; k < rows; k++)
            if (at == 0)
                sums[k][0] = of[k];
            else
                add_word(sums[k], of[k]);
    }
    for (int k = 0; k < rows; k++) /* of what is infinite, nothing is left */
        out[k * step] = sums[k][1] == sums[k][1] ? sums[k][0] + sums[k][1] : sums[k][0];
}

/* each_row does so with all rows: with those of four ranges side by side, as above. */
static void each_row(rows_loop some, rows_loop one, const double *x, const double *y, ptrdiff_t apart, ptrdiff_t rows, ptrdiff_t n, double *out) {
    const ptrdiff_t range = rows / ROWS;
    for (ptrdiff_t row = 0; row < range; row++)
        add_up_rows(some, ROWS, x + row * n, range * n, y + row * apart, range * apart, n, out + row, range);
    for (ptrdiff_t row = ROWS * range; row < rows; row++)
        add_up_rows(one, 1, x + row * n, n, y + row * apart, apart, n, out + row, 1);
}

void dtl_add_rows(const double *x, ptrdiff_t rows, ptrdiff_t n, double *out) { each_row(add_some, add_one, x, x, n, rows, n, out); }

void dtl_dot_rows(const double *x, const double *y, ptrdiff_t apart, ptrdiff_t rows, ptrdiff_t n, double *out) {
    each_row(multiply_some, multiply_one, x, y, apart, rows, n, out);
}

/* odd_words returns a word whose highest bit says whether any of n words is that of a float64 that is NaN or -0. */
WIDE_VECTORS static uint64_t odd_words(const uint64_t *x, ptrdiff_t n) {
    const uint64_t sign = 1ULL << 63, infinity = 0x7ffULL << 52;
    uint64_t some = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        const uint64_t size = x[i] & ~sign;
        some |= (size + (sign - 1 - infinity)) | ((size - 1) & x[i]);
    }
    return some;
}

int dtl_are_distinct(const void *x, ptrdiff_t n) {
    enum { AT_ONCE = 1 << 12 };
    for (ptrdiff_t at = 0; at < n; at += AT_ONCE)
        if (odd_words((const uint64_t *)x + at, n - at < AT_ONCE ? n - at : AT_ONCE) >> 63 != 0)
            return 0;
    return 1;
}
