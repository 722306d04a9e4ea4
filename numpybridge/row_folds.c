//go:build cpython

/*
 * Folds of the rows of a matrix on the threads of this rank, each row to one element: by the loop of a ufunc, or by NumPy's functions that
 * find where an extreme is. NumPy calls the same loops row by row, so the results are its own, to the bit, on any number of threads; it holds
 * the interpreter's lock for what lies between, which takes most of the time where rows are short, or where truths are known early.
 */
#include "row_folds.h"
#include "casts.h"
#include "numpy.h"
#include "numpy_loops.h"
#include "sums.h"
#include "threads.h"
#include <fenv.h>
#include <stdatomic.h>

/* A piece has about so many elements. A matrix of fewer bytes than FEW is one thread's. Of types that are converted, so many elements are at a
 * time, which stay in the fastest cache. */
enum { PIECE = 1 << 17, FEW = 1 << 23, AT_ONCE = 1 << 10, ELEMENT = 16 };

typedef struct {
    numpy_loop loop;
    dtl_place_loop place; /* NULL: the loop folds */
    dtl_loop cast; /* NULL: the elements have the type of the results */
    line_adder add; /* NULL: the loop folds */
    const double *means; /* what adds up distances is given them */
    char *to;
    const char *from;
    ptrdiff_t rows, columns, size, result, each;
    int truths;
    const char *start; /* what rows are combined with; NULL: each begins with its first element */
    pieces taken;
    atomic_int raised;
} folding;

/* fold_row combines elements of the results' type with a result. */
static void fold_row(const folding *f, char *out, char *elements, ptrdiff_t count) {
    const ptrdiff_t steps[] = {0, f->result, 0};
    char *arguments[] = {out, elements, out};
    if (count > 0)
        f->loop.call(arguments, &count, steps, f->loop.data);
}

/* fold_converted combines elements of another type with a result. Truths are known once one is unlike what they start with. */
static void fold_converted(const folding *f, char *out, char *elements, ptrdiff_t count) {
    _Alignas(64) char room[AT_ONCE * ELEMENT];
    const ptrdiff_t steps[] = {f->size, f->result};
    for (ptrdiff_t at = 0; at < count && !(f->truths && *out != *f->start); at += AT_ONCE) {
        const ptrdiff_t some = count - at < AT_ONCE ? count - at : AT_ONCE;
        char *arguments[] = {elements + at * f->size, room};
        f->cast(arguments, &some, steps, NULL);
        fold_row(f, out, room, some);
    }
}

static void fold_some(const folding *f, ptrdiff_t begin, ptrdiff_t end) {
    const ptrdiff_t skipped = f->start == NULL;
    for (ptrdiff_t i = begin; i < end; i++) {
        char *out = f->to + i * f->result, *row = (char *)f->from + i * f->columns * f->size;
        memcpy(out, f->start == NULL ? row : f->start, (size_t)f->result);
        (f->cast == NULL ? fold_row : fold_converted)(f, out, row + skipped * f->size, f->columns - skipped);
    }
}

static void add_some(const folding *f, ptrdiff_t begin, ptrdiff_t end) {
    for (ptrdiff_t i = begin; i < end; i++) {
        memcpy(f->to + i * f->result, f->start, (size_t)f->result);
        f->add(f->to + i * f->result, f->from + i * f->columns * f->size, f->columns, f->means == NULL ? NULL : f->means + i);
    }
}

static void find_some(const folding *f, ptrdiff_t begin, ptrdiff_t end) {
    for (ptrdiff_t i = begin; i < end; i++)
        dtl_extreme_at(f->place, (char *)f->from + i * f->columns * f->size, f->columns, (ptrdiff_t *)f->to + i);
}

static void work(long long thread, void *context) {
    folding *f = context;
    feclearexcept(FE_ALL_EXCEPT);
    for (ptrdiff_t piece; take_piece(&f->taken, thread, pieces_of(f->rows, f->each), &piece);) {
        const ptrdiff_t first = piece * f->each;
        (f->add != NULL ? add_some : f->place == NULL ? fold_some : find_some)(
            f, first, f->rows - first < f->each ? f->rows : first + f->each);
        dtl_ease();
    }
    const int raised = fetestexcept(FE_OVERFLOW | FE_UNDERFLOW);
    atomic_fetch_or(&f->raised, (raised & FE_OVERFLOW ? 1 : 0) | (raised & FE_UNDERFLOW ? 2 : 0));
}

/* take_matrix describes a matrix and a vector of an element for each of its rows, and says whether they are such. */
static int take_matrix(PyObject *values, PyObject *out, folding *f, int *number) {
    dtl_array to, from;
    int64_t shape[NDARRAY_MAX_DIMS], extent[NDARRAY_MAX_DIMS];
    if (Py_TYPE(values) != ndarray_known || ((const ndarray *)values)->nd != 2 || Py_TYPE(out) != ndarray_known ||
        ((const ndarray *)out)->nd != 1 || !ndarray_take(values, &from, shape, 0) || !ndarray_take(out, &to, extent, 1) ||
        extent[0] != shape[0] || from.count == 0 || from.itemsize > ELEMENT)
        return 0;
    *number = ((const ndarray *)values)->descr->type_num;
    *f = (folding){.to = to.data, .from = from.data, .rows = shape[0], .columns = shape[1], .size = (ptrdiff_t)from.itemsize,
                   .result = (ptrdiff_t)to.itemsize};
    f->each = PIECE / f->columns + 1;
    return f->to + to.count * (ptrdiff_t)to.itemsize <= f->from || f->from + from.count * f->size <= f->to;
}

static void run(folding *f, int most) {
    const int threads = f->rows * f->columns * f->size < FEW ? 1 : threads_at_most(most);
    Py_BEGIN_ALLOW_THREADS
    run_on_threads(threads, work, f);
    Py_END_ALLOW_THREADS
}

const char fold_rows_doc[] = PyDoc_STR(
"fold_rows($module, ufunc, out, values, start, threads, /)\n--\n\n"
"Write what a ufunc folds each row of a matrix to, combined with a number to start with, or None, on at most so many threads, 0\n"
"being all. The results may be of another type, to which the elements are converted. Returns what fold_columns returns.");

PyObject *bridge_fold_rows(PyObject *module, PyObject *args) {
    PyObject *ufunc, *out, *values, *start;
    folding f;
    int most, number;
    _Alignas(ELEMENT) char element[ELEMENT];
    if (!PyArg_ParseTuple(args, "OOOOi:fold_rows", &ufunc, &out, &values, &start, &most))
        return NULL;
    if (!take_matrix(values, out, &f, &number) || f.result > ELEMENT)
        return PyLong_FromLong(-1);
    const int result = ((const ndarray *)out)->descr->type_num, types[] = {result, result, result};
    f.start = start == Py_None ? NULL : element;
    f.truths = result == NDARRAY_BOOL;
    f.cast = result == number ? NULL : cast_loop(number, result);
    f.add = f.start != NULL && numpy_adds(ufunc) ? adder_of_line(OF_ELEMENTS, number, result) : NULL;
    if (!numpy_loop_of(ufunc, 3, types, &f.loop) || (f.start != NULL && !numpy_number(start, result, element)) ||
        (result != number && (f.cast == NULL || f.start == NULL || !(cast_keeps(number, result) || result == NDARRAY_BOOL))))
        return PyLong_FromLong(-1);
    run(&f, most);
    return PyLong_FromLong(atomic_load(&f.raised));
}

const char sum_rows_doc[] = PyDoc_STR(
"sum_rows($module, of, out, values, means, threads, /)\n--\n\n"
"Write the sums of what is computed of the elements of each row of a matrix of floats, as sums.h numbers it. The means, or None, are of\n"
"float64, one for each row. Returns what fold_columns returns.");

PyObject *bridge_sum_rows(PyObject *module, PyObject *args) {
    PyObject *out, *values, *means;
    folding f;
    int most, number, of;
    static const uint64_t zero;
    if (!PyArg_ParseTuple(args, "iOOOi:sum_rows", &of, &out, &values, &means, &most))
        return NULL;
    if (!take_matrix(values, out, &f, &number) || !means_of(of, means, f.rows, &f.means) ||
        (f.add = adder_of_line(of, number, ((const ndarray *)out)->descr->type_num)) == NULL)
        return PyLong_FromLong(-1);
    f.start = (const char *)&zero;
    run(&f, most);
    return PyLong_FromLong(atomic_load(&f.raised));
}

const char find_in_rows_doc[] = PyDoc_STR(
"find_in_rows($module, greatest, out, values, threads, /)\n--\n\n"
"Write where the least, or the greatest, element of each row of a matrix is, on at most so many threads, 0 being all. Returns whether it\n"
"is done: there may be no function for such elements.");

PyObject *bridge_find_in_rows(PyObject *module, PyObject *args) {
    PyObject *out, *values;
    folding f;
    int most, number, greatest;
    if (!PyArg_ParseTuple(args, "pOOi:find_in_rows", &greatest, &out, &values, &most))
        return NULL;
    if (!take_matrix(values, out, &f, &number) || ((const ndarray *)out)->descr->type_num != NDARRAY_LONG)
        Py_RETURN_FALSE;
    if ((f.place = numpy_place_of(number, greatest)) == NULL)
        Py_RETURN_FALSE;
    run(&f, most);
    Py_RETURN_TRUE;
}
