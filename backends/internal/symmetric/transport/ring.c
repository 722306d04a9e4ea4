#include "ring.h"

#include <string.h>

enum { HEADER = sizeof(struct dtl_record), STAGED = HEADER + 1024 }; // records up to this length are put at once

_Static_assert(HEADER == 32, "a record starts at a multiple of its header's length");

static uint64_t *counter(const struct dtl_fabric *f, int there, int64_t at) {
	return (uint64_t *)((f->parts != NULL ? f->parts[there] : f->own) + at);
}

static void post(const struct dtl_fabric *f, int there, int64_t at, uint64_t value) {
	if (f->parts != NULL)
		__atomic_store_n(counter(f, there, at), value, __ATOMIC_RELEASE);
	else
		f->post(counter(f, there, at), value, there);
}

static void put_record(const struct dtl_fabric *f, int to, int64_t at, const struct dtl_record *h, const void *data) {
	if (f->parts != NULL) {
		char *into = f->parts[to] + at;
		memcpy(into, h, HEADER);
		if (h->size > 0)
			memcpy(into + HEADER, data, h->size);
		return;
	}
	char stage[STAGED];
	memcpy(stage, h, HEADER);
	if (HEADER + h->size > STAGED) {
		f->put(f->own + at, stage, HEADER, to);
		f->put(f->own + at + HEADER, data, h->size, to);
		return;
	}
	if (h->size > 0)
		memcpy(stage + HEADER, data, h->size);
	f->put(f->own + at, stage, HEADER + h->size, to);
}

static int fits(struct dtl_rings r, const struct dtl_link *l, uint64_t bytes) {
	return l->written - l->room + bytes <= (uint64_t)r.size;
}

int dtl_ring_write(const struct dtl_fabric *f, struct dtl_rings r, struct dtl_link *l, int to, const struct dtl_record *h,
                   const void *data) {
	int64_t length = dtl_round_up(HEADER + (int64_t)h->size, HEADER), at = (int64_t)(l->written % (uint64_t)r.size);
	int64_t over = length > r.size - at ? r.size - at : 0, base = dtl_ring_records(r, f->me);
	if (!fits(r, l, (uint64_t)(over + length))) {
		l->room = __atomic_load_n(counter(f, f->me, dtl_ring_credit(to)), __ATOMIC_ACQUIRE);
		if (!fits(r, l, (uint64_t)(over + length)))
			return 0;
	}
	if (over > 0) {
		put_record(f, to, base + at, &(struct dtl_record){.kind = DTL_SKIP}, NULL);
		at = 0;
	}
	put_record(f, to, base + at, h, data);
	l->written += (uint64_t)(over + length);
	post(f, to, dtl_ring_tail(f->me), l->written);
	return 1;
}

const struct dtl_record *dtl_ring_next(const struct dtl_fabric *f, struct dtl_rings r, struct dtl_link *l, int from) {
	uint64_t tail = __atomic_load_n(counter(f, f->me, dtl_ring_tail(from)), __ATOMIC_ACQUIRE);
	while (l->read < tail) {
		int64_t at = (int64_t)(l->read % (uint64_t)r.size);
		const struct dtl_record *h = (const struct dtl_record *)(f->own + dtl_ring_records(r, from) + at);
		if (h->kind != DTL_SKIP)
			return h;
		l->read += (uint64_t)(r.size - at);
	}
	if (l->read - l->credited >= (uint64_t)r.size / 4) {
		l->credited = l->read;
		post(f, from, dtl_ring_credit(f->me), l->read);
	}
	return NULL;
}

void dtl_ring_pass(struct dtl_link *l, const struct dtl_record *h) {
	l->read += (uint64_t)dtl_round_up(HEADER + (int64_t)h->size, HEADER);
}
