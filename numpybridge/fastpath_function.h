/* The type ShortCall. */
#ifndef DTL_FASTPATH_FUNCTION_H
#define DTL_FASTPATH_FUNCTION_H

#include "interpreter.h"

#pragma GCC visibility push(hidden)

extern PyTypeObject ShortCallType;

#pragma GCC visibility pop

#endif
