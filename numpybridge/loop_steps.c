//go:build cpython

/*
 * Expressions whose ufuncs' loops are called one by one, without the interpreter's lock, on the threads of this rank.
 *
 * A loop of NumPy needs no lock unless its elements are objects. NumPy itself calls it with arrays that lie side by side as a whole, and
 * so a block at a time gives the same elements. A piece of the rows is one thread's. Pieces do not depend on how many threads there
 * are: so neither do the results.
 */
#include "loop_steps.h"
#include "casts.h"
#include "numpy.h"
#include "numpy_loops.h"
#include "past_cache.h"
#include "threads.h"
#include <fenv.h>
#include <stdatomic.h>

enum { PIECE = 1 << 17, NUMBER = 16, PARTIAL = 4 };

/* How many operands of a step are converted at most, and how many elements at once: they stay in the fastest cache. */
enum { MOST_CASTS = 3, CONVERTED = 1 << 10, WIDEST = 16 };

/* A step: a ufunc's loop, and where its operands are: arrays, or numbers where there is none. */
typedef struct {
    numpy_loop loop;
    int count;
    int arrays[MOST_OPERANDS]; /* less than 0: the number */
    char numbers[MOST_OPERANDS][NUMBER];
    int casts;                     /* how many operands are converted */
    dtl_loop cast[MOST_OPERANDS]; /* NULL: this one is not */
} loop_step;

typedef struct {
    const char *data;
    ptrdiff_t stride;
    int type, size, buffer; /* its number among those of a block */
    char how;
} loop_array;

typedef struct {
    Py_ssize_t arrays, steps, rows, block, piece, pieces;
    int in_blocks, tiled;
    loop_array array[MOST_ARRAYS];
    loop_step step[MOST_STEPS];
    const block_fold *fold;
    int64_t (*partials)[PARTIAL];
    char *buffers; /* of each thread */
    size_t buffer_bytes;
    pieces taken;
    atomic_uchar faults[MOST_STEPS];
} loop_plan;

/* The buffers of the threads, which expressions use one after the other. */
static struct {
    char *room;
    size_t bytes;
} kept;

/* take_array describes an array of one dimension whose elements a loop takes as they are, and says whether it is one. */
static int take_array(PyObject *value, char how, loop_array *a) {
    const ndarray *n = (const ndarray *)value;
    if (ndarray_known == NULL || Py_TYPE(value) != ndarray_known || n->nd != 1 || !(n->flags & NDARRAY_ALIGNED) ||
        (n->descr->byteorder != '=' && n->descr->byteorder != '|'))
        return 0;
    unsigned type = (unsigned)n->descr->type_num;
    if (type >= NDARRAY_TYPES || array_types[type].number == 0)
        return 0;
    *a = (loop_array){n->data, n->strides[0], (int)type, array_types[type].size, 0, how};
    return 1;
}

/* overlaps says whether two arrays share memory in another way than element by element. */
static int overlaps(const loop_array *a, const loop_array *b, Py_ssize_t rows) {
    if (a->data == b->data && a->stride == b->stride && a->size == b->size)
        return 0;
    const char *first[2], *last[2];
    const loop_array *both[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        const char *end = both[i]->data + (rows - 1) * both[i]->stride;
        first[i] = end < both[i]->data ? end : both[i]->data;
        last[i] = (end < both[i]->data ? both[i]->data : end) + both[i]->size;
    }
    return first[0] < last[1] && first[1] < last[0];
}

/* plan_arrays describes the arrays of a run. Those that are neither of all rows nor of a block are numbers. */
static int plan_arrays(loop_plan *plan, PyObject *arrays, const char *how) {
    plan->arrays = PyTuple_GET_SIZE(arrays);
    plan->in_blocks = plan->tiled = 0;
    for (Py_ssize_t i = 0; i < plan->arrays; i++) {
        PyObject *value = PyTuple_GET_ITEM(arrays, i);
        plan->array[i].how = 'c';
        if (how[i] == 'c' && Py_TYPE(value) == ndarray_known)
            return 0; /* that NumPy spreads */
        if (how[i] != 'c' && !take_array(value, how[i], &plan->array[i]))
            return 0;
        if (how[i] == 'b' && plan->array[i].stride != plan->array[i].size)
            return 0;
        plan->array[i].buffer = how[i] == 'b' ? plan->in_blocks++ : 0;
        plan->tiled |= how[i] == 't';
    }
    return 1;
}

/* address returns where the elements of an array from a row on are. */
static char *address(const loop_plan *plan, const loop_array *a, char *buffers, Py_ssize_t from) {
    if (a->how == 'b')
        return buffers + (size_t)a->buffer * plan->buffer_bytes;
    return (char *)a->data + (a->how == 't' ? 0 : from * a->stride);
}

/* numbers_fit writes the numbers of a step, and says whether the types of its loop have them. */
static int numbers_fit(loop_step *step, PyObject *const *values) {
    for (int i = 0; i < step->count; i++)
        if (step->arrays[i] < 0 && !numpy_number(values[i], step->loop.types[i], step->numbers[i]))
            return 0;
    return 1;
}

/* compares_integers says whether a step has arrays of integers, and makes truths of them: NumPy compares those with a float as floats. */
static int compares_integers(const int *types, int count) {
    for (int i = 0; i < count - 1; i++)
        if (types[i] >= 0 && strchr("bBhHiIlLqQ", array_types[types[i]].format[0]) == NULL)
            return 0;
    return types[count - 1] == NDARRAY_BOOL;
}

/* plan_step finds the loop of a step. */
static int plan_step(loop_plan *plan, PyObject *of, PyObject *arrays, loop_step *step) {
    int types[MOST_OPERANDS], numbers = 0;
    PyObject *values[MOST_OPERANDS];
    step->count = (int)PyTuple_GET_SIZE(of) - 1;
    for (int i = 0; i < step->count; i++) {
        Py_ssize_t at = PyLong_AsSsize_t(PyTuple_GET_ITEM(of, i + 1));
        if (at < 0 || at >= plan->arrays)
            return 0;
        int is_number = plan->array[at].how == 'c';
        if (is_number && i == step->count - 1)
            return 0;
        numbers += is_number;
        values[i] = PyTuple_GET_ITEM(arrays, at);
        types[i] = is_number ? -1 : plan->array[at].type;
        step->arrays[i] = is_number ? -1 : (int)at;
    }
    PyObject *ufunc = PyTuple_GET_ITEM(of, 0);
    const int exact = numpy_loop_of(ufunc, step->count, types, &step->loop), fits = exact && numbers_fit(step, values);
    if (!fits && ((exact && !compares_integers(types, step->count)) || !numpy_loop_near(ufunc, step->count, types, &step->loop) ||
                  !numbers_fit(step, values)))
        return 0;
    step->casts = 0;
    for (int i = 0; i < step->count; i++) {
        step->cast[i] = types[i] < 0 || types[i] == step->loop.types[i] ? NULL : cast_loop(types[i], step->loop.types[i]);
        step->casts += step->cast[i] != NULL;
    }
    if (step->casts > MOST_CASTS)
        return 0;
    const loop_array *to = &plan->array[step->arrays[step->count - 1]];
    for (Py_ssize_t i = 0; to->how == 'r' && i < plan->arrays; i++)
        if (plan->array[i].how == 'r' && overlaps(to, &plan->array[i], plan->rows))
            return 0;
    return 1;
}

/* uses says whether a step takes an array as an operand, or writes to it. */
static int uses(const loop_plan *plan, const loop_step *step, const loop_array *a) {
    for (int i = 0; i < step->count; i++)
        if (step->arrays[i] >= 0 && plan->array[step->arrays[i]].data == a->data && plan->array[step->arrays[i]].how == a->how)
            return 1;
    return 0;
}

/* plan_large_results has steps write large results past the caches that no step reads. */
static void plan_large_results(loop_plan *plan, PyObject *steps) {
    for (Py_ssize_t s = 0; s < plan->steps; s++) {
        loop_step *step = &plan->step[s];
        const int last = step->count - 1;
        const loop_array *to = &plan->array[step->arrays[last]];
        int fits = to->how == 'r' && plan->rows * to->size >= LARGE_RESULT && to->stride == to->size && step->casts == 0;
        unsigned arrays = 0;
        for (int i = 0; fits && i < last; i++) {
            const loop_array *a = step->arrays[i] < 0 ? NULL : &plan->array[step->arrays[i]];
            arrays |= a == NULL ? 0 : 1u << i;
            fits = step->loop.types[i] == step->loop.types[last] && (a == NULL || (a->stride == a->size && a->data != to->data));
        }
        for (Py_ssize_t k = 0; fits && k < plan->steps; k++)
            fits = k == s || !uses(plan, &plan->step[k], to);
        dtl_loop loop = fits ? numpy_large_loop(PyTuple_GET_ITEM(PyTuple_GET_ITEM(steps, s), 0), step->loop.types[last], arrays) : NULL;
        if (loop != NULL)
            step->loop.call = loop;
    }
}

/* convert_some converts operands of n elements of a step, which then lie in room, and changes their addresses and strides. */
static void convert_some(const loop_step *step, char **arguments, ptrdiff_t *strides, ptrdiff_t n, char (*room)[CONVERTED * WIDEST]) {
    for (int i = 0, cast = 0; i < step->count; i++) {
        if (step->cast[i] == NULL)
            continue;
        char *both[] = {arguments[i], room[cast++]};
        const ptrdiff_t steps[] = {strides[i], array_types[step->loop.types[i]].size};
        step->cast[i](both, &n, steps, NULL);
        arguments[i] = both[1];
        strides[i] = steps[1];
    }
}

/* run_converted does a step with n elements, some of whose operands are converted first, and returns the marks of its loop. */
static int run_converted(const loop_step *step, char *const *arguments, const ptrdiff_t *strides, ptrdiff_t n) {
    _Alignas(64) char room[MOST_CASTS][CONVERTED * WIDEST];
    int raised = 0;
    for (ptrdiff_t from = 0; from < n; from += CONVERTED) {
        char *some[MOST_OPERANDS];
        ptrdiff_t each[MOST_OPERANDS];
        const ptrdiff_t count = n - from < CONVERTED ? n - from : CONVERTED;
        for (int i = 0; i < step->count; i++) {
            some[i] = arguments[i] + from * strides[i];
            each[i] = strides[i];
        }
        convert_some(step, some, each, count, room);
        feclearexcept(FE_ALL_EXCEPT);
        step->loop.call(some, &count, each, step->loop.data);
        raised |= fetestexcept(FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INVALID);
    }
    return raised;
}

/* run_block does all steps with the rows from from to to. */
static void run_block(loop_plan *plan, char *buffers, Py_ssize_t from, Py_ssize_t to) {
    static const unsigned char BITS[] = {1, 2, 4, 8};
    static const int FLAGS[] = {FE_DIVBYZERO, FE_OVERFLOW, FE_UNDERFLOW, FE_INVALID};
    const ptrdiff_t n = to - from;
    for (Py_ssize_t s = 0; s < plan->steps; s++) {
        const loop_step *step = &plan->step[s];
        char *arguments[MOST_OPERANDS];
        ptrdiff_t strides[MOST_OPERANDS];
        for (int i = 0; i < step->count; i++) {
            if (step->arrays[i] < 0) {
                arguments[i] = (char *)step->numbers[i];
                strides[i] = 0;
                continue;
            }
            const loop_array *a = &plan->array[step->arrays[i]];
            arguments[i] = address(plan, a, buffers, from);
            strides[i] = a->stride;
        }
        int raised;
        if (step->casts > 0)
            raised = run_converted(step, arguments, strides, n);
        else {
            feclearexcept(FE_ALL_EXCEPT);
            step->loop.call(arguments, &n, strides, step->loop.data);
            raised = fetestexcept(FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INVALID);
        }
        for (int i = 0; raised != 0 && i < 4; i++)
            if (raised & FLAGS[i])
                atomic_fetch_or(&plan->faults[s], BITS[i]);
    }
}

/* run_piece does all steps with the rows of a piece, a block after the other, and folds what they make. */
static void run_piece(loop_plan *plan, char *buffers, Py_ssize_t piece) {
    Py_ssize_t first = piece * plan->piece, end = plan->rows - first < plan->piece ? plan->rows : first + plan->piece;
    for (Py_ssize_t from = first; from < end; from += plan->block) {
        Py_ssize_t to = end - from < plan->block ? end : from + plan->block;
        run_block(plan, buffers, from, to);
        if (plan->partials != NULL) {
            const loop_array *a = &plan->array[plan->fold->array];
            dtl_fold_piece(plan->fold->kind, array_types[a->type].number, address(plan, a, buffers, from), to - from, from,
                           plan->partials[piece]);
        }
    }
}

/* work is what each thread does: pieces that nobody has, until there is none. */
static void work(long long thread, void *context) {
    loop_plan *plan = context;
    char *buffers = plan->buffers + (size_t)thread * (size_t)plan->in_blocks * plan->buffer_bytes;
    for (ptrdiff_t piece; take_piece(&plan->taken, thread, plan->pieces, &piece);) {
        run_piece(plan, buffers, piece);
        dtl_ease();
    }
}

/* reserve_buffers has every thread have a buffer for each array. */
static int reserve_buffers(loop_plan *plan, int threads) {
    int widest = 1;
    for (Py_ssize_t i = 0; i < plan->arrays; i++)
        if (plan->array[i].how == 'b' && plan->array[i].size > widest)
            widest = plan->array[i].size;
    plan->buffer_bytes = ((size_t)plan->block * (size_t)widest + 63) & ~(size_t)63;
    size_t bytes = (size_t)threads * (size_t)plan->in_blocks * plan->buffer_bytes;
    if (bytes > kept.bytes) {
        free(kept.room);
        kept.bytes = 0;
        if (posix_memalign((void **)&kept.room, 64, bytes) != 0) {
            kept.room = NULL;
            return 0;
        }
        kept.bytes = bytes;
    }
    plan->buffers = kept.room;
    return 1;
}

/* divide chooses pieces and blocks. What is folded is divided as algorithm.FoldRun does it; a block begins where what is written out for
 * one begins. */
static void divide(loop_plan *plan, Py_ssize_t block) {
    plan->piece = plan->rows < 2 * PIECE ? plan->rows : PIECE;
    if (plan->tiled && plan->piece == PIECE)
        plan->piece = block < PIECE ? PIECE / block * block : block;
    plan->block = plan->fold->kind >= 0 || (plan->piece < block && !plan->tiled) ? plan->piece : block;
    plan->pieces = (plan->rows + plan->piece - 1) / plan->piece;
}

int loop_steps_run(PyObject *arrays, const char *how, PyObject *steps, Py_ssize_t rows, Py_ssize_t block, int threads,
                   const block_fold *fold, unsigned char *faults) {
    static loop_plan plan; /* of whoever has the lock of expressions */
    plan.rows = rows;
    plan.steps = PyTuple_GET_SIZE(steps);
    plan.fold = fold;
    plan.partials = NULL;
    if (!plan_arrays(&plan, arrays, how) || (plan.tiled && fold->kind >= 0))
        return 0;
    if (fold->kind >= 0 && !dtl_can_fold(fold->kind, array_types[plan.array[fold->array].type].number))
        return 0;
    divide(&plan, block);
    for (Py_ssize_t s = 0; s < plan.steps; s++)
        if (!plan_step(&plan, PyTuple_GET_ITEM(steps, s), arrays, &plan.step[s]))
            return 0;
    plan_large_results(&plan, steps);
    threads = threads_at_most(threads);
    threads = plan.pieces < threads ? (int)plan.pieces : threads;
    if (!reserve_buffers(&plan, threads))
        return 0;
    if (fold->kind >= 0 && (plan.partials = calloc((size_t)plan.pieces, sizeof *plan.partials)) == NULL)
        return 0;
    atomic_store(&plan.taken, 0);
    for (Py_ssize_t s = 0; s < plan.steps; s++)
        atomic_store(&plan.faults[s], faults[s]);
    Py_BEGIN_ALLOW_THREADS
    run_on_threads(threads, work, &plan);
    if (plan.partials != NULL)
        dtl_fold_merge(fold->kind, array_types[plan.array[fold->array].type].number, plan.pieces, plan.partials);
    Py_END_ALLOW_THREADS
    if (plan.partials != NULL)
        memcpy(fold->words, plan.partials[0], sizeof plan.partials[0]);
    free(plan.partials);
    for (Py_ssize_t s = 0; s < plan.steps; s++)
        faults[s] = atomic_load(&plan.faults[s]);
    return 1;
}
