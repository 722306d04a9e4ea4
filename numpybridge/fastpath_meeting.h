/* Short collective calls, made by C on the board. */
#ifndef DTL_FASTPATH_MEETING_H
#define DTL_FASTPATH_MEETING_H

#include "numpy.h"

#pragma GCC visibility push(hidden)

/* A meeting of all ranks for one call. */
typedef struct {
    dtl_board *board;
    dtl_brief brief;
    uint64_t print; /* of the operation's name */
} meeting;

/* near_begin takes this rank's turn on the board for a call, and says whether it could; else Go makes the call. */
int near_begin(meeting *m, const RanksObject *ranks, int64_t code, uint64_t print);

/* near_meet lays down up to two pieces, and waits until all ranks have met. It returns -1 with an exception set where
 * they do not agree; then the turn is over. */
int near_meet(meeting *m, const void *head, int head_bytes, const void *elements, int bytes);

/* near_laid returns what a rank laid down, and its length, until near_end. */
const char *near_laid(const meeting *m, int rank, int *bytes);

/* near_end ends the turn. */
void near_end(meeting *m);

/* near_folds says whether near_fold has an operator for a type. */
int near_folds(int64_t op, int64_t type);

/* near_fold combines what all ranks laid down in into, in rank order. */
void near_fold(const meeting *m, void *into);

/* pause_a_moment is a step of a loop that waits for memory to change. */
static inline void pause_a_moment(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* near_prepare learns the operators' prints, and where polls is. */
void near_prepare(void);

#pragma GCC visibility pop

#endif
