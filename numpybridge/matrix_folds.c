//go:build cpython

/*
 * Folds of the rows and of the columns of a matrix on the threads of this rank, each to one element.
 *
 * A row is folded by the loop of a ufunc, or by NumPy's functions that find where an extreme is. NumPy calls the same loops row by row, so the
 * results are its own, to the bit, on any number of threads; it holds the interpreter's lock for what lies between, which takes most of the
 * time where rows are short, or where truths are known early.
 *
 * Of columns, each row is folded into a row of results, as NumPy does it. Pieces of rows are folded by themselves, and then in their order: so
 * the results do not depend on the number of threads. Strips of columns would have the bits of NumPy, but take up to twice the time: what a
 * thread reads is then in many places.
 *
 * Float64 has loops that take less time than NumPy's: for sums of rows, in whole_sums.c, and for the extremes of columns and where those of rows
 * are, in extreme_places.c. Rows are also multiplied with other rows, or with a vector.
 */
#include "matrix_folds.h"
#include "casts.h"
#include "numpy.h"
#include "numpy_loops.h"
#include "sums.h"
#include "threads.h"
#include <fenv.h>
#include <stdatomic.h>

/* A piece has about so many elements. A matrix of fewer bytes than FEW_BYTES is one thread's: to wake another one takes longer. Of types that
 * are converted, so many elements are at a time, which stay in the fastest cache. */
enum { PIECE = 1 << 17, FEW_BYTES = 1 << 23, AT_ONCE = 1 << 10, ELEMENT = 16 };

/* Of columns, fewer elements than FEW are one piece, and a piece has at least LEAST rows. After GLANCE rows, all truths may be known. */
enum { FEW = 1 << 18, MANY = 1 << 24, LEAST = 32, GLANCE = 16 };

/* How many words of truths are looked at together, and how many rows before a row is read its beginning is fetched. */
enum { WORDS = 8, TOGETHER = 8 * WORDS, AHEAD = 16 };

typedef struct {
    numpy_loop loop;
    dtl_loop cast;       /* NULL: the elements have the type of the results */
    const double *means; /* what adds up distances is given them */
    char *to;
    const char *from;
    ptrdiff_t rows, columns, size, result, each; /* each: the rows of a piece */
    int number, made;                            /* NumPy's numbers of the types of elements and results */
    int last; /* what truths stay that have become so; -1: they may change, or the results are none */
    pieces taken;
    atomic_int raised;
    /* Of rows. */
    dtl_place_loop place;  /* NULL: the loop folds */
    line_adder add_line;   /* NULL: the loop folds */
    const double *factors; /* what rows are multiplied with; NULL: they are not */
    ptrdiff_t apart;       /* how many elements lie between what two rows are multiplied with */
    const char *start;     /* what rows are combined with; NULL: each begins with its first element */
    int truths, adds, greatest; /* adds: rows of float64 are added up; greatest: where the greatest are is found */
    /* Of columns. */
    rows_adder add_rows; /* adds, or finds extremes; NULL: the loop folds */
    int of;
    char *partial; /* a row for each piece */
} folding;

/* take_matrix describes a matrix and a vector of an element for each index of an axis, and says whether they are such, and lie apart. */
static int take_matrix(PyObject *values, PyObject *out, int axis, folding *f) {
    dtl_array to, from;
    int64_t shape[NDARRAY_MAX_DIMS], extent[NDARRAY_MAX_DIMS];
    if (Py_TYPE(values) != ndarray_known || ((const ndarray *)values)->nd != 2 || Py_TYPE(out) != ndarray_known ||
        ((const ndarray *)out)->nd != 1 || !ndarray_take(values, &from, shape, 0) || !ndarray_take(out, &to, extent, 1) ||
        extent[0] != shape[axis] || from.count == 0 || from.itemsize > ELEMENT || to.itemsize > ELEMENT)
        return 0;
    *f = (folding){.last = -1, .to = to.data, .from = from.data, .rows = shape[0], .columns = shape[1], .size = (ptrdiff_t)from.itemsize,
                   .result = (ptrdiff_t)to.itemsize, .number = ((const ndarray *)values)->descr->type_num,
                   .made = ((const ndarray *)out)->descr->type_num};
    return f->to + to.count * f->result <= f->from || f->from + from.count * f->size <= f->to;
}

/* take_loop finds the loop of a ufunc for the results, and says whether there is one. */
static int take_loop(PyObject *ufunc, folding *f) {
    const int types[] = {f->made, f->made, f->made};
    return numpy_loop_of(ufunc, 3, types, &f->loop);
}

/* take_loops finds that, and the loop that converts elements, where these are of another type. */
static int take_loops(PyObject *ufunc, folding *f) {
    if (f->made != f->number && ((f->cast = cast_loop(f->number, f->made)) == NULL ||
                                 !(cast_keeps(f->number, f->made) || f->made == NDARRAY_BOOL)))
        return 0;
    f->last = f->made == NDARRAY_BOOL ? numpy_last_truth(ufunc) : -1;
    return take_loop(ufunc, f);
}

/* take_rows has a thread take a piece of the rows, and says whether there is one left. */
static int take_rows(folding *f, long long thread, ptrdiff_t *piece, ptrdiff_t *first, ptrdiff_t *some) {
    if (!take_piece(&f->taken, thread, pieces_of(f->rows, f->each), piece))
        return 0;
    *first = *piece * f->each;
    *some = f->rows - *first < f->each ? f->rows - *first : f->each;
    return 1;
}

/* note_marks keeps what the processor has marked since it was asked to forget. */
static void note_marks(folding *f) {
    const int raised = fetestexcept(FE_OVERFLOW | FE_UNDERFLOW | FE_INVALID);
    atomic_fetch_or(&f->raised, (raised & FE_OVERFLOW ? 1 : 0) | (raised & FE_UNDERFLOW ? 2 : 0) | (raised & FE_INVALID ? 4 : 0));
}

static int threads_of(const folding *f, int most) { return f->rows * f->columns * f->size < FEW_BYTES ? 1 : threads_at_most(most); }

/* fold_row combines elements of the results' type with a result. */
static void fold_row(const folding *f, char *out, char *elements, ptrdiff_t count) {
    const ptrdiff_t steps[] = {0, f->result, 0};
    char *arguments[] = {out, elements, out};
    if (count > 0)
        f->loop.call(arguments, &count, steps, f->loop.data);
}

/* fold_row_converted combines elements of another type with a result. Truths are known once one is unlike what they start with. */
static void fold_row_converted(const folding *f, char *out, char *elements, ptrdiff_t count) {
    _Alignas(64) char room[AT_ONCE * ELEMENT];
    const ptrdiff_t steps[] = {f->size, f->result};
    for (ptrdiff_t at = 0; at < count && !(f->truths && *out != *f->start); at += AT_ONCE) {
        const ptrdiff_t some = count - at < AT_ONCE ? count - at : AT_ONCE;
        char *arguments[] = {elements + at * f->size, room};
        f->cast(arguments, &some, steps, NULL);
        fold_row(f, out, room, some);
    }
}

/* fold_some, find_truths, add_some, add_rows, find_some and dot_rows write the results of some rows. */
static void fold_some(const folding *f, ptrdiff_t begin, ptrdiff_t end) {
    const ptrdiff_t skipped = f->start == NULL;
    for (ptrdiff_t i = begin; i < end; i++) {
        char *out = f->to + i * f->result, *row = (char *)f->from + i * f->columns * f->size;
        memcpy(out, f->start == NULL ? row : f->start, (size_t)f->result);
        (f->cast == NULL ? fold_row : fold_row_converted)(f, out, row + skipped * f->size, f->columns - skipped);
    }
}

/* find_truth says whether a row of truths has one that is true, or whether all are. The first ones tell, where they are mixed. */
static int find_truth(const folding *f, const char *row) {
    if (f->last == 0)
        return memchr(row, 0, (size_t)f->columns) == NULL;
    ptrdiff_t at = 0;
    for (uint64_t some = 0; at + TOGETHER <= f->columns; at += TOGETHER) {
        uint64_t words[WORDS];
        memcpy(words, row + at, TOGETHER);
        for (int k = 0; k < WORDS; k++)
            some |= words[k];
        if (some != 0)
            return 1;
    }
    while (at < f->columns && row[at] == 0)
        at++;
    return at < f->columns;
}

/* find_truths fetches the beginnings of rows ahead: mostly no more of a row is read, and they are too far apart for the processor to guess. */
static void find_truths(const folding *f, ptrdiff_t begin, ptrdiff_t end) {
    for (ptrdiff_t i = begin; i < end; i++) {
        __builtin_prefetch(f->from + (i + AHEAD < f->rows ? i + AHEAD : i) * f->columns);
        f->to[i] = (char)find_truth(f, f->from + i * f->columns);
    }
}

static void add_some(const folding *f, ptrdiff_t begin, ptrdiff_t end) {
    for (ptrdiff_t i = begin; i < end; i++) {
        memcpy(f->to + i * f->result, f->start, (size_t)f->result);
        f->add_line(f->to + i * f->result, f->from + i * f->columns * f->size, f->columns, f->means == NULL ? NULL : f->means + i);
    }
}

static void find_some(const folding *f, ptrdiff_t begin, ptrdiff_t end) {
    if (f->number == NDARRAY_DOUBLE) {
        dtl_find_in_rows(f->greatest, (const double *)f->from + begin * f->columns, end - begin, f->columns, (ptrdiff_t *)f->to + begin);
        return;
    }
    for (ptrdiff_t i = begin; i < end; i++)
        dtl_extreme_at(f->place, (char *)f->from + i * f->columns * f->size, f->columns, (ptrdiff_t *)f->to + i);
}

static void add_rows(const folding *f, ptrdiff_t begin, ptrdiff_t end) {
    dtl_add_rows((const double *)f->from + begin * f->columns, end - begin, f->columns, (double *)f->to + begin);
}

static void dot_rows(const folding *f, ptrdiff_t begin, ptrdiff_t end) {
    dtl_dot_rows((const double *)f->from + begin * f->columns, f->factors + begin * f->apart, f->apart, end - begin, f->columns,
                      (double *)f->to + begin);
}

static void work_on_rows(long long thread, void *context) {
    folding *f = context;
    feclearexcept(FE_ALL_EXCEPT);
    for (ptrdiff_t piece, first, some; take_rows(f, thread, &piece, &first, &some);) {
        (f->factors != NULL    ? dot_rows
         : f->add_line != NULL ? add_some
         : f->adds             ? add_rows
         : f->place != NULL    ? find_some
         : f->last >= 0        ? find_truths
                               : fold_some)(f, first, first + some);
        dtl_ease();
    }
    note_marks(f);
}

static void run_rows(folding *f, int most) {
    f->each = PIECE / f->columns + 1;
    Py_BEGIN_ALLOW_THREADS
    run_on_threads(threads_of(f, most), work_on_rows, f);
    Py_END_ALLOW_THREADS
}

/* marks_of_rows runs it, and returns what the processor has marked. */
static PyObject *marks_of_rows(folding *f, int most) {
    run_rows(f, most);
    return PyLong_FromLong(atomic_load(&f->raised));
}

/* are_known says whether no further row can change the truths that so many have become. */
static int are_known(const folding *f, const char *out, ptrdiff_t rows) {
    return f->last >= 0 && rows > 0 && rows % GLANCE == 0 && memchr(out, !f->last, (size_t)f->columns) == NULL;
}

/* fold_down folds rows of the results' type into one. */
static void fold_down(const folding *f, char *out, const char *from, ptrdiff_t rows) {
    const ptrdiff_t steps[] = {f->result, f->result, f->result}, row = f->columns * f->result;
    memcpy(out, from, (size_t)row);
    for (ptrdiff_t i = 1; i < rows && !are_known(f, out, i); i++) {
        char *arguments[] = {out, (char *)from + i * row, out};
        f->loop.call(arguments, &f->columns, steps, f->loop.data);
    }
}

/* fold_down_converted folds rows of another type into one. */
static void fold_down_converted(const folding *f, char *out, const char *from, ptrdiff_t rows) {
    _Alignas(64) char room[AT_ONCE * ELEMENT];
    const ptrdiff_t steps[] = {f->result, f->result, f->result}, converting[] = {f->size, f->result};
    for (ptrdiff_t i = 0; i < rows && !are_known(f, out, i); i++)
        for (ptrdiff_t at = 0; at < f->columns; at += AT_ONCE) {
            const ptrdiff_t some = f->columns - at < AT_ONCE ? f->columns - at : AT_ONCE;
            char *results = out + at * f->result, *both[] = {(char *)from + (i * f->columns + at) * f->size, i == 0 ? results : room};
            f->cast(both, &some, converting, NULL);
            char *arguments[] = {results, room, results};
            if (i > 0)
                f->loop.call(arguments, &some, steps, f->loop.data);
        }
}

/* add_down adds up rows. A row of zeros is first, where not the elements themselves are added. */
static void add_down(const folding *f, char *out, const char *from, ptrdiff_t rows) {
    const ptrdiff_t skipped = f->of == OF_ELEMENTS;
    if (!skipped)
        memset(out, 0, (size_t)(f->columns * f->result));
    else
        (f->cast == NULL ? fold_down : fold_down_converted)(f, out, from, 1);
    f->add_rows(out, from + skipped * f->columns * f->size, rows - skipped, f->columns, f->means);
}

static void work_on_columns(long long thread, void *context) {
    folding *f = context;
    feclearexcept(FE_ALL_EXCEPT);
    for (ptrdiff_t piece, first, some; take_rows(f, thread, &piece, &first, &some);) {
        (f->add_rows != NULL ? add_down : f->cast == NULL ? fold_down : fold_down_converted)(
            f, f->partial + piece * f->columns * f->result, f->from + first * f->columns * f->size, some);
        dtl_ease();
    }
    note_marks(f);
}

/* run_columns folds pieces of rows, and then what they give. */
static PyObject *run_columns(folding *f, int most) {
    const ptrdiff_t count = f->rows * f->columns;
    f->each = count < FEW ? f->rows : PIECE / f->columns;
    const ptrdiff_t wide = f->rows / (count < MANY ? 8 : 64) + 1;
    if (f->each < wide && count >= FEW)
        f->each = wide; /* few pieces, whose results take little memory */
    if (f->each < LEAST && f->each < f->rows)
        return PyLong_FromLong(-1);
    const ptrdiff_t pieces = pieces_of(f->rows, f->each);
    if ((f->partial = malloc((size_t)(pieces * f->columns * f->result))) == NULL)
        return PyErr_NoMemory();
    Py_BEGIN_ALLOW_THREADS
    run_on_threads(threads_of(f, most), work_on_columns, f);
    feclearexcept(FE_ALL_EXCEPT);
    fold_down(f, f->to, f->partial, pieces);
    note_marks(f);
    Py_END_ALLOW_THREADS
    free(f->partial);
    return PyLong_FromLong(atomic_load(&f->raised));
}

const char fold_rows_doc[] = PyDoc_STR(
"fold_rows($module, ufunc, out, values, start, threads, /)\n--\n\n"
"Write what a ufunc folds each row of a matrix to, combined with a number to start with, or None, on at most so many threads, 0\n"
"being all. The results may be of another type, to which the elements are converted. Returns what fold_columns returns.");

PyObject *bridge_fold_rows(PyObject *module, PyObject *args) {
    PyObject *ufunc, *out, *values, *start;
    folding f;
    int most;
    _Alignas(ELEMENT) char element[ELEMENT];
    if (!PyArg_ParseTuple(args, "OOOOi:fold_rows", &ufunc, &out, &values, &start, &most))
        return NULL;
    if (!take_matrix(values, out, 0, &f) || !take_loops(ufunc, &f))
        return PyLong_FromLong(-1);
    f.start = start == Py_None ? NULL : element;
    f.truths = f.made == NDARRAY_BOOL;
    f.add_line = f.start != NULL && numpy_is(ufunc, "add") ? adder_of_line(OF_ELEMENTS, f.number, f.made) : NULL;
    if (f.start == NULL ? f.cast != NULL : !numpy_number(start, f.made, element))
        return PyLong_FromLong(-1);
    f.adds = f.start != NULL && numpy_is(ufunc, "add") && f.number == NDARRAY_DOUBLE && f.made == NDARRAY_DOUBLE && *(double *)element == 0;
    if (f.number != NDARRAY_BOOL || f.start == NULL || *f.start == f.last)
        f.last = -1;
    return marks_of_rows(&f, most);
}

const char dot_rows_doc[] = PyDoc_STR(
"dot_rows($module, out, values, factors, threads, /)\n--\n\n"
"Write the sum of the products of each row of a matrix of float64 with the same row of another matrix, or with a vector, on at most so many\n"
"threads, 0 being all. Returns what fold_columns returns.");

PyObject *bridge_dot_rows(PyObject *module, PyObject *args) {
    PyObject *out, *values, *factors;
    folding f;
    int most;
    dtl_array other;
    int64_t shape[NDARRAY_MAX_DIMS];
    if (!PyArg_ParseTuple(args, "OOOi:dot_rows", &out, &values, &factors, &most))
        return NULL;
    if (!take_matrix(values, out, 0, &f) || f.number != NDARRAY_DOUBLE || f.made != NDARRAY_DOUBLE || Py_TYPE(factors) != ndarray_known ||
        ((const ndarray *)factors)->descr->type_num != NDARRAY_DOUBLE || !ndarray_take(factors, &other, shape, 0))
        return PyLong_FromLong(-1);
    const int dims = ((const ndarray *)factors)->nd, is_matrix = dims == 2 && shape[0] == f.rows && shape[1] == f.columns;
    if (!is_matrix && !(dims == 1 && shape[0] == f.columns))
        return PyLong_FromLong(-1);
    f.factors = (const double *)other.data;
    f.apart = is_matrix ? f.columns : 0;
    return marks_of_rows(&f, most);
}

const char find_in_rows_doc[] = PyDoc_STR(
"find_in_rows($module, greatest, out, values, threads, /)\n--\n\n"
"Write where the least, or the greatest, element of each row of a matrix is, on at most so many threads, 0 being all. Returns whether it\n"
"is done: there may be no function for such elements.");

PyObject *bridge_find_in_rows(PyObject *module, PyObject *args) {
    PyObject *out, *values;
    folding f;
    int most, greatest;
    if (!PyArg_ParseTuple(args, "pOOi:find_in_rows", &greatest, &out, &values, &most))
        return NULL;
    if (!take_matrix(values, out, 0, &f) || f.made != NDARRAY_LONG || (f.place = numpy_place_of(f.number, greatest)) == NULL)
        Py_RETURN_FALSE;
    f.greatest = greatest;
    run_rows(&f, most);
    Py_RETURN_TRUE;
}

const char fold_columns_doc[] = PyDoc_STR(
"fold_columns($module, ufunc, out, values, threads, /)\n--\n\n"
"Write what a ufunc folds the columns of a matrix to, on at most so many threads, 0 being all. The results may be of another type, to\n"
"which the elements are converted. Returns what the processor has marked, 1 of an overflow, 2 of an underflow and 4 of what is no number;\n"
"-1 if it is not done, since there is no loop for such arrays.");

PyObject *bridge_fold_columns(PyObject *module, PyObject *args) {
    PyObject *ufunc, *out, *values;
    folding f;
    int most;
    if (!PyArg_ParseTuple(args, "OOOi:fold_columns", &ufunc, &out, &values, &most))
        return NULL;
    if (!take_matrix(values, out, 1, &f) || !take_loops(ufunc, &f))
        return PyLong_FromLong(-1);
    f.add_rows = numpy_is(ufunc, "add")                              ? adder_of_rows(OF_ELEMENTS, f.number, f.made)
                 : f.number != NDARRAY_DOUBLE || f.made != f.number ? NULL
                 : numpy_is(ufunc, "maximum")                       ? dtl_greatest_in_columns
                 : numpy_is(ufunc, "minimum")                       ? dtl_least_in_columns
                                                                    : NULL;
    return run_columns(&f, most);
}

const char sum_lines_doc[] = PyDoc_STR(
"sum_lines($module, add, of, rows, out, values, means, threads, /)\n--\n\n"
"Write the sums of what is computed of the elements of each row of a matrix of floats, or of each column, as sums.h numbers it; add is\n"
"NumPy's ufunc. The means, or None, are of float64, one for each line. Returns what fold_columns returns.");

PyObject *bridge_sum_lines(PyObject *module, PyObject *args) {
    PyObject *add, *out, *values, *means;
    folding f;
    int most, of, rows;
    static const uint64_t zero;
    if (!PyArg_ParseTuple(args, "OipOOOi:sum_lines", &add, &of, &rows, &out, &values, &means, &most))
        return NULL;
    if (!take_matrix(values, out, !rows, &f) || !means_of(of, means, rows ? f.rows : f.columns, &f.means))
        return PyLong_FromLong(-1);
    if (rows) {
        if ((f.add_line = adder_of_line(of, f.number, f.made)) == NULL)
            return PyLong_FromLong(-1);
        f.start = (const char *)&zero;
        return marks_of_rows(&f, most);
    }
    f.of = of;
    f.add_rows = adder_of_rows(of, f.number, f.made);
    if (f.add_rows == NULL || !numpy_is(add, "add") || !take_loop(add, &f))
        return PyLong_FromLong(-1);
    return run_columns(&f, most);
}
