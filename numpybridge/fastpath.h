/* The calls of ShortCalls. */
#ifndef DTL_FASTPATH_H
#define DTL_FASTPATH_H

#include "interpreter.h"

#pragma GCC visibility push(hidden)

/* fastpath_prepare learns what the core says once. */
void fastpath_prepare(void);

/* short_vectorcall calls a ShortCall. */
PyObject *short_vectorcall(PyObject *self, PyObject *const *args, size_t flagged, PyObject *words);

#pragma GCC visibility pop

#endif
