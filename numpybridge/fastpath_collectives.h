/* Collectives by the board alone. */
#ifndef DTL_FASTPATH_COLLECTIVES_H
#define DTL_FASTPATH_COLLECTIVES_H

#include "fastpath_call.h"
#include "interpreter.h"
#include "objects.h"
#include "short_call.h"

#pragma GCC visibility push(hidden)

/* fast_barrier is a barrier by the board alone, or returns NotImplemented. */
PyObject *fast_barrier(const ShortCallObject *s, const RanksObject *ranks);

/* fast_collective makes a call by the board alone, or returns NotImplemented. here says whether this rank is the root, if
 * there is one. */
PyObject *fast_collective(const ShortCallObject *s, fast_call *t, const RanksObject *ranks, int here);

#pragma GCC visibility pop

#endif
