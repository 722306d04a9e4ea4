/* Loops that convert numbers, without the interpreter's lock. */
#ifndef DTL_CASTS_H
#define DTL_CASTS_H

#include "loops.h"
#include "numpy.h"

#pragma GCC visibility push(hidden)

/* cast_loop returns the loop that converts elements of one of NumPy's types to another, as NumPy does unless the processor marks an
 * overflow or an invalid operation; NULL where there is none. It is called as loops of ufuncs are. */
dtl_loop cast_loop(int from, int to);

/* large_cast_loop returns the loop for results that are larger than the caches, of elements that lie side by side in both arrays. */
dtl_loop large_cast_loop(int from, int to);

/* cast_keeps says whether NumPy converts one of its types to another where a ufunc has no loop for it: none of its values is lost. */
int cast_keeps(int from, int to);

#pragma GCC visibility pop

#endif
