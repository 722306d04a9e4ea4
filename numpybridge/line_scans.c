//go:build cpython

/*
 * Running sums of lines of numbers that lie one behind the other, on the threads of this rank. Each sum waits for the one before, so four
 * lines are added up at once. The additions of a line are those of ufunc.accumulate, in its order.
 */
#include "line_scans.h"
#include "numpy.h"
#include "threads.h"
#include <fenv.h>
#include <stdatomic.h>

enum { PIECE = 1 << 17, FEW = 1 << 18 };

#define SCAN(NAME, type)                                                                                                                   \
    static void NAME(type *restrict out, const type *restrict from, ptrdiff_t lines, ptrdiff_t n) {                                       \
        for (; lines >= 4; lines -= 4, out += 4 * n, from += 4 * n) {                                                                      \
            type a = 0, b = 0, c = 0, d = 0;                                                                                               \
            if (n > 0) {                                                                                                                   \
                out[0] = a = from[0];                                                                                                      \
                out[n] = b = from[n];                                                                                                      \
                out[2 * n] = c = from[2 * n];                                                                                              \
                out[3 * n] = d = from[3 * n];                                                                                              \
            }                                                                                                                              \
            for (ptrdiff_t i = 1; i < n; i++) {                                                                                            \
                out[i] = a += from[i];                                                                                                     \
                out[n + i] = b += from[n + i];                                                                                             \
                out[2 * n + i] = c += from[2 * n + i];                                                                                     \
                out[3 * n + i] = d += from[3 * n + i];                                                                                     \
            }                                                                                                                              \
        }                                                                                                                                  \
        for (; lines > 0; lines--, out += n, from += n) {                                                                                  \
            type sum = n > 0 ? from[0] : 0;                                                                                                \
            if (n > 0)                                                                                                                     \
                out[0] = sum;                                                                                                              \
            for (ptrdiff_t i = 1; i < n; i++)                                                                                              \
                out[i] = sum += from[i];                                                                                                   \
        }                                                                                                                                  \
    }
SCAN(scan_doubles, double)
SCAN(scan_floats, float)
SCAN(scan_words, uint64_t)

typedef struct {
    char *out;
    const char *from;
    ptrdiff_t lines, n, each;
    int size, is_float;
    pieces taken;
    atomic_int marked;
} scanning;

static void work(long long thread, void *context) {
    scanning *s = context;
    feclearexcept(FE_ALL_EXCEPT);
    for (ptrdiff_t piece; take_piece(&s->taken, thread, pieces_of(s->lines, s->each), &piece);) {
        const ptrdiff_t first = piece * s->each;
        const ptrdiff_t lines = s->lines - first < s->each ? s->lines - first : s->each, at = first * s->n * s->size;
        if (!s->is_float)
            scan_words((uint64_t *)(s->out + at), (const uint64_t *)(s->from + at), lines, s->n);
        else if (s->size == sizeof(double))
            scan_doubles((double *)(s->out + at), (const double *)(s->from + at), lines, s->n);
        else
            scan_floats((float *)(s->out + at), (const float *)(s->from + at), lines, s->n);
        dtl_ease();
    }
    if (s->is_float && fetestexcept(FE_OVERFLOW | FE_INVALID) != 0)
        atomic_store(&s->marked, 1);
}

const char scan_lines_doc[] = PyDoc_STR(
"scan_lines($module, out, values, threads, /)\n--\n\n"
"Write the running sums of the lines of an array along its last dimension, of float64, float32 or integers of 64 bits, to another\n"
"one on at most so many threads, 0 being all, and say whether that is done: it is not of other arrays, nor where the processor marks an\n"
"overflow or an invalid operation, of which NumPy tells.");

PyObject *bridge_scan_lines(PyObject *module, PyObject *args) {
    PyObject *out, *values;
    dtl_array to, from;
    int64_t shape[2][NDARRAY_MAX_DIMS];
    int most;
    if (!PyArg_ParseTuple(args, "OOi:scan_lines", &out, &values, &most))
        return NULL;
    if (((const ndarray *)out)->nd > NDARRAY_MAX_DIMS || !ndarray_take(out, &to, shape[0], 1) || !ndarray_take(values, &from, shape[1], 0))
        Py_RETURN_FALSE;
    const char format = to.format[0];
    const int is_float = format == 'd' || format == 'f';
    if (strchr("dflqLQ", format) == NULL || (!is_float && to.itemsize != 8) || to.type != from.type || to.ndim < 1 || to.ndim != from.ndim ||
        to.count == 0 || memcmp(shape[0], shape[1], (size_t)to.ndim * sizeof shape[0][0]) != 0)
        Py_RETURN_FALSE;
    const ptrdiff_t n = (ptrdiff_t)shape[0][to.ndim - 1];
    scanning s = {.out = to.data, .from = from.data, .lines = to.count / n, .n = n, .size = (int)to.itemsize, .is_float = is_float};
    s.each = n >= PIECE / 4 ? 4 : (PIECE / n + 3) / 4 * 4;
    const int threads = to.count < FEW ? 1 : threads_at_most(most);
    if (s.out < s.from + to.count * to.itemsize && s.from < s.out + to.count * to.itemsize)
        Py_RETURN_FALSE;
    Py_BEGIN_ALLOW_THREADS
    run_on_threads(threads, work, &s);
    Py_END_ALLOW_THREADS
    return PyBool_FromLong(atomic_load(&s.marked) == 0);
}
