#include "schedule.h"

#include <stdlib.h>
#include <string.h>

// Steps under way, and what they have started.
struct schedule {
	struct dtl_group *group;
	int channel, tag, rc;
	int64_t n, at;
	int64_t done;     // bytes of the step at which it is
	int64_t awaited;  // receives of steps before this one are complete
	struct dtl_request **started; // of each step; NULL: nothing is under way
	struct dtl_step steps[];
};

static void fail(struct schedule *s, int rc) {
	if (s->rc == DTL_WELL)
		s->rc = rc;
}

// settled says whether what a step has started is complete.
static int settled(struct schedule *s, int64_t step) {
	int rc = DTL_WELL;
	if (s->started[step] != NULL && !dtl_over(&s->started[step], &rc))
		return 0;
	fail(s, rc);
	return 1;
}

// await says whether the receives so far are complete.
static int await(struct schedule *s) {
	for (; s->awaited < s->at; s->awaited++)
		if (s->steps[s->awaited].kind == DTL_STEP_RECEIVE && !settled(s, s->awaited))
			return 0;
	return 1;
}

// How many bytes are copied or combined before others get to look at the engine.
enum { A_LOOK = 256 << 10 };

// some copies or combines a part of the elements, and says whether nothing is left.
static int some(struct schedule *s, const struct dtl_step *step) {
	int64_t left = step->bytes - s->done, n = left < A_LOOK ? left : A_LOOK;
	uint64_t into = step->into + (uint64_t)s->done, from = step->from + (uint64_t)s->done;
	if (n > 0 && step->kind == DTL_STEP_COPY)
		memcpy((void *)(uintptr_t)into, (const void *)(uintptr_t)from, (size_t)n);
	else if (n > 0)
		dtl_combine(into, from, n, step->type, step->op);
	if (n > 0)
		dtl_moved(s->group);
	s->done = n < left ? s->done + n : 0;
	return n == left;
}

// take_step says whether the schedule goes on behind its step.
static int take_step(struct schedule *s) {
	const struct dtl_step *step = &s->steps[s->at];
	switch (step->kind) {
	case DTL_STEP_SEND:
		fail(s, dtl_begin_send(s->group, s->channel, (const void *)(uintptr_t)step->from, step->bytes, step->rank, s->tag,
		                       &s->started[s->at]));
		return 1;
	case DTL_STEP_RECEIVE:
		fail(s, dtl_begin_receive(s->group, s->channel, (void *)(uintptr_t)step->into, step->bytes, step->rank, s->tag,
		                          &s->started[s->at]));
		return 1;
	case DTL_STEP_AWAIT:
		return await(s);
	default:
		return some(s, step);
	}
}

static int go_on(void *arg) {
	struct schedule *s = arg;
	for (; s->at < s->n; s->at++)
		if (!take_step(s))
			return DTL_GOES_ON;
	for (int64_t step = 0; step < s->n; step++)
		if (!settled(s, step))
			return DTL_GOES_ON;
	int rc = s->rc;
	free(s->started);
	free(s);
	return rc;
}

int dtl_schedule(struct dtl_group *g, int channel, int tag, const struct dtl_step *steps, int64_t n, int64_t patience,
                 struct dtl_request **request) {
	struct schedule *s = malloc(sizeof *s + (size_t)n * sizeof *steps);
	struct dtl_request **started = calloc((size_t)n + 1, sizeof *started);
	*request = NULL;
	if (s == NULL || started == NULL) {
		free(s);
		free(started);
		return DTL_NO_MEMORY;
	}
	*s = (struct schedule){.group = g, .channel = channel, .tag = tag, .n = n, .started = started};
	memcpy(s->steps, steps, (size_t)n * sizeof *steps);
	return dtl_begin(g, go_on, s, patience, request);
}
