/* Expressions whose ufuncs' loops are called one by one, without the interpreter's lock, on the threads of this rank. */
#ifndef DTL_LOOP_STEPS_H
#define DTL_LOOP_STEPS_H

#include "interpreter.h"
#include "loops.h"

#pragma GCC visibility push(hidden)

enum { MOST_ARRAYS = 96, MOST_STEPS = 64, MOST_OPERANDS = 8 };

/* What an expression's elements are folded to, where they are: the fold, the number of the array, and eight words. */
typedef struct {
    int kind; /* less than 0: there is no fold */
    Py_ssize_t array, first, of;
    int64_t *words;
} block_fold;

/* loop_steps_run computes a run of an expression as bridge.compute says, and adds to the faults of each step. It returns 0 where an
 * array, a number or a ufunc is not of those that it takes: then nothing is done. At most so many threads take part; 0 is all. */
int loop_steps_run(PyObject *arrays, const char *how, PyObject *steps, Py_ssize_t rows, Py_ssize_t block, int threads,
                   const block_fold *fold, unsigned char *faults);

#pragma GCC visibility pop

#endif
