/* One short call on its way. */
#ifndef DTL_FASTPATH_CALL_H
#define DTL_FASTPATH_CALL_H

#include "interpreter.h"
#include "numpy.h"

#pragma GCC visibility push(hidden)

/* One call on its way. */
typedef struct {
    dtl_call call;
    PyObject *value, *out;       /* as the caller passed them */
    const array_type *generic; /* of a value that is a NumPy scalar */
    scalar input, result;
} fast_call;

/* take_value describes the input. None is none. */
int take_value(fast_call *t);

/* type_of returns the type of the input. */
const array_type *type_of(const fast_call *t);

/* new_result makes an array for the result, with a first dimension of count more where count is not negative. */
PyObject *new_result(const fast_call *t, int64_t count);

/* scalar_result returns the result as a scalar like the input. */
PyObject *scalar_result(fast_call *t);

/* like_scalar makes a call whose result is a scalar like the value. */
PyObject *like_scalar(fast_call *t);

/* made_out makes the call with an output made here, of count entries or like the input. */
PyObject *made_out(fast_call *t, int64_t count);

/* given_out makes the call with the caller's output, if there is one. */
PyObject *given_out(fast_call *t);

#pragma GCC visibility pop

#endif
