/* How the core calls NumPy's loops: without the GIL, and with no more memory. */
#ifndef DTL_LOOPS_H
#define DTL_LOOPS_H

#include "../core/kernel/scan/overflow/marks.h"
#include <stddef.h>
#include <stdint.h> /* which says what the C library is */

/* Loops of functions with this are vectorized, which GCC does less of by itself. */
#if defined(__GNUC__) && !defined(__clang__)
#define DTL_VECTORS __attribute__((optimize("O3")))
#else
#define DTL_VECTORS
#endif

/* Where the loader can choose, functions with this are compiled for wider registers, too. Their results are the same. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define WIDE_VECTORS __attribute__((optimize("O3", "fp-contract=off"), target_clones("avx2", "default")))
#else
#define WIDE_VECTORS DTL_VECTORS
#endif

typedef int (*dtl_sort_loop)(void *first, ptrdiff_t n, void *array);
typedef void (*dtl_loop)(char **arguments, const ptrdiff_t *n, const ptrdiff_t *steps, void *data);
typedef int (*dtl_place_loop)(void *first, ptrdiff_t n, ptrdiff_t *place, void *array);

typedef void (*dtl_task)(long long task, void *context);

static inline void dtl_do(dtl_task task, long long n, void *context) { task(n, context); }

static inline void dtl_sort(dtl_sort_loop loop, void *first, ptrdiff_t n) { loop(first, n, NULL); }

/* dtl_extreme has *found become the extreme of itself and n elements, as ufunc.reduce does. */
static inline void dtl_extreme(dtl_loop loop, void *first, ptrdiff_t n, ptrdiff_t size, void *found) {
    char *arguments[] = {found, first, found};
    const ptrdiff_t steps[] = {0, size, 0};
    loop(arguments, &n, steps, NULL);
}

/* dtl_extreme_at writes where the extreme of n elements is, as argmax does. */
static inline void dtl_extreme_at(dtl_place_loop loop, void *first, ptrdiff_t n, ptrdiff_t *place) { loop(first, n, place, NULL); }

/* dtl_add adds n elements to n others, as a ufunc with one of its operands for out does. */
static inline void dtl_add(dtl_loop loop, void *sums, void *elements, ptrdiff_t n, ptrdiff_t size) {
    char *arguments[] = {sums, elements, sums};
    const ptrdiff_t steps[] = {size, size, size};
    loop(arguments, &n, steps, NULL);
}

DTL_VECTORS static void dtl_add_doubles(double *restrict sums, const double *restrict elements, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i++)
        sums[i] += elements[i];
}

DTL_VECTORS static void dtl_add_singles(float *restrict sums, const float *restrict elements, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i++)
        sums[i] += elements[i];
}

/* dtl_add_floats adds rows of floats of a size to others, and says what the processor does: 1 of an overflow, 2 of a sum that is no number. */
DTL_VECTORS static int dtl_add_floats(
    int size, char *sums, ptrdiff_t sums_step, const char *elements, ptrdiff_t step, ptrdiff_t rows, ptrdiff_t bytes) {
    dtl_forget_marks();
    for (ptrdiff_t row = 0; row < rows; row++, sums += sums_step, elements += step)
        if (size == sizeof(double))
            dtl_add_doubles((double *)sums, (const double *)elements, bytes / size);
        else
            dtl_add_singles((float *)sums, (const float *)elements, bytes / size);
    return (dtl_marked(DTL_OVERFLOW) ? 1 : 0) | (dtl_marked(DTL_INVALID) ? 2 : 0);
}

/* Sums of n floats of a size, which are added to one of two words; of products of two arrays', which may be one; and the mean of n floats, in two words, with the
 * sum of the squares of their distances from it (whole_sums.c). */
void dtl_add_elements(int size, const void *x, ptrdiff_t n, double *sum);
void dtl_add_products(int size, const void *x, const void *y, ptrdiff_t n, double *sum);
void dtl_moments(int size, const void *x, ptrdiff_t n, double *moments);

/* dtl_add_rows writes the sum of each of some rows of n elements (whole_sums.c). */
void dtl_add_rows(const double *x, ptrdiff_t rows, ptrdiff_t n, double *out);

/* dtl_dot_rows writes the sum of the products of each of some rows of n elements with the elements of another row. From one of these to the
 * next, there are so many elements: 0 where all are the same (whole_sums.c). */
void dtl_dot_rows(const double *x, const double *y, ptrdiff_t apart, ptrdiff_t rows, ptrdiff_t n, double *out);

/* dtl_find_in_rows writes where the least, or the greatest, of each of some rows of n elements is; the others are such functions of one line, as
 * NumPy has them (extreme_places.c). */
void dtl_find_in_rows(int greatest, const double *x, ptrdiff_t rows, ptrdiff_t n, ptrdiff_t *out);
int dtl_least_place(void *first, ptrdiff_t n, ptrdiff_t *place, void *array);
int dtl_greatest_place(void *first, ptrdiff_t n, ptrdiff_t *place, void *array);

/* dtl_greatest_in_columns has an extreme for each column become that of itself and of rows of float64, as NumPy's maximum does; the other one is
 * for the least. They are rows_adders, which need no means (extreme_places.c). */
void dtl_greatest_in_columns(char *of, const char *from, ptrdiff_t rows, ptrdiff_t columns, const double *none);
void dtl_least_in_columns(char *of, const char *from, ptrdiff_t rows, ptrdiff_t columns, const double *none);

/* dtl_are_distinct says whether of n float64 none is NaN or -0, which are equal to others, or not, whatever their bits are. */
int dtl_are_distinct(const void *x, ptrdiff_t n);

#endif
