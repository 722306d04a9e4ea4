// Collectives, which are made of messages: steps that a rank takes one after the other, whoever has the engine go on.
#ifndef DTL_SCHEDULE_H
#define DTL_SCHEDULE_H

#include "message.h"

#pragma GCC visibility push(hidden)

// What a step does. Sends and receives are only started.
enum {
	DTL_STEP_SEND,    // from, to a rank
	DTL_STEP_RECEIVE, // into, from a rank
	DTL_STEP_AWAIT,   // the receives so far; at the end everything is waited for
	DTL_STEP_COPY,    // from into into
	DTL_STEP_COMBINE, // into = into op from
};

struct dtl_step {
	int32_t kind, rank; // what and with whom
	int32_t type, op;   // of elements: core/dtype and core/kernel
	uint64_t into, from;
	int64_t bytes;
};

// dtl_combine, which is Go's, combines elements.
void dtl_combine(uint64_t into, uint64_t from, int64_t bytes, int32_t type, int32_t op);

// dtl_schedule starts steps, which it copies, on a channel whose other messages have other tags, and waits for about so many
// nanoseconds.
int dtl_schedule(struct dtl_group *g, int channel, int tag, const struct dtl_step *steps, int64_t n, int64_t patience,
                 struct dtl_request **request);

#pragma GCC visibility pop

#endif
