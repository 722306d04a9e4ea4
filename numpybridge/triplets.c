//go:build cpython

/* Triplets of sparse matrices. The loops do not hold the interpreter's lock, so that threads take parts of the same ones. */
#include "../core/kernel/sparse/triplets.h"
#include "borrowed.h"
#include "triplets.h"

/* take_blocks reads how blocks are passed: where the ranks' rows begin, and where the last end; the owner of the first row of each
 * block; how many columns there are; and by how many bits the number of a row is longer than that of its block. */
static int take_blocks(borrowed *b, PyObject *of, dtl_blocks *by) {
    PyObject *begins, *owners;
    long long columns;
    if (!PyArg_ParseTuple(of, "OOLi:blocks", &begins, &owners, &columns, &by->shift))
        return 0;
    by->begins = borrow(b, begins, 0, 16, "begins");
    by->owners = by->begins == NULL ? NULL : borrow(b, owners, 0, 0, "owners");
    if (by->owners == NULL)
        return 0;
    by->rows = by->begins[b->views[b->count - 2].len / 8 - 1];
    by->columns = columns;
    return 1;
}

const char count_triplets_doc[] = PyDoc_STR(
"count_triplets($module, blocks, rows, columns, size, first, end, counts, /)\n--\n\n"
"Add the triplets of each block from the first one to the end to counts. Rows and columns have size bytes, 4 or 8.\n"
"Returns the number of a triplet that is outside the matrix, and then counts mean nothing; -1 if none is.");

PyObject *bridge_count_triplets(PyObject *module, PyObject *args) {
    PyObject *blocks, *rows, *columns, *counts, *answer = NULL;
    int size;
    long long first, end;
    if (!PyArg_ParseTuple(args, "O!OOiLLO:count_triplets", &PyTuple_Type, &blocks, &rows, &columns, &size, &first, &end, &counts))
        return NULL;
    borrowed b = {.count = 0};
    dtl_blocks by;
    const char *row = take_blocks(&b, blocks, &by) ? borrow(&b, rows, 0, end * size, "rows") : NULL;
    const char *column = row == NULL ? NULL : borrow(&b, columns, 0, end * size, "columns");
    int64_t *found = column == NULL ? NULL : borrow(&b, counts, 1, 0, "counts");
    if (found != NULL) {
        int64_t n = end - first, wrong;
        row += first * size;
        column += first * size;
        Py_BEGIN_ALLOW_THREADS
        wrong = size == 4 ? dtl_count_int32_t(&by, (const void *)row, (const void *)column, n, found)
                          : dtl_count_int64_t(&by, (const void *)row, (const void *)column, n, found);
        Py_END_ALLOW_THREADS
        answer = PyLong_FromLongLong(wrong == n ? -1 : first + wrong);
    }
    release(&b);
    return answer;
}

/* WRITTEN writes triplets with values of one type. */
#define WRITTEN(value)                                                                                                 \
    if (width == (int)sizeof(value) && size == 4)                                                                      \
        dtl_write_int32_t_##value(&by, (const void *)row, (const void *)column, (const void *)from, n, at, key, to);   \
    if (width == (int)sizeof(value) && size == 8)                                                                      \
        dtl_write_int64_t_##value(&by, (const void *)row, (const void *)column, (const void *)from, n, at, key, to);

const char write_triplets_doc[] = PyDoc_STR(
"write_triplets($module, blocks, rows, columns, size, values, width, first, end, places, keys, out, /)\n--\n\n"
"Write triplets from the first one to the end, which count_triplets has counted, to keys, of 8 bytes, and out. places, of\n"
"int64, say where those of each block begin, and are where they end afterwards. Values have width bytes, a power of 2 up to 16.");

PyObject *bridge_write_triplets(PyObject *module, PyObject *args) {
    PyObject *blocks, *rows, *columns, *values, *places, *keys, *out, *answer = NULL;
    int size, width;
    long long first, end;
    if (!PyArg_ParseTuple(args, "O!OOiOiLLOOO:write_triplets", &PyTuple_Type, &blocks, &rows, &columns, &size, &values, &width, &first,
                          &end, &places, &keys, &out))
        return NULL;
    borrowed b = {.count = 0};
    dtl_blocks by;
    const char *row = take_blocks(&b, blocks, &by) ? borrow(&b, rows, 0, end * size, "rows") : NULL;
    const char *column = row == NULL ? NULL : borrow(&b, columns, 0, end * size, "columns");
    const char *from = column == NULL ? NULL : borrow(&b, values, 0, end * width, "values");
    int64_t *at = from == NULL ? NULL : borrow(&b, places, 1, 0, "places");
    uint64_t *key = at == NULL ? NULL : borrow(&b, keys, 1, end * 8, "keys");
    void *to = key == NULL ? NULL : borrow(&b, out, 1, end * width, "out");
    if (to != NULL) {
        int64_t n = end - first;
        row += first * size;
        column += first * size;
        from += first * width;
        Py_BEGIN_ALLOW_THREADS
        WRITTEN(uint8_t)
        WRITTEN(uint16_t)
        WRITTEN(uint32_t)
        WRITTEN(uint64_t)
        WRITTEN(dtl_wide)
        Py_END_ALLOW_THREADS
        answer = Py_NewRef(Py_None);
    }
    release(&b);
    return answer;
}

/* What sort_triplets is given: the blocks of one rank, and what came of each rank for them. */
typedef struct {
    const int64_t *counts; /* of each rank, how many triplets came for each block */
    const uint64_t *keys;
    const char *values;
    int64_t *ends;
    int32_t *columns;
    char *out;
    long long ranks, blocks, first, rows;
    int shift, width;
} triplets;

/* rows_upto returns how many of the rank's rows are before a block. */
static int64_t rows_upto(const triplets *t, int64_t block) {
    int64_t row = ((t->first >> t->shift) + block) << t->shift;
    row = row < t->first ? t->first : row;
    return row < t->first + t->rows ? row - t->first : t->rows;
}

/* before returns how many triplets came for blocks before one, and writes where those of each rank begin for it. */
static int64_t before(const triplets *t, int64_t block, int64_t *starts) {
    int64_t total = 0, came = 0;
    for (int64_t rank = 0; rank < t->ranks; rank++) {
        starts[rank] = came;
        for (int64_t i = 0; i < t->blocks; i++) {
            int64_t n = t->counts[rank * t->blocks + i];
            came += n;
            if (i < block) {
                starts[rank] += n;
                total += n;
            }
        }
    }
    return total;
}

static int64_t count_of(const triplets *t, int64_t block, int64_t *counts) {
    int64_t n = 0;
    for (int64_t rank = 0; rank < t->ranks; rank++)
        n += counts[rank] = t->counts[rank * t->blocks + block];
    return n;
}

#define SORTED(value)                                                                                                  \
    if (t->width == (int)sizeof(value))                                                                                \
        return dtl_sort_##value(b, t->keys, (const void *)t->values, ends, columns, (void *)out);

static int64_t sort_block(const triplets *t, const dtl_block *b, int64_t *ends, int32_t *columns, char *out) {
    SORTED(uint8_t)
    SORTED(uint16_t)
    SORTED(uint32_t)
    SORTED(uint64_t)
    SORTED(dtl_wide)
    return 0;
}

/* sort_blocks sorts blocks up to an end. It returns how many triplets are of the place of the one before; -1 if there is no memory. */
static int64_t sort_blocks(const triplets *t, int64_t block, int64_t end) {
    int64_t *numbers = malloc(2 * (size_t)(t->ranks + 1) * sizeof *numbers), *starts = numbers, most = 0, same = 0;
    if (numbers == NULL)
        return -1;
    int64_t *counts = numbers + t->ranks;
    for (int64_t i = block; i < end; i++) {
        int64_t n = count_of(t, i, counts);
        most = n > most ? n : most;
    }
    dtl_block b = {.pieces = t->ranks, .counts = counts, .starts = starts};
    b.order = (uint64_t)most >> DTL_TRIPLET ? NULL : malloc((size_t)most * (16 + (size_t)t->width) + 1);
    if (b.order == NULL) {
        free(numbers);
        return -1;
    }
    b.spare = b.order + most;
    b.room = b.spare + most;
    int64_t total = before(t, block, starts);
    for (; block < end; block++) {
        int64_t n = count_of(t, block, counts), row = rows_upto(t, block);
        int64_t *ends = t->ends + row;
        b.rows = rows_upto(t, block + 1) - row;
        b.low = (t->first + row) & (((int64_t)1 << t->shift) - 1);
        same += sort_block(t, &b, ends, t->columns + total, t->out + total * t->width);
        for (int64_t i = 0; i < b.rows; i++)
            ends[i] += total;
        for (int64_t rank = 0; rank < t->ranks; rank++)
            starts[rank] += counts[rank];
        total += n;
    }
    free(b.order);
    free(numbers);
    return same;
}

const char sort_triplets_doc[] = PyDoc_STR(
"sort_triplets($module, division, counts, keys, values, width, ends, columns, out, block, end, /)\n--\n\n"
"Sort what write_triplets has written on each rank for the rows of one by rows and columns, from a block to an end.\n\n"
"division is the number of ranks, of blocks of this rank, its first row, how many it has, and by how many bits the number\n"
"of a row is longer than that of its block. counts, of int64, say how many triplets came of each rank for each block. Writes\n"
"where each row ends to ends, of int64, columns as int32, and values to out, which have width bytes. Returns how many are of\n"
"the place of the one before.");

PyObject *bridge_sort_triplets(PyObject *module, PyObject *args) {
    PyObject *division, *counts, *keys, *values, *ends, *columns, *out, *answer = NULL;
    long long block, end;
    triplets t;
    if (!PyArg_ParseTuple(args, "O!OOOiOOOLL:sort_triplets", &PyTuple_Type, &division, &counts, &keys, &values, &t.width, &ends, &columns,
                          &out, &block, &end) ||
        !PyArg_ParseTuple(division, "LLLLi:division", &t.ranks, &t.blocks, &t.first, &t.rows, &t.shift))
        return NULL;
    borrowed b = {.count = 0};
    t.counts = borrow(&b, counts, 0, 8 * t.ranks * t.blocks, "counts");
    t.keys = t.counts == NULL ? NULL : borrow(&b, keys, 0, 0, "keys");
    t.values = t.keys == NULL ? NULL : borrow(&b, values, 0, 0, "values");
    t.ends = t.values == NULL ? NULL : borrow(&b, ends, 1, 8 * t.rows, "ends");
    t.columns = t.ends == NULL ? NULL : borrow(&b, columns, 1, 0, "columns");
    t.out = t.columns == NULL ? NULL : borrow(&b, out, 1, 0, "out");
    if (t.out != NULL) {
        int64_t same;
        Py_BEGIN_ALLOW_THREADS
        same = sort_blocks(&t, block, end);
        Py_END_ALLOW_THREADS
        answer = same < 0 ? PyErr_NoMemory() : PyLong_FromLongLong(same);
    }
    release(&b);
    return answer;
}
