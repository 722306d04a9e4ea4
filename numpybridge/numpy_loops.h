/* NumPy's loops, where they are faster than the core's. */
#ifndef DTL_NUMPY_LOOPS_H
#define DTL_NUMPY_LOOPS_H

#include "interpreter.h"
#include "loops.h"

#pragma GCC visibility push(hidden)

/* numpy_loops_learn gives the core those of NumPy's loops that are faster than its own. */
void numpy_loops_learn(void);

enum { MOST_LOOP_TYPES = 8 };

/* A loop of a ufunc, which needs no lock of the interpreter: what to call it with, and NumPy's number of each operand's type. */
typedef struct {
    dtl_loop call;
    void *data;
    int types[MOST_LOOP_TYPES];
} numpy_loop;

/* numpy_loop_of finds the loop of a ufunc of one result that takes operands, the last of which is the result, as they are: of these types,
 * or, where a type is less than 0, of a number of the type that all have. It returns 0 where there is none, or ufuncs are not known. */
int numpy_loop_of(PyObject *ufunc, int operands, const int *types, numpy_loop *found);

/* numpy_loop_near finds the first loop whose result is of its type, and to whose types those of the operands are converted without a loss.
 * Beside numbers, that is a loop of float64. */
int numpy_loop_near(PyObject *ufunc, int operands, const int *types, numpy_loop *found);

/* numpy_is says whether a ufunc is the one of NumPy's that has a name. */
int numpy_is(PyObject *ufunc, const char *name);

/* numpy_large_loop returns the loop of past_cache.h for a ufunc and operands of a type, some of them arrays; NULL where there is none. */
dtl_loop numpy_large_loop(PyObject *ufunc, int type, unsigned arrays);

/* numpy_last_truth returns what a truth stays that a ufunc has made of others, whatever comes then: 1 of logical_or, 0 of logical_and; and -1 of
 * other ufuncs. */
int numpy_last_truth(PyObject *ufunc);

/* numpy_place_of returns NumPy's function that finds where the least, or the greatest, of elements of a type is; NULL where there is none that
 * is known to. */
dtl_place_loop numpy_place_of(int type, int greatest);

/* numpy_number writes a number as an element of one of NumPy's types. It returns 0 where NumPy might compute in another type because of it. */
int numpy_number(PyObject *value, int type, void *element);

#pragma GCC visibility pop

#endif
