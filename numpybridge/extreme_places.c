//go:build cpython

/*
 * Where the least, or the greatest, of float64 is, as NumPy finds it: the first one, or the first NaN.
 *
 * NumPy's loops keep the places beside the extremes. Here, the extremes of rows are found, of four ranges of rows side by side, of which the
 * processor fetches more from memory ahead of time than of one; then a row, which is in the cache, is searched for its extreme.
 *
 * The extremes of columns are those that NumPy's loops find, which take one row at a time: here, the results are read and written once for ROWS.
 */
#include "loops.h"
#include <math.h>

typedef double lanes __attribute__((vector_size(32), aligned(8), may_alias));
typedef long long marks __attribute__((vector_size(32), aligned(8), may_alias));

/* ROWS rows are looked at together, one in PARTS vectors. A line has rows of ROW elements. */
enum { LANES = 4, ROWS = 4, SOME = 2, PARTS = 4, ROW = 1 << 10 };

#define AT(at) (*(const lanes *)(at))

/* NAME writes the extreme of each of ROWS rows of n elements, which begin so far apart, or NaN. */
#define EXTREMES(NAME, ROWS, PARTS, BEYOND)                                                                                                \
    WIDE_VECTORS static void NAME(const double *x, ptrdiff_t between, ptrdiff_t n, double *of) {                                           \
        lanes most[ROWS * PARTS];                                                                                                          \
        marks odd[ROWS * PARTS] = {{0}};                                                                                                   \
        for (int k = 0; k < ROWS * PARTS; k++) {                                                                                           \
            const double first = x[k / PARTS * between];                                                                                   \
            most[k] = (lanes){first, first, first, first};                                                                                 \
        }                                                                                                                                  \
        ptrdiff_t i = 0;                                                                                                                   \
        for (; i + LANES * PARTS <= n; i += LANES * PARTS)                                                                                 \
            for (int k = 0; k < ROWS * PARTS; k++) {                                                                                       \
                const lanes v = AT(x + k / PARTS * between + i + k % PARTS * LANES);                                                       \
                const marks further = (marks)(v BEYOND most[k]);                                                                           \
                odd[k] |= (marks)(v != v);                                                                                                 \
                most[k] = (lanes)((further & (marks)v) | (~further & (marks)most[k]));                                                     \
            }                                                                                                                              \
        for (int row = 0; row < ROWS; row++) {                                                                                             \
            const double *at = x + row * between;                                                                                          \
            double found = at[0];                                                                                                          \
            int is_odd = found != found;                                                                                                   \
            for (int k = row * PARTS; k < (row + 1) * PARTS; k++)                                                                          \
                for (int l = 0; l < LANES; l++) {                                                                                          \
                    is_odd |= odd[k][l] != 0;                                                                                              \
                    found = most[k][l] BEYOND found ? most[k][l] : found;                                                                  \
                }                                                                                                                          \
            for (ptrdiff_t j = i; j < n; j++) {                                                                                            \
                is_odd |= at[j] != at[j];                                                                                                  \
                found = at[j] BEYOND found ? at[j] : found;                                                                                \
            }                                                                                                                              \
            of[row] = is_odd ? NAN : found;                                                                                                \
        }                                                                                                                                  \
    }

EXTREMES(greatest_of_some, ROWS, SOME, >)
EXTREMES(greatest_of_one, 1, PARTS, >)
EXTREMES(least_of_some, ROWS, SOME, <)
EXTREMES(least_of_one, 1, PARTS, <)

/* first_of says where a value that a row has is, or a NaN. */
WIDE_VECTORS static ptrdiff_t first_of(const double *x, double value, ptrdiff_t n) {
    ptrdiff_t i = 0;
    if (value != value) {
        while (x[i] == x[i])
            i++;
        return i;
    }
    const lanes all = {value, value, value, value};
    for (; i + LANES * PARTS <= n; i += LANES * PARTS) {
        marks found = {0};
        for (int k = 0; k < PARTS; k++)
            found |= (marks)(AT(x + i + k * LANES) == all);
        if ((found[0] | found[1] | found[2] | found[3]) != 0)
            break;
    }
    while (x[i] != value)
        i++;
    return i;
}

/* extremes_of writes the extremes of so many rows, one or ROWS. */
static void extremes_of(int rows, int greatest, const double *x, ptrdiff_t between, ptrdiff_t n, double *of) {
    if (rows == 1)
        (greatest ? greatest_of_one : least_of_one)(x, between, n, of);
    else
        (greatest ? greatest_of_some : least_of_some)(x, between, n, of);
}

void dtl_find_in_rows(int greatest, const double *x, ptrdiff_t rows, ptrdiff_t n, ptrdiff_t *out) {
    const ptrdiff_t range = rows / ROWS;
    double of[ROWS];
    for (ptrdiff_t row = 0; row < range; row++) {
        extremes_of(ROWS, greatest, x + row * n, range * n, n, of);
        for (int k = 0; k < ROWS; k++)
            out[row + k * range] = first_of(x + (row + k * range) * n, of[k], n);
    }
    for (ptrdiff_t row = ROWS * range; row < rows; row++) {
        extremes_of(1, greatest, x + row * n, n, n, of);
        out[row] = first_of(x + row * n, of[0], n);
    }
}

/* The row of a line that has the extreme, which comes first. */
typedef struct {
    double value;
    ptrdiff_t row;
} extreme;

/* take_later has an extreme become another one, of a later row, if that is further. */
static void take_later(int greatest, extreme *of, double value, ptrdiff_t row) {
    if (of->row < 0 || (of->value == of->value && (value != value || (greatest ? value > of->value : value < of->value))))
        *of = (extreme){value, row};
}

/* find_in_line says where the extreme of n elements is. */
static ptrdiff_t find_in_line(int greatest, const double *x, ptrdiff_t n) {
    const ptrdiff_t range = n / ROW / ROWS, rows = (n + ROW - 1) / ROW;
    extreme of[ROWS] = {{0, -1}, {0, -1}, {0, -1}, {0, -1}};
    double values[ROWS];
    for (ptrdiff_t row = 0; row < range; row++) {
        extremes_of(ROWS, greatest, x + row * ROW, range * ROW, ROW, values);
        for (int k = 0; k < ROWS; k++)
            take_later(greatest, &of[k], values[k], row + k * range);
    }
    for (int k = 1; k < ROWS && range > 0; k++)
        take_later(greatest, &of[0], of[k].value, of[k].row);
    for (ptrdiff_t row = ROWS * range; row < rows; row++) {
        const ptrdiff_t at = row * ROW;
        extremes_of(1, greatest, x + at, ROW, n - at < ROW ? n - at : ROW, values);
        take_later(greatest, &of[0], values[0], row);
    }
    const ptrdiff_t at = of[0].row * ROW;
    return at + first_of(x + at, of[0].value, n - at < ROW ? n - at : ROW);
}

/* NAME has extremes become those of themselves and of rows of as many elements. The first NaN of a column stays. */
#define EXTREMES_IN_COLUMNS(NAME, BEYOND)                                                                                                  \
    static inline __attribute__((always_inline)) void NAME##_of(double *of, const double *x, ptrdiff_t n, int rows) {                      \
        ptrdiff_t i = 0;                                                                                                                   \
        for (; i + LANES <= n; i += LANES) {                                                                                               \
            lanes most = AT(of + i);                                                                                                       \
            for (int row = 0; row < rows; row++) {                                                                                         \
                const lanes v = AT(x + row * n + i);                                                                                       \
                const marks kept = (marks)(most BEYOND v) | (marks)(most != most);                                                         \
                most = (lanes)((kept & (marks)most) | (~kept & (marks)v));                                                                 \
            }                                                                                                                              \
            *(lanes *)(of + i) = most;                                                                                                     \
        }                                                                                                                                  \
        for (; i < n; i++)                                                                                                                 \
            for (int row = 0; row < rows; row++) {                                                                                         \
                const double v = x[row * n + i];                                                                                           \
                of[i] = of[i] BEYOND v || of[i] != of[i] ? of[i] : v;                                                                      \
            }                                                                                                                              \
    }                                                                                                                                      \
    WIDE_VECTORS void dtl_##NAME(char *of, const char *from, ptrdiff_t rows, ptrdiff_t columns, const double *none) {                      \
        const double *x = (const double *)from;                                                                                            \
        (void)none;                                                                                                                        \
        for (; rows >= ROWS; rows -= ROWS, x += ROWS * columns)                                                                            \
            NAME##_of((double *)of, x, columns, ROWS);                                                                                     \
        for (; rows > 0; rows--, x += columns)                                                                                             \
            NAME##_of((double *)of, x, columns, 1);                                                                                        \
    }

EXTREMES_IN_COLUMNS(greatest_in_columns, >)
EXTREMES_IN_COLUMNS(least_in_columns, <)

int dtl_least_place(void *first, ptrdiff_t n, ptrdiff_t *place, void *array) {
    (void)array;
    *place = find_in_line(0, first, n);
    return 0;
}

int dtl_greatest_place(void *first, ptrdiff_t n, ptrdiff_t *place, void *array) {
    (void)array;
    *place = find_in_line(1, first, n);
    return 0;
}
