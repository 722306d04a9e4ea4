//go:build cpython

/*
 * Sums of numbers in a wider type than theirs, and of what is computed of each. To convert or compute first and then to add up takes two to four
 * times as long as both together; and where several rows are added at once, their sums are read and written once for all of them.
 */
#include "sums.h"
#include "numpy.h"

/* How many sums of a line are made side by side, and of so many elements before they are added up. */
enum { BESIDE = 16, TOGETHER = 1 << 12 };

/* Of rows of so many bytes, the processor does not find the next ones in time: it is told while it adds, so many columns at a time. */
enum { LEAST_FETCHED = 256, MOST_FETCHED = 2048, STRIP = 64, CACHE_LINE = 64 };

static inline void fetch(const void *from, ptrdiff_t bytes) {
    for (ptrdiff_t at = 0; at < bytes; at += CACHE_LINE)
        __builtin_prefetch((const char *)from + at);
}

/* Adds so many rows at once, of the columns from one to another. */
#define ADD_ROWS(ROWS, BEGIN, END, FROM, TO, MEAN, VALUE)                                                                                  \
    for (ptrdiff_t i = BEGIN; i < END; i++) {                                                                                              \
        const double m = MEAN(means[i]);                                                                                                   \
        TO sum = s[i];                                                                                                                     \
        for (int row = 0; row < ROWS; row++) {                                                                                             \
            const FROM v = x[row * columns + i];                                                                                           \
            sum += VALUE;                                                                                                                  \
        }                                                                                                                                  \
        s[i] = sum;                                                                                                                        \
        (void)m;                                                                                                                           \
    }

/* The loops of one type; VALUE is an expression of the element v and, where MEAN has it, of its mean m. */
#define ADDERS(NAME, FROM, TO, MEAN, VALUE)                                                                                                \
    WIDE_VECTORS static void NAME##_rows(char *sums, const char *from, ptrdiff_t rows, ptrdiff_t columns, const double *means) {           \
        TO *restrict s = (TO *)sums;                                                                                                       \
        const FROM *restrict x = (const FROM *)from;                                                                                       \
        (void)means;                                                                                                                       \
        if (columns * sizeof(FROM) >= LEAST_FETCHED && columns * sizeof(FROM) <= MOST_FETCHED)                                             \
            for (; rows >= 4; rows -= 4, x += 4 * columns)                                                                                 \
                for (ptrdiff_t at = 0; at < columns; at += STRIP) {                                                                        \
                    const ptrdiff_t end = columns - at < STRIP ? columns : at + STRIP;                                                     \
                    if (rows >= 8)                                                                                                         \
                        fetch(x + 4 * (columns + at), 4 * (end - at) * (ptrdiff_t)sizeof(FROM));                                           \
                    ADD_ROWS(4, at, end, FROM, TO, MEAN, VALUE)                                                                            \
                }                                                                                                                          \
        for (; rows >= 8; rows -= 8, x += 8 * columns)                                                                                     \
            ADD_ROWS(8, 0, columns, FROM, TO, MEAN, VALUE)                                                                                 \
        for (; rows > 0; rows--, x += columns)                                                                                             \
            ADD_ROWS(1, 0, columns, FROM, TO, MEAN, VALUE)                                                                                 \
    }                                                                                                                                      \
    WIDE_VECTORS static void NAME##_line(char *total, const char *from, ptrdiff_t count, const double *mean) {                             \
        const FROM *restrict x = (const FROM *)from;                                                                                       \
        const double m = MEAN(*mean);                                                                                                      \
        TO all = *(TO *)total;                                                                                                             \
        (void)mean;                                                                                                                        \
        (void)m;                                                                                                                           \
        while (count > 0) {                                                                                                                \
            const ptrdiff_t some = count < TOGETHER ? count : TOGETHER, even = some / BESIDE * BESIDE;                                     \
            TO sums[BESIDE] = {0};                                                                                                         \
            for (ptrdiff_t i = 0; i < even; i += BESIDE)                                                                                   \
                for (int k = 0; k < BESIDE; k++) {                                                                                         \
                    const FROM v = x[i + k];                                                                                               \
                    sums[k] += VALUE;                                                                                                      \
                }                                                                                                                          \
            for (ptrdiff_t i = even; i < some; i++) {                                                                                      \
                const FROM v = x[i];                                                                                                       \
                sums[i - even] += VALUE;                                                                                                   \
            }                                                                                                                              \
            for (int half = BESIDE / 2; half > 0; half /= 2)                                                                               \
                for (int k = 0; k < half; k++)                                                                                             \
                    sums[k] += sums[k + half];                                                                                             \
            all += sums[0];                                                                                                                \
            x += some;                                                                                                                     \
            count -= some;                                                                                                                 \
        }                                                                                                                                  \
        *(TO *)total = all;                                                                                                                \
    }

#define NO(mean) 0
#define HAS(mean) (mean)

ADDERS(truths, uint8_t, uint64_t, NO, v != 0)
ADDERS(i1, int8_t, uint64_t, NO, (uint64_t)(int64_t)v)
ADDERS(i2, int16_t, uint64_t, NO, (uint64_t)(int64_t)v)
ADDERS(i4, int32_t, uint64_t, NO, (uint64_t)(int64_t)v)
ADDERS(u1, uint8_t, uint64_t, NO, v)
ADDERS(u2, uint16_t, uint64_t, NO, v)
ADDERS(u4, uint32_t, uint64_t, NO, v)
ADDERS(words, uint64_t, uint64_t, NO, v)

/* A number, or 0 in the place of NaN: by bits, for compilers make no vectors of choices between floats that become doubles. */
static inline float number_or_0(float v) {
    union {
        float number;
        uint32_t bits;
    } word = {v};
    word.bits &= v == v ? UINT32_MAX : 0;
    return word.number;
}

typedef struct {
    rows_adder rows;
    line_adder line;
} adders;

/* What is added up of floats of a type; NUMBER is the number v, or 0 in the place of NaN. */
#define OF_FLOATS(NAME, FROM, NUMBER)                                                                                                      \
    ADDERS(NAME, FROM, double, NO, v)                                                                                                      \
    ADDERS(NAME##_numbers, FROM, double, NO, NUMBER)                                                                                       \
    ADDERS(NAME##_counts, FROM, uint64_t, NO, v == v)                                                                                      \
    ADDERS(NAME##_squares, FROM, double, HAS, (v - m) * (v - m))                                                                           \
    ADDERS(NAME##_distances, FROM, double, HAS, v - m)                                                                                     \
    ADDERS(NAME##_number_squares, FROM, double, HAS, v == v ? (v - m) * (v - m) : 0)                                                       \
    ADDERS(NAME##_number_distances, FROM, double, HAS, v == v ? v - m : 0)                                                                 \
    static const adders of_##NAME[SUMS] = {                                                                                                \
        {NAME##_rows, NAME##_line},                                                                                                        \
        {NAME##_numbers_rows, NAME##_numbers_line},                                                                                        \
        {NAME##_counts_rows, NAME##_counts_line},                                                                                          \
        {NAME##_squares_rows, NAME##_squares_line},                                                                                        \
        {NAME##_distances_rows, NAME##_distances_line},                                                                                    \
        {NAME##_number_squares_rows, NAME##_number_squares_line},                                                                          \
        {NAME##_number_distances_rows, NAME##_number_distances_line},                                                                      \
    };

OF_FLOATS(doubles, double, v == v ? v : 0)
OF_FLOATS(floats, float, number_or_0(v))

/* adders_of returns the loops for elements and sums of NumPy's types. */
static adders adders_of(int of, int from, int to) {
    const adders none = {NULL, NULL};
    if (of < 0 || of >= SUMS || from < 0 || to < 0 || from >= NDARRAY_TYPES || to >= NDARRAY_TYPES || array_types[from].number == 0 ||
        array_types[to].number == 0)
        return none;
    const char given = array_types[from].format[0], sums = array_types[to].format[0];
    const int size = array_types[from].size, is_wide = array_types[to].size == 8 && strchr("lqLQ", sums) != NULL;
    if (given == 'd' || given == 'f')
        return (of == OF_COUNTS ? is_wide : sums == 'd') ? (given == 'd' ? of_doubles : of_floats)[of] : none;
    if (of != OF_ELEMENTS || !is_wide)
        return none;
    const int step = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
    static const adders integers[] = {{i1_rows, i1_line}, {i2_rows, i2_line}, {i4_rows, i4_line}, {words_rows, words_line}};
    static const adders naturals[] = {{u1_rows, u1_line}, {u2_rows, u2_line}, {u4_rows, u4_line}, {words_rows, words_line}};
    switch (given) {
    case '?': return (adders){truths_rows, truths_line};
    case 'b': case 'h': case 'i': case 'l': case 'q': return integers[step];
    case 'B': case 'H': case 'I': case 'L': case 'Q': return naturals[step];
    default: return none;
    }
}

rows_adder adder_of_rows(int of, int from, int to) { return adders_of(of, from, to).rows; }

line_adder adder_of_line(int of, int from, int to) { return of == OF_ELEMENTS && from == to ? NULL : adders_of(of, from, to).line; }

int means_of(int of, PyObject *means, ptrdiff_t count, const double **found) {
    dtl_array a;
    int64_t extent[NDARRAY_MAX_DIMS];
    *found = NULL;
    if (of < OF_SQUARES)
        return 1;
    if (Py_TYPE(means) != ndarray_known || ((const ndarray *)means)->nd != 1 || !ndarray_take(means, &a, extent, 0) || extent[0] != count ||
        a.itemsize != sizeof(double) || a.format[0] != 'd')
        return 0;
    *found = a.data;
    return 1;
}
