/* A meeting of all ranks for one call. */
#ifndef DTL_MEETING_H
#define DTL_MEETING_H

#include "interpreter.h"

#pragma GCC visibility push(hidden)

/* A meeting of all ranks for one call, in the memory that they share, or of several nodes. */
typedef struct {
    dtl_board *board; /* NULL: the ranks are on several nodes */
    dtl_nodes *nodes;
    dtl_signature signature;
    uint64_t print; /* of the operation's name */
    int rank, size;
    void *into; /* where the elements that come are to go, if that is known */
    int64_t into_bytes;
    int scatters; /* 1: root's elements are scattered */
    int lends; /* 1: the elements may be sent from where they are */
    int kept;  /* what of both an operation still uses, of a call that not all made: nodes.h */
} meeting;

/* nodes_place returns what core/comm.Ahead knows ranks on several nodes by: odd, unlike a board. */
static inline uint64_t nodes_place(const dtl_nodes *n) { return (uint64_t)(uintptr_t)n | 1; }

#pragma GCC visibility pop

#endif
