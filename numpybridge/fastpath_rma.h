/* Accesses to windows in the memory of this process. */
#ifndef DTL_FASTPATH_RMA_H
#define DTL_FASTPATH_RMA_H

#include "fastpath_call.h"
#include "interpreter.h"
#include "short_call.h"

#pragma GCC visibility push(hidden)

/* fast_access accesses a window in this process's memory, or returns NotImplemented. */
PyObject *fast_access(const ShortCallObject *s, fast_call *t, PyObject *owner);

#pragma GCC visibility pop

#endif
