/* NumPy's loops, where they are faster than the core's. */
#ifndef DTL_NUMPY_LOOPS_H
#define DTL_NUMPY_LOOPS_H

#include "interpreter.h"

#pragma GCC visibility push(hidden)

/* numpy_loops_learn gives the core those of NumPy's loops that are faster than its own. */
void numpy_loops_learn(void);

#pragma GCC visibility pop

#endif
