/* How the core calls NumPy's loops: without the GIL, and with no more memory. */
#ifndef DTL_NUMPY_LOOPS_H
#define DTL_NUMPY_LOOPS_H

#include <stddef.h>

typedef int (*dtl_sort_loop)(void *first, ptrdiff_t n, void *array);
typedef void (*dtl_loop)(char **arguments, const ptrdiff_t *n, const ptrdiff_t *steps, void *data);
typedef void (*dtl_dot_loop)(void *a, ptrdiff_t a_step, void *b, ptrdiff_t b_step, void *product, ptrdiff_t n, void *array);

static inline void dtl_sort(dtl_sort_loop loop, void *first, ptrdiff_t n) { loop(first, n, NULL); }

/* dtl_extreme has *found become the extreme of itself and n elements, as ufunc.reduce does. */
static inline void dtl_extreme(dtl_loop loop, void *first, ptrdiff_t n, ptrdiff_t size, void *found) {
    char *arguments[] = {found, first, found};
    const ptrdiff_t steps[] = {0, size, 0};
    loop(arguments, &n, steps, NULL);
}

/* dtl_add adds n elements to n others, as a ufunc with one of its operands for out does. */
static inline void dtl_add(dtl_loop loop, void *sums, void *elements, ptrdiff_t n, ptrdiff_t size) {
    char *arguments[] = {sums, elements, sums};
    const ptrdiff_t steps[] = {size, size, size};
    loop(arguments, &n, steps, NULL);
}

static inline double dtl_dot(dtl_dot_loop loop, void *a, void *b, ptrdiff_t n) {
    double product = 0;
    loop(a, sizeof(double), b, sizeof(double), &product, n, NULL);
    return product;
}

#endif
