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
#include "sums.h"
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
    dtl_loop cast;       /* NULL: the elements have the type of the results */
    rows_adder add;      /* NULL: the loop folds */
    const double *means; /* what adds up distances is given them */
    char *partial; /* a row for each piece */
    char *to;
    const char *from;
    ptrdiff_t rows, columns, size, result, each;
    int of;
    pieces taken;
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

/* add_rows adds up rows. A row of zeros is first, where not the elements themselves are added. */
static void add_rows(const folding *f, char *out, const char *from, ptrdiff_t rows) {
    const ptrdiff_t skipped = f->of == OF_ELEMENTS;
    if (!skipped)
        memset(out, 0, (size_t)(f->columns * f->result));
    else
        (f->cast == NULL ? fold_rows : fold_converted)(f, out, from, 1);
    f->add(out, from + skipped * f->columns * f->size, rows - skipped, f->columns, f->means);
}

/* note_marks keeps what the processor has marked since it was asked to forget. */
static void note_marks(folding *f) {
    int raised = fetestexcept(FE_OVERFLOW | FE_UNDERFLOW);
    atomic_fetch_or(&f->raised, (raised & FE_OVERFLOW ? 1 : 0) | (raised & FE_UNDERFLOW ? 2 : 0));
}

static void work(long long thread, void *context) {
    folding *f = context;
    const ptrdiff_t row = f->columns * f->result;
    feclearexcept(FE_ALL_EXCEPT);
    for (ptrdiff_t piece; take_piece(&f->taken, thread, pieces_of(f->rows, f->each), &piece);) {
        const ptrdiff_t first = piece * f->each;
        const ptrdiff_t some = f->rows - first < f->each ? f->rows - first : f->each;
        char *out = f->partial + piece * row;
        const char *from = f->from + first * f->columns * f->size;
        if (f->add != NULL)
            add_rows(f, out, from, some);
        else
            (f->cast == NULL ? fold_rows : fold_converted)(f, out, from, some);
        dtl_ease();
    }
    note_marks(f);
}

/* take_matrix describes a matrix and a vector of a result for each of its columns, and says whether they are such, and lie apart. */
static int take_matrix(PyObject *values, PyObject *out, folding *f, int *number, int *result) {
    dtl_array to, from;
    int64_t shape[NDARRAY_MAX_DIMS], extent[NDARRAY_MAX_DIMS];
    if (Py_TYPE(values) != ndarray_known || ((const ndarray *)values)->nd != 2 || Py_TYPE(out) != ndarray_known ||
        ((const ndarray *)out)->nd != 1 || !ndarray_take(values, &from, shape, 0) || !ndarray_take(out, &to, extent, 1) ||
        extent[0] != shape[1] || from.count == 0 || to.itemsize > WIDEST)
        return 0;
    *number = ((const ndarray *)values)->descr->type_num;
    *result = ((const ndarray *)out)->descr->type_num;
    *f = (folding){.to = to.data, .from = from.data, .rows = shape[0], .columns = shape[1], .size = (ptrdiff_t)from.itemsize,
                   .result = (ptrdiff_t)to.itemsize};
    return f->to + f->columns * f->result <= f->from || f->from + from.count * f->size <= f->to;
}

/* run folds pieces of rows, and then what they give. */
static PyObject *run(folding *f, int most) {
    const ptrdiff_t count = f->rows * f->columns;
    const int threads = count * f->size < FEW_BYTES ? 1 : threads_at_most(most);
    f->each = count < FEW ? f->rows : PIECE / f->columns;
    const ptrdiff_t wide = f->rows / (count < MANY ? 8 : 64) + 1;
    if (f->each < wide && count >= FEW)
        f->each = wide; /* few pieces, whose results take little memory */
    if (f->each < LEAST && f->each < f->rows)
        return PyLong_FromLong(-1);
    const ptrdiff_t pieces = (f->rows + f->each - 1) / f->each;
    if ((f->partial = malloc((size_t)(pieces * f->columns * f->result))) == NULL)
        return PyErr_NoMemory();
    Py_BEGIN_ALLOW_THREADS
    run_on_threads(threads, work, f);
    feclearexcept(FE_ALL_EXCEPT);
    fold_rows(f, f->to, f->partial, pieces);
    note_marks(f);
    Py_END_ALLOW_THREADS
    free(f->partial);
    return PyLong_FromLong(atomic_load(&f->raised));
}

const char fold_columns_doc[] = PyDoc_STR(
"fold_columns($module, ufunc, out, values, threads, /)\n--\n\n"
"Write what a ufunc folds the columns of a matrix to, on at most so many threads, 0 being all. The results may be of another type, to\n"
"which the elements are converted. Returns what the processor has marked, 1 of an overflow and 2 of an underflow; -1 if it is not done,\n"
"since there is no loop for such arrays.");

PyObject *bridge_fold_columns(PyObject *module, PyObject *args) {
    PyObject *ufunc, *out, *values;
    folding f;
    int most, number, result;
    if (!PyArg_ParseTuple(args, "OOOi:fold_columns", &ufunc, &out, &values, &most))
        return NULL;
    if (!take_matrix(values, out, &f, &number, &result))
        return PyLong_FromLong(-1);
    const int types[] = {result, result, result};
    f.cast = result == number ? NULL : cast_loop(number, result);
    f.add = numpy_adds(ufunc) ? adder_of_rows(OF_ELEMENTS, number, result) : NULL;
    if (!numpy_loop_of(ufunc, 3, types, &f.loop) ||
        (result != number && (f.cast == NULL || !(cast_keeps(number, result) || result == NDARRAY_BOOL))))
        return PyLong_FromLong(-1);
    return run(&f, most);
}

const char sum_columns_doc[] = PyDoc_STR(
"sum_columns($module, add, of, out, values, means, threads, /)\n--\n\n"
"Write the sums of what is computed of the elements of each column of a matrix of floats, as sums.h numbers it; add is NumPy's ufunc. The\n"
"means, or None, are of float64, one for each column. Returns what fold_columns returns.");

PyObject *bridge_sum_columns(PyObject *module, PyObject *args) {
    PyObject *add, *out, *values, *means;
    folding f;
    int most, number, result, of;
    if (!PyArg_ParseTuple(args, "OiOOOi:sum_columns", &add, &of, &out, &values, &means, &most))
        return NULL;
    if (!take_matrix(values, out, &f, &number, &result) || !means_of(of, means, f.columns, &f.means))
        return PyLong_FromLong(-1);
    const int types[] = {result, result, result};
    f.of = of;
    f.add = adder_of_rows(of, number, result);
    if (f.add == NULL || !numpy_adds(add) || !numpy_loop_of(add, 3, types, &f.loop))
        return PyLong_FromLong(-1);
    return run(&f, most);
}
