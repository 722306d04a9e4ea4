//go:build cpython

/*
 * Folds of the columns of a matrix on the threads of this rank. As NumPy does it, each row is folded into a row of results by the loop of a
 * ufunc. Pieces of rows are folded by themselves, and then in their order: so the results do not depend on the number of threads. Strips of
 * columns would have the bits of NumPy, but take up to twice the time: what a thread reads is then in many places.
 */
#include "column_folds.h"
#include "casts.h"
#include "numpy.h"
#include "numpy_loops.h"
#include "threads.h"
#include <fenv.h>
#include <stdatomic.h>

/* A piece has about so many elements; fewer than FEW are one piece, and it has at least LEAST rows. */
enum { PIECE = 1 << 17, FEW = 1 << 18, MANY = 1 << 24, LEAST = 32 };

/* A matrix of fewer bytes is one thread's: to wake another one takes longer. */
enum { FEW_BYTES = 1 << 23 };

/* Of types that are converted, so many elements are at a time, which stay in the fastest cache. */
enum { AT_ONCE = 1 << 10, WIDEST = 16 };

typedef struct {
    numpy_loop loop;
    dtl_loop cast; /* NULL: the elements have the type of the results */
    char *partial; /* a row for each piece */
    const char *from;
    ptrdiff_t rows, columns, size, result, each;
    atomic_llong next;
    atomic_int raised;
} folding;

/* fold_rows folds rows of the results' type into one. */
static void fold_rows(const folding *f, char *out, const char *from, ptrdiff_t rows) {
    const ptrdiff_t steps[] = {f->result, f->result, f->result}, row = f->columns * f->result;
    memcpy(out, from, (size_t)row);
    for (ptrdiff_t i = 1; i < rows; i++) {
        char *arguments[] = {out, (char *)from + i * row, out};
        f->loop.call(arguments, &f->columns, steps, f->loop.data);
    }
}

/* fold_converted folds rows of another type into one. */
static void fold_converted(const folding *f, char *out, const char *from, ptrdiff_t rows) {
    _Alignas(64) char room[AT_ONCE * WIDEST];
    const ptrdiff_t steps[] = {f->result, f->result, f->result}, converting[] = {f->size, f->result};
    for (ptrdiff_t i = 0; i < rows; i++)
        for (ptrdiff_t at = 0; at < f->columns; at += AT_ONCE) {
            const ptrdiff_t some = f->columns - at < AT_ONCE ? f->columns - at : AT_ONCE;
            char *results = out + at * f->result, *both[] = {(char *)from + (i * f->columns + at) * f->size, i == 0 ? results : room};
            f->cast(both, &some, converting, NULL);
            char *arguments[] = {results, room, results};
            if (i > 0)
                f->loop.call(arguments, &some, steps, f->loop.data);
        }
}

/* note_marks keeps what the processor has marked since it was asked to forget. */
static void note_marks(folding *f) {
    int raised = fetestexcept(FE_OVERFLOW | FE_UNDERFLOW);
    atomic_fetch_or(&f->raised, (raised & FE_OVERFLOW ? 1 : 0) | (raised & FE_UNDERFLOW ? 2 : 0));
}

static void work(long long thread, void *context) {
    folding *f = context;
    const ptrdiff_t row = f->columns * f->result;
    (void)thread;
    feclearexcept(FE_ALL_EXCEPT);
    for (ptrdiff_t piece, first; (piece = (ptrdiff_t)atomic_fetch_add(&f->next, 1), first = piece * f->each) < f->rows;) {
        const ptrdiff_t some = f->rows - first < f->each ? f->rows - first : f->each;
        (f->cast == NULL ? fold_rows : fold_converted)(f, f->partial + piece * row, f->from + first * f->columns * f->size, some);
        dtl_ease();
    }
    note_marks(f);
}

const char fold_columns_doc[] = PyDoc_STR(
"fold_columns($module, ufunc, out, values, threads, /)\n--\n\n"
"Write what a ufunc folds the columns of a matrix to, on at most so many threads, 0 being all. The results may be of another type, to\n"
"which the elements are converted. Returns what the processor has marked, 1 of an overflow and 2 of an underflow; -1 if it is not done,\n"
"since there is no loop for such arrays.");

PyObject *bridge_fold_columns(PyObject *module, PyObject *args) {
    PyObject *ufunc, *out, *values;
    dtl_array to, from;
    int64_t shape[NDARRAY_MAX_DIMS], extent[NDARRAY_MAX_DIMS];
    int most;
    if (!PyArg_ParseTuple(args, "OOOi:fold_columns", &ufunc, &out, &values, &most))
        return NULL;
    if (Py_TYPE(values) != ndarray_known || ((const ndarray *)values)->nd != 2 || Py_TYPE(out) != ndarray_known ||
        ((const ndarray *)out)->nd != 1 || !ndarray_take(values, &from, shape, 0) || !ndarray_take(out, &to, extent, 1) ||
        extent[0] != shape[1] || from.count == 0 || to.itemsize > WIDEST)
        return PyLong_FromLong(-1);
    const int number = ((const ndarray *)values)->descr->type_num, result = ((const ndarray *)out)->descr->type_num;
    const int types[] = {result, result, result};
    folding f = {.from = from.data, .rows = shape[0], .columns = shape[1], .size = (ptrdiff_t)from.itemsize, .result = (ptrdiff_t)to.itemsize};
    f.cast = result == number ? NULL : cast_loop(number, result);
    if (!numpy_loop_of(ufunc, 3, types, &f.loop) || ((char *)to.data < f.from + from.count * f.size && f.from < (char *)to.data + f.columns * f.result) ||
        (result != number && (f.cast == NULL || !(cast_keeps(number, result) || result == NDARRAY_BOOL))))
        return PyLong_FromLong(-1);
    const int threads = from.count * f.size < FEW_BYTES ? 1 : threads_at_most(most);
    f.each = from.count < FEW ? f.rows : PIECE / f.columns;
    const ptrdiff_t wide = f.rows / (from.count < MANY ? 8 : 64) + 1;
    if (f.each < wide && from.count >= FEW)
        f.each = wide; /* few pieces, whose results take little memory */
    if (f.each < LEAST && f.each < f.rows)
        return PyLong_FromLong(-1);
    const ptrdiff_t pieces = (f.rows + f.each - 1) / f.each;
    if ((f.partial = malloc((size_t)(pieces * f.columns * f.result))) == NULL)
        return PyErr_NoMemory();
    Py_BEGIN_ALLOW_THREADS
    run_on_threads(threads, work, &f);
    feclearexcept(FE_ALL_EXCEPT);
    fold_rows(&f, to.data, f.partial, pieces);
    note_marks(&f);
    Py_END_ALLOW_THREADS
    free(f.partial);
    return PyLong_FromLong(atomic_load(&f.raised));
}
