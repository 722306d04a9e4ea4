/* Meetings of ranks on several nodes. */
#ifndef DTL_FASTPATH_NODES_H
#define DTL_FASTPATH_NODES_H

#include "interpreter.h"
#include "meeting.h"
#include "objects.h"

#pragma GCC visibility push(hidden)

/* What the functions of fastpath_meeting.h do where there is no board: the ranks are on several nodes. nodes_come says whether this rank soon has
 * what it waits for, and agrees, and nodes_may_join whether it may be called: if this rank goes on, somebody has to tell the others of it. */
int nodes_begin(meeting *m, const RanksObject *ranks, int64_t code, uint64_t print);
void nodes_end(meeting *m);
int nodes_come(meeting *m, uint64_t fingerprint, uint64_t operator, const void *head, int head_bytes, const void *elements, int bytes);
int nodes_may_join(const meeting *m);

#pragma GCC visibility pop

#endif
