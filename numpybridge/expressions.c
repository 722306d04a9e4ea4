//go:build cpython

/*
 * Expressions of ufuncs, computed a block at a time, so that what lies between two ufuncs stays in the cache.
 *
 * It is in C because Python may run a signal's handler between two statements, which may raise. A block that is
 * computed in place must not be computed again.
 */
#include "expressions.h"
#include "loop_steps.h"
#include "numpy.h"

/* What happened in the steps of the expression that is computed: bits of KINDS, by step. Who computes has Python's lock of expressions. */
static const char KINDS[] = "doui"; /* the first letters of NumPy's names: divide by zero, overflow, underflow, invalid value */
static unsigned char faults[MOST_STEPS];
static int current;

const char fault_doc[] = PyDoc_STR(
"fault($module, kind, flags, /)\n--\n\n"
"Note an error of floats in the step that is computed: what np.errstate calls.");

PyObject *bridge_fault(PyObject *module, PyObject *args) {
    const char *kind, *found;
    int flags;
    if (!PyArg_ParseTuple(args, "si:fault", &kind, &flags))
        return NULL;
    if (kind[0] != 0 && (found = strchr(KINDS, kind[0])) != NULL)
        faults[current] |= (unsigned char)(1 << (found - KINDS));
    Py_RETURN_NONE;
}

/* The names of a ufunc's arguments that come last: out. */
static PyObject *names;

/* step calls a ufunc with some of a block's arrays, the last of which it writes. */
static int step(PyObject *of, PyObject *const *arrays, Py_ssize_t count) {
    PyObject *given[MOST_OPERANDS];
    Py_ssize_t n = PyTuple_GET_SIZE(of) - 1;
    for (Py_ssize_t i = 0; i < n; i++) {
        Py_ssize_t at = PyLong_AsSsize_t(PyTuple_GET_ITEM(of, i + 1));
        if (at < 0 || at >= count) {
            if (!PyErr_Occurred())
                PyErr_Format(PyExc_IndexError, "array %zd of %zd", at, count);
            return -1;
        }
        given[i] = arrays[at];
    }
    PyObject *result = PyObject_Vectorcall(PyTuple_GET_ITEM(of, 0), given, (size_t)(n - 1), names);
    Py_XDECREF(result);
    return result == NULL ? -1 : 0;
}

/* cut takes the part of each array that belongs to a block: its rows, or the first of as many where only a block is kept. */
static int cut(PyObject *arrays, const char *how, Py_ssize_t from, Py_ssize_t to, PyObject **parts) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(arrays); i++) {
        PyObject *whole = PyTuple_GET_ITEM(arrays, i);
        Py_ssize_t first = how[i] == 'r' ? from : 0;
        parts[i] = how[i] == 'c' ? Py_NewRef(whole) : PySequence_GetSlice(whole, first, first + to - from);
        if (parts[i] == NULL)
            return -1;
    }
    return 0;
}

/* compute_block does all steps with rows from to to. */
static int compute_block(PyObject *arrays, const char *how, PyObject *steps, Py_ssize_t from, Py_ssize_t to) {
    PyObject *parts[MOST_ARRAYS] = {NULL};
    int rc = cut(arrays, how, from, to, parts);
    for (current = 0; rc == 0 && current < PyTuple_GET_SIZE(steps); current++)
        rc = step(PyTuple_GET_ITEM(steps, current), parts, PyTuple_GET_SIZE(arrays));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(arrays); i++)
        Py_XDECREF(parts[i]);
    return rc;
}

/* fits says whether an expression's steps and arrays are what compute takes. */
static int fits(PyObject *runs, Py_ssize_t letters, PyObject *steps, Py_ssize_t block) {
    int fit = block > 0 && letters <= MOST_ARRAYS && PyTuple_GET_SIZE(steps) <= MOST_STEPS;
    for (Py_ssize_t i = 0; fit && i < PyTuple_GET_SIZE(steps); i++) {
        PyObject *of = PyTuple_GET_ITEM(steps, i);
        fit = PyTuple_Check(of) && PyTuple_GET_SIZE(of) > 1 && PyTuple_GET_SIZE(of) <= MOST_OPERANDS + 1;
    }
    for (Py_ssize_t i = 0; fit && i < PyTuple_GET_SIZE(runs); i++) {
        PyObject *run = PyTuple_GET_ITEM(runs, i);
        fit = PyTuple_Check(run) && PyTuple_GET_SIZE(run) == 2 && PyLong_Check(PyTuple_GET_ITEM(run, 0)) &&
              PyTuple_Check(PyTuple_GET_ITEM(run, 1)) && PyTuple_GET_SIZE(PyTuple_GET_ITEM(run, 1)) == letters;
    }
    if (!fit)
        PyErr_SetString(PyExc_ValueError, "no expression that compute takes");
    return fit;
}

/* fold_block folds what a block's steps have made, which is an array of the rows from from to to. */
static int fold_block(PyObject *arrays, const char *how, Py_ssize_t from, Py_ssize_t to, block_fold *fold) {
    dtl_array made;
    Py_ssize_t first = how[fold->array] == 'r' ? from : 0;
    PyObject *part = PySequence_GetSlice(PyTuple_GET_ITEM(arrays, fold->array), first, first + to - from);
    if (part == NULL)
        return -1;
    int taken = ndarray_take(part, &made, NULL, 0) && dtl_can_fold(fold->kind, made.type);
    if (taken) {
        dtl_fold_run(fold->kind, made.type, made.data, made.count, fold->first, fold->of, fold->words);
        fold->first += made.count;
    } else {
        PyErr_SetString(PyExc_ValueError, "no array that is folded");
    }
    Py_DECREF(part);
    return taken ? 0 : -1;
}

/* compute_run computes the rows of a run, a block after the other. */
static int compute_run(PyObject *arrays, Py_ssize_t rows, const char *how, PyObject *steps, Py_ssize_t block, block_fold *fold) {
    for (Py_ssize_t from = 0; from < rows; from += block) {
        Py_ssize_t to = rows - from < block ? rows : from + block;
        if (compute_block(arrays, how, steps, from, to) < 0 || (fold->kind >= 0 && fold_block(arrays, how, from, to, fold) < 0))
            return -1;
        dtl_ease();
    }
    return PyErr_Occurred() ? -1 : 0;
}

const char compute_doc[] = PyDoc_STR(
"compute($module, block, runs, how, steps, done, threads, fold, array, of, words, /)\n--\n\n"
"Compute an expression of ufuncs, block rows after block rows, and set done[0] to True once it is over.\n\n"
"A run is a number of rows and the arrays for them. A step is a ufunc and the numbers of the arrays that it takes, the\n"
"last for its result. For each array, how has a letter: r for one that has all rows of the run, b for one that has\n"
"those of a block, t for one that has as many and is only read, c for one that is taken as it is. At most so many threads compute; 0 is all. With a fold of 0 or more,\n"
"the elements of an array, which are so many, are folded to the first of eight words. Returns bytes: for each step the\n"
"errors of floats, as bits; those of steps that NumPy computes are what np.errstate has told to fault.");

PyObject *bridge_compute(PyObject *module, PyObject *args) {
    Py_ssize_t block, letters;
    PyObject *runs, *steps, *done;
    const char *how;
    int threads;
    block_fold fold = {.first = 0};
    Py_buffer words;
    if (!PyArg_ParseTuple(args, "nO!y#O!O!iinnw*:compute", &block, &PyTuple_Type, &runs, &how, &letters, &PyTuple_Type, &steps,
                          &PyList_Type, &done, &threads, &fold.kind, &fold.array, &fold.of, &words))
        return NULL;
    int rc = -1;
    fold.words = words.buf;
    if (fold.kind >= 0 && (words.len != 8 * (Py_ssize_t)sizeof(int64_t) || fold.array < 0 || fold.array >= letters))
        PyErr_SetString(PyExc_ValueError, "no fold that compute takes");
    else if (fits(runs, letters, steps, block) && (names != NULL || (names = Py_BuildValue("(s)", "out")) != NULL))
        rc = 0;
    memset(faults, 0, sizeof faults);
    for (Py_ssize_t i = 0; rc == 0 && i < PyTuple_GET_SIZE(runs); i++) {
        PyObject *run = PyTuple_GET_ITEM(runs, i), *arrays = PyTuple_GET_ITEM(run, 1);
        Py_ssize_t rows = PyLong_AsSsize_t(PyTuple_GET_ITEM(run, 0));
        int is_whole = fold.kind < 0 || rows == fold.of; /* the pieces that are folded are those of all elements */
        if (rows > 0 && (!is_whole || !loop_steps_run(arrays, how, steps, rows, block, threads, &fold, faults)))
            rc = PyErr_Occurred() ? -1 : compute_run(arrays, rows, how, steps, block, &fold);
    }
    PyBuffer_Release(&words);
    if (rc < 0 || PyList_SetItem(done, 0, Py_NewRef(Py_True)) < 0)
        return NULL;
    return PyBytes_FromStringAndSize((char *)faults, PyTuple_GET_SIZE(steps));
}
