/* How ranks meet. */
#ifndef DTL_FASTPATH_MEETING_H
#define DTL_FASTPATH_MEETING_H

#include "interpreter.h"
#include "meeting.h"
#include "objects.h"

#pragma GCC visibility push(hidden)

/* meeting_prepare learns the operators' fingerprints. */
void meeting_prepare(void);

/* meeting_may_go_on says whether this rank may go on from a call in which it needs no other. */
int meeting_may_go_on(const meeting *m);

/* meeting_begin takes this rank's turn on the board for a call, and says whether it could; else Go makes the call. */
int meeting_begin(meeting *m, const RanksObject *ranks, int64_t code, uint64_t print);

/* meeting_room returns how many bytes a rank may lay down, which are combined where reduces says so, and go to one rank or to all. */
int64_t meeting_room(const RanksObject *ranks, int reduces, int to_one);

/* meeting_room_of_root returns how many bytes root may lay down, whose elements go to the others. */
int64_t meeting_room_of_root(const RanksObject *ranks);

/* meeting_join lays down up to two pieces, waits for whom the call waits, and returns 1. It returns -1 with an exception set
 * where the ranks do not agree, and 0 where there is no room yet, so that Go has to make the call; then the turn is over. */
int meeting_join(meeting *m, const void *head, int head_bytes, const void *elements, int bytes);

/* meeting_payload returns what a rank laid down, and its length, until meeting_end. */
const char *meeting_payload(const meeting *m, int rank, int *bytes);

/* meeting_end ends the turn. */
void meeting_end(meeting *m);

/* meeting_reduces says whether meeting_reduce has an operator for a type. */
int meeting_reduces(int64_t op, int64_t type);

/* meeting_reduce combines what all ranks laid down in into, in rank order. */
void meeting_reduce(const meeting *m, void *into);

/* meeting_in_slices says whether ranks combine so many bytes of each, which they may lay down, by meeting_reduce_in_slices. That is
 * meeting_reduce for a call in which all get the result, by a second meeting. It returns what meeting_join does, but never 0. */
int meeting_in_slices(const RanksObject *ranks, int64_t bytes);
int meeting_reduce_in_slices(meeting *m, void *into);

#pragma GCC visibility pop

#endif
