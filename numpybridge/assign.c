//go:build cpython

/*
 * Copies and conversions of arrays on the threads of this rank, in pieces. What a loop of casts.c has not, or what the processor marks as an
 * overflow or as invalid, is left to NumPy, which warns of it.
 */
#include "assign.h"
#include "casts.h"
#include "past_cache.h"
#include "threads.h"
#include <fenv.h>
#include <stdatomic.h>

/* Elements from FEW on are done in pieces; a tile is what a transposition does at once;
 * AHEAD is how far indices are read ahead. */
enum { PIECE = 1 << 17, FEW = 1 << 18, TILE = 32, AHEAD = 128 };

/* Rows of elements, in two arrays. */
typedef struct {
    char *out;
    const char *from;
    ptrdiff_t rows, columns, out_row, from_row, out_step, from_step;
    int size; /* of elements that are copied; 0: the loop converts them */
    dtl_loop loop;
    ptrdiff_t each; /* rows of a piece, or columns where there is one row */
    int is_large;   /* it is written past the caches */
    pieces taken;
    atomic_int marked;
} assignment;

#define TRANSPOSE(type, size)                                                                                                              \
    static void transpose##size(const assignment *a, ptrdiff_t first, ptrdiff_t end) {                                                    \
        for (ptrdiff_t row = first; row < end; row += TILE)                                                                                \
            for (ptrdiff_t column = 0; column < a->columns; column += TILE) {                                                             \
                const ptrdiff_t rows = row + TILE < end ? row + TILE : end;                                                               \
                const ptrdiff_t columns = column + TILE < a->columns ? column + TILE : a->columns;                                        \
                for (ptrdiff_t i = row; i < rows; i++) {                                                                                  \
                    type *out = (type *)(a->out + i * a->out_row);                                                                        \
                    const char *from = a->from + i * a->from_row;                                                                          \
                    for (ptrdiff_t j = column; j < columns; j++)                                                                          \
                        out[j] = *(const type *)(from + j * a->from_step);                                                                \
                }                                                                                                                          \
            }                                                                                                                              \
    }
TRANSPOSE(uint8_t, 1)
TRANSPOSE(uint16_t, 2)
TRANSPOSE(uint32_t, 4)
TRANSPOSE(uint64_t, 8)

/* copy copies bytes: many of files that have no room in memory by calls of the system, and those of large results past the caches. */
static void copy(char *out, const char *from, ptrdiff_t size, int is_large) {
    enum { MANY = 1 << 16 };
    const ptrdiff_t done = size >= MANY ? (ptrdiff_t)dtl_by_calls(out, (char *)from, size) : 0;
    ptrdiff_t at = done + (is_large ? bytes_to_line(out + done, size - done) : size - done);
    memcpy(out + done, from + done, (size_t)(at - done));
    for (; at + WRITTEN_AT_ONCE <= size; at += WRITTEN_AT_ONCE)
        write_past(out + at, from + at);
    memcpy(out + at, from + at, (size_t)(size - at));
    if (is_large)
        end_past();
}

/* rows_of does some rows. */
static void rows_of(const assignment *a, ptrdiff_t first, ptrdiff_t end) {
    if (a->size != 0 && a->out_step == a->size && a->from_step != a->size) {
        switch (a->size) {
        case 1: transpose1(a, first, end); return;
        case 2: transpose2(a, first, end); return;
        case 4: transpose4(a, first, end); return;
        default: transpose8(a, first, end); return;
        }
    }
    for (ptrdiff_t row = first; row < end; row++) {
        char *arguments[] = {(char *)a->from + row * a->from_row, a->out + row * a->out_row};
        const ptrdiff_t steps[] = {a->from_step, a->out_step};
        if (a->size != 0)
            copy(arguments[1], arguments[0], a->columns * a->size, a->is_large);
        else
            a->loop(arguments, &a->columns, steps, NULL);
    }
}

/* piece_of does a piece: some rows, or some columns of the only one. */
static void piece_of(const assignment *a, ptrdiff_t first) {
    if (a->rows > 1) {
        rows_of(a, first, first + a->each < a->rows ? first + a->each : a->rows);
        return;
    }
    assignment part = {.out = a->out + first * a->out_step, .from = a->from + first * a->from_step, .rows = 1, .size = a->size,
                       .columns = a->columns - first < a->each ? a->columns - first : a->each, .out_step = a->out_step,
                       .from_step = a->from_step, .loop = a->loop, .is_large = a->is_large};
    rows_of(&part, 0, 1);
}

/* work does pieces that nobody has done, until there is none. */
static void work(long long thread, void *context) {
    assignment *a = context;
    const ptrdiff_t all = pieces_of(a->rows > 1 ? a->rows : a->columns, a->each);
    feclearexcept(FE_ALL_EXCEPT);
    for (ptrdiff_t piece; take_piece(&a->taken, thread, all, &piece);) {
        piece_of(a, piece * a->each);
        dtl_ease();
    }
    if (a->size == 0 && fetestexcept(FE_OVERFLOW | FE_UNDERFLOW | FE_INVALID) != 0)
        atomic_store(&a->marked, 1);
}

/* is_known says whether an array has elements of a known type as the processor has them. */
static int is_known(PyObject *value) {
    const ndarray *a = (const ndarray *)value;
    return ndarray_known != NULL && Py_TYPE(value) == ndarray_known && (a->flags & NDARRAY_ALIGNED) != 0 &&
           (a->descr->byteorder == '=' || a->descr->byteorder == '|') && (unsigned)a->descr->type_num < NDARRAY_TYPES &&
           array_types[a->descr->type_num].number != 0;
}

/* overlap says whether the bytes that two arrays reach over overlap. */
static int overlap(const ndarray *a, const ndarray *b) {
    const char *first[2], *last[2];
    const ndarray *both[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        first[i] = last[i] = both[i]->data;
        for (int d = 0; d < both[i]->nd; d++) {
            const ptrdiff_t reach = (both[i]->dimensions[d] - 1) * both[i]->strides[d];
            *(reach < 0 ? &first[i] : &last[i]) += reach;
        }
        last[i] += array_types[both[i]->descr->type_num].size;
    }
    return first[0] < last[1] && first[1] < last[0];
}

/* as_rows describes arrays of one shape as rows of elements that lie alike. It returns 0 where they are no such rows. */
static int as_rows(assignment *a, const ndarray *out, const ndarray *from) {
    ptrdiff_t extents[NDARRAY_MAX_DIMS], to[NDARRAY_MAX_DIMS], of[NDARRAY_MAX_DIMS];
    int dims = 0;
    if (out->nd != from->nd || out->nd > NDARRAY_MAX_DIMS)
        return 0;
    for (int d = 0; d < out->nd; d++) {
        if (out->dimensions[d] != from->dimensions[d] || out->dimensions[d] == 0)
            return 0;
        if (out->dimensions[d] == 1)
            continue;
        if (dims > 0 && to[dims - 1] == out->dimensions[d] * out->strides[d] && of[dims - 1] == from->dimensions[d] * from->strides[d])
            dims--; /* the dimension before goes on in this one */
        else
            extents[dims] = 1;
        extents[dims] *= out->dimensions[d];
        to[dims] = out->strides[d];
        of[dims++] = from->strides[d];
    }
    if (dims == 0 || dims > 2)
        return 0;
    a->out = out->data;
    a->from = from->data;
    a->rows = dims == 2 ? extents[0] : 1;
    a->columns = extents[dims - 1];
    a->out_row = to[0];
    a->from_row = of[0];
    a->out_step = to[dims - 1];
    a->from_step = of[dims - 1];
    return 1;
}

/* choose_loop says how elements become those of the other array. It returns 0 where NumPy does it better, or alone. */
static int choose_loop(assignment *a, int from, int to) {
    const int size = array_types[to].size;
    a->size = 0;
    if (from == to && a->out_step == size && (a->from_step == size || (a->rows > 1 && a->from_row == size && size <= 8))) {
        a->size = size;
        return 1;
    }
    a->loop = cast_loop(from, to);
    return a->loop != NULL && (a->rows == 1 || (a->columns >= TILE && a->out_step == size));
}

const char copy_elements_doc[] = PyDoc_STR(
"copy_elements($module, out, values, threads, /)\n--\n\n"
"Write the values of an array to another one of its shape on at most so many threads, 0 being all, and say whether that is done.\n"
"It is not where another way is better; and not, or not well, where a number does not fit: NumPy then does all again.");

PyObject *bridge_copy_elements(PyObject *module, PyObject *args) {
    PyObject *out, *values;
    int most;
    if (!PyArg_ParseTuple(args, "OOi:copy_elements", &out, &values, &most))
        return NULL;
    const ndarray *to = (const ndarray *)out, *from = (const ndarray *)values;
    assignment a = {.size = 0};
    if (!is_known(out) || !is_known(values) || (to->flags & NDARRAY_WRITEABLE) == 0 || !as_rows(&a, to, from) ||
        !choose_loop(&a, from->descr->type_num, to->descr->type_num) || overlap(to, from))
        Py_RETURN_FALSE;
    const ptrdiff_t count = a.rows * a.columns;
    a.each = a.rows == 1 ? PIECE : a.columns >= PIECE ? 1 : (PIECE / a.columns + TILE - 1) / TILE * TILE;
    const int size = array_types[to->descr->type_num].size, from_size = array_types[from->descr->type_num].size;
    a.is_large = count * size >= LARGE_RESULT && a.columns * size >= 4 * WRITTEN_AT_ONCE;
    if (a.size == 0 && a.is_large && a.out_step == size && a.from_step == from_size)
        a.loop = large_cast_loop(from->descr->type_num, to->descr->type_num);
    const int threads = count < FEW ? 1 : threads_at_most(most);
    Py_BEGIN_ALLOW_THREADS
    run_on_threads(threads, work, &a);
    Py_END_ALLOW_THREADS
    return PyBool_FromLong(atomic_load(&a.marked) == 0);
}

/* ---- Elements at indices ---- */

typedef struct {
    char *out;
    const char *from;
    const int64_t *indices;
    ptrdiff_t n, extent, size;
    atomic_llong next;
    atomic_int outside;
} taking;

/* takeN reads ahead: where the next elements are, only their indices say. */
#define TAKE(type, size)                                                                                                                   \
    static int take##size(const taking *t, ptrdiff_t first, ptrdiff_t end) {                                                              \
        type *restrict out = (type *)t->out;                                                                                               \
        const type *restrict from = (const type *)t->from;                                                                                 \
        const int64_t *restrict indices = t->indices, extent = t->extent;                                                                  \
        const ptrdiff_t n = t->n;                                                                                                          \
        for (ptrdiff_t i = first; i < end; i++) {                                                                                          \
            if (i + AHEAD < n)                                                                                                             \
                __builtin_prefetch(from + (indices[i + AHEAD] + (indices[i + AHEAD] >> 63 & extent)), 0, 2);                                 \
            int64_t at = indices[i] + (indices[i] >> 63 & extent);                                                                         \
            if ((uint64_t)at >= (uint64_t)extent)                                                                                          \
                return 1;                                                                                                                  \
            out[i] = from[at];                                                                                                             \
        }                                                                                                                                  \
        return 0;                                                                                                               \
    }
TAKE(uint8_t, 1)
TAKE(uint16_t, 2)
TAKE(uint32_t, 4)
TAKE(uint64_t, 8)

static void take_pieces(long long thread, void *context) {
    enum { SOME = 1 << 15 };
    taking *t = context;
    int outside = 0;
    (void)thread;
    for (ptrdiff_t first; (first = (ptrdiff_t)atomic_fetch_add(&t->next, 1) * SOME) < t->n;) {
        ptrdiff_t end = t->n - first < SOME ? t->n : first + SOME;
        switch (t->size) {
        case 1: outside |= take1(t, first, end); break;
        case 2: outside |= take2(t, first, end); break;
        case 4: outside |= take4(t, first, end); break;
        default: outside |= take8(t, first, end); break;
        }
        dtl_ease();
    }
    if (outside)
        atomic_store(&t->outside, 1);
}

const char take_elements_doc[] = PyDoc_STR(
"take_elements($module, out, values, indices, threads, /)\n--\n\n"
"Write the values at indices of int64, of which negative ones count from the end, to an array on at most so many threads, 0 being\n"
"all, and say whether that is done: it is not where an index is outside, or for elements that have no loop.");

PyObject *bridge_take_elements(PyObject *module, PyObject *args) {
    PyObject *given[3];
    int most;
    if (!PyArg_ParseTuple(args, "OOOi:take_elements", &given[0], &given[1], &given[2], &most))
        return NULL;
    const ndarray *a[3];
    for (int i = 0; i < 3; i++) {
        a[i] = (const ndarray *)given[i];
        if (!is_known(given[i]) || a[i]->nd != 1 || (a[i]->flags & NDARRAY_C_CONTIGUOUS) == 0)
            Py_RETURN_FALSE;
    }
    const int type = a[0]->descr->type_num, size = array_types[type].size;
    const array_type *index = &array_types[a[2]->descr->type_num];
    if (type != a[1]->descr->type_num || size > 8 || strchr("lq", index->format[0]) == NULL || index->size != 8 ||
        (a[0]->flags & NDARRAY_WRITEABLE) == 0 || a[0]->dimensions[0] != a[2]->dimensions[0] || a[1]->dimensions[0] == 0 ||
        overlap(a[0], a[1]) || overlap(a[0], a[2]))
        Py_RETURN_FALSE;
    taking t = {.out = a[0]->data, .from = a[1]->data, .indices = (const int64_t *)a[2]->data, .n = a[0]->dimensions[0],
                .extent = a[1]->dimensions[0], .size = size};
    const int threads = t.n < PIECE ? 1 : threads_at_most(most);
    Py_BEGIN_ALLOW_THREADS
    run_on_threads(threads, take_pieces, &t);
    Py_END_ALLOW_THREADS
    return PyBool_FromLong(atomic_load(&t.outside) == 0);
}
