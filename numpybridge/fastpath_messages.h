/* Short messages. */
#ifndef DTL_FASTPATH_MESSAGES_H
#define DTL_FASTPATH_MESSAGES_H

#include "fastpath_call.h"
#include "interpreter.h"
#include "objects.h"

#pragma GCC visibility push(hidden)

/* fast_send sends a short message straight away, and fast_receive receives one that comes at once; or they return
 * NotImplemented. */
PyObject *fast_send(fast_call *t, const RanksObject *ranks);
PyObject *fast_receive(fast_call *t, const RanksObject *ranks);

#pragma GCC visibility pop

#endif
