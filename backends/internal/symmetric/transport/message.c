#define _GNU_SOURCE
#include "message.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>

// What waits for room in a ring: a record, or the pieces of a long message.
struct outgoing {
	struct outgoing *next;
	struct dtl_record head;
	const char *data;
	int64_t total, sent;
	struct dtl_request *of; // whose it is; NULL: it is freed when it is written
	char copy[];
};

// A short message that nobody has received yet, or the announcement of a long one.
struct envelope {
	struct envelope *next;
	int source, tag;
	int64_t bytes;
	uint64_t id, address; // of a long one: its sender's number, and where it lies there; 0: the sender sends the elements
	char data[];
};

// Matches what came on a channel with what is received there, both in order.
struct channel {
	struct channel *next; // with the same hash
	uint32_t number;
	struct envelope *unexpected, **last_unexpected;
	struct dtl_request *posted, **last_posted; // none matches an unexpected message
};

// A send or receive under way. It is freed when its user knows that it is complete, and its record is written.
struct dtl_request {
	struct dtl_request *next; // in a list of the engine or of a channel
	struct dtl_engine *engine;
	const struct dtl_group *group; // of a receive until it is matched
	struct channel *posted;        // where a receive waits for its message
	char *buf;
	int64_t bytes; // that buf has
	int source, tag; // a process, or one of any
	int receives;
	int64_t filled; // bytes that came
	int process;    // of a long message, who sends it, under which number, and where it lies there
	uint64_t id, address;
	int complete, queued, released;
	dtl_task go_on; // what the request is of; NULL: a message
	void *arg;
	int rc; // how it has ended
	struct dtl_arrived came;
	struct outgoing record;
};

enum { HASHES = 256 };

struct dtl_engine {
	uint32_t lock, over;
	struct dtl_fabric fabric;
	struct dtl_rings rings;
	const int64_t *ids;
	uintptr_t name;
	int refused;     // the system has refused to read another process
	int patient;     // looks at which a wait gives no processor to others
	int queued;      // records that wait for room
	int moved;       // something has happened since somebody looked
	struct channel *channels[HASHES];
	struct dtl_request *copies, **last_copy; // receives that copy from other processes
	struct dtl_request *tasks, **last_task;
	struct link {
		struct dtl_link ring;
		struct outgoing *first, **last;
	} links[];
};

struct dtl_group {
	struct dtl_engine *engine;
	struct channel *channels[DTL_CHANNELS];
	uint32_t number;
	int size;
	int *ranks; // of each process; -1: none
	int processes[];
};

// ---- The lock, and waiting ----

static void pause_briefly(void) {
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

static void nap(long nanoseconds) { nanosleep(&(struct timespec){0, nanoseconds}, NULL); }

static void give(struct dtl_engine *e) { __atomic_store_n(&e->lock, 0, __ATOMIC_RELEASE); }

// take takes the lock, unless the library ends: then it returns 0.
static int take(struct dtl_engine *e) {
	enum { SPINS = 100, YIELDS = 1000, NAP = 50 * 1000 };
	for (int tries = 0;; tries++) {
		uint32_t free = 0;
		if (__atomic_load_n(&e->lock, __ATOMIC_RELAXED) == 0 &&
		    __atomic_compare_exchange_n(&e->lock, &free, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			break;
		if (tries < SPINS)
			pause_briefly();
		else if (tries < YIELDS)
			sched_yield();
		else
			nap(NAP);
	}
	if (__atomic_load_n(&e->over, __ATOMIC_RELAXED) == 0)
		return 1;
	give(e);
	return 0;
}

uint32_t *dtl_engine_lock(struct dtl_engine *e) { return &e->lock; }
uint32_t *dtl_engine_over(struct dtl_engine *e) { return &e->over; }

// How many looks a wait takes before it gives the processor to others, where each process has one; how many before it lets
// time pass, and how long.
enum { BRIEF = 100, LOOKS = 4000, NAP = 50 * 1000, LOOKS_AN_ADVANCE = 16 };

void dtl_rest(struct dtl_engine *e, int look) {
	if (look > LOOKS)
		nap(NAP);
	else if (look > e->patient)
		sched_yield();
	else
		pause_briefly();
	if (e->fabric.advance != NULL && look % LOOKS_AN_ADVANCE == LOOKS_AN_ADVANCE - 1 && take(e)) {
		e->fabric.advance();
		give(e);
	}
}

static int64_t nanoseconds(void) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

// ---- Records on their way out ----

static void forget(struct dtl_request *r) {
	if (r->released && r->complete && !r->queued)
		free(r);
}

// write_out writes a record, or the pieces that there is room for, and says whether nothing is left.
static int write_out(struct dtl_engine *e, int to, struct outgoing *o) {
	struct dtl_link *ring = &e->links[to].ring;
	if (o->head.kind != DTL_FRAGMENT)
		return dtl_ring_write(&e->fabric, e->rings, ring, to, &o->head, o->data);
	while (o->sent < o->total) {
		int64_t left = o->total - o->sent, piece = dtl_rings_piece(e->rings);
		o->head.size = (uint32_t)(left < piece ? left : piece);
		if (!dtl_ring_write(&e->fabric, e->rings, ring, to, &o->head, o->data + o->sent))
			return 0;
		o->sent += o->head.size;
	}
	return 1;
}

// written goes on with an operation whose record is in the ring.
static void written(struct outgoing *o) {
	struct dtl_request *r = o->of;
	if (r == NULL) {
		free(o);
		return;
	}
	r->queued = 0;
	if (!r->receives && (o->head.kind == DTL_SHORT || o->head.kind == DTL_FRAGMENT))
		__atomic_store_n(&r->complete, 1, __ATOMIC_RELEASE);
	forget(r);
}

// flush writes what there is room for.
static void flush(struct dtl_engine *e, int to) {
	struct link *l = &e->links[to];
	while (l->first != NULL && write_out(e, to, l->first)) {
		struct outgoing *o = l->first;
		if ((l->first = o->next) == NULL)
			l->last = &l->first;
		e->queued--;
		written(o);
	}
}

// put_out has something written after all that waits already.
static void put_out(struct dtl_engine *e, int to, struct outgoing *o) {
	struct link *l = &e->links[to];
	o->next = NULL;
	*l->last = o;
	l->last = &o->next;
	e->queued++;
	if (o->of != NULL)
		o->of->queued = 1;
	flush(e, to);
}

int dtl_record_send(struct dtl_engine *e, int to, const struct dtl_record *h, const void *data) {
	if (e->links[to].first == NULL && dtl_ring_write(&e->fabric, e->rings, &e->links[to].ring, to, h, data))
		return 1;
	struct outgoing *o = malloc(sizeof *o + h->size);
	if (o == NULL)
		return 0;
	*o = (struct outgoing){.head = *h, .data = o->copy};
	if (h->size > 0)
		memcpy(o->copy, data, h->size);
	put_out(e, to, o);
	return 1;
}

// answer sends the sender of a long message a record about it, which is the request's own.
static void answer(struct dtl_request *r, enum dtl_kind kind, uint64_t bytes) {
	r->record = (struct outgoing){.head = {.kind = kind, .id = r->id, .bytes = bytes}, .of = r};
	put_out(r->engine, r->process, &r->record);
}

// ---- Receives ----

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static void complete(struct dtl_request *r) { __atomic_store_n(&r->complete, 1, __ATOMIC_RELEASE); }

// fill takes the next bytes of a message. What the buffer has no room for is lost, which is an error.
static void fill(struct dtl_request *r, const char *data, int64_t n) {
	int64_t room = least(n, r->bytes - r->filled);
	if (room > 0)
		memcpy(r->buf + r->filled, data, (size_t)room);
	r->filled += n;
	if (r->filled == r->came.bytes)
		complete(r);
}

// demand has the sender of a long message send it.
static void demand(struct dtl_request *r) {
	r->filled = 0;
	answer(r, DTL_CLEAR_TO_SEND, (uint64_t)(uintptr_t)r);
}

// read_from copies from another process, and says whether it could.
static int read_from(struct dtl_engine *e, int process, uint64_t from, char *into, int64_t n) {
	if (process == e->fabric.me) {
		memcpy(into, (const void *)(uintptr_t)from, (size_t)n);
		return 1;
	}
	while (n > 0) {
		struct iovec here = {into, (size_t)n}, there = {(void *)(uintptr_t)from, (size_t)n};
		ssize_t copied = process_vm_readv((pid_t)e->ids[process], &here, 1, &there, 1, 0);
		if (copied <= 0)
			return 0;
		into += copied;
		from += (uint64_t)copied;
		n -= copied;
	}
	return 1;
}

// How many bytes a process copies before it looks at what else there is.
enum { COPY_STEP = 1 << 20 };

// copy_some copies a part of a message, and says whether nothing is left to copy. Where that cannot be done, the sender sends
// the message.
static int copy_some(struct dtl_request *r) {
	struct dtl_engine *e = r->engine;
	int64_t all = least(r->came.bytes, r->bytes), n = least(all - r->filled, COPY_STEP);
	if (n > 0 && (e->refused || !read_from(e, r->process, r->address + (uint64_t)r->filled, r->buf + r->filled, n))) {
		e->refused = 1;
		demand(r);
		return 1;
	}
	e->moved = 1;
	r->filled += n;
	if (r->filled < all)
		return 0;
	answer(r, DTL_COPIED, 0);
	complete(r);
	return 1;
}

// copy_on goes on with what this process copies from others.
static void copy_on(struct dtl_engine *e) {
	struct dtl_request **at = &e->copies, *r;
	while ((r = *at) != NULL) {
		struct dtl_request *next = r->next;
		if (copy_some(r))
			*at = next;
		else
			at = &r->next;
	}
	e->last_copy = at;
}

static int alike(int source, int tag, int of, int with) {
	return (source == DTL_SOURCES || source == of) && (tag == DTL_TAGS || tag == with);
}

// match has a receive filled with a message: at once, or by its sender, who is told that there is room.
static void match(struct dtl_request *r, const struct envelope *m, const char *data) {
	struct dtl_engine *e = r->engine;
	r->came = (struct dtl_arrived){r->group->ranks[m->source], m->tag, 0, m->bytes};
	r->group = NULL;
	if (m->id == 0) {
		fill(r, data, m->bytes);
		return;
	}
	r->process = m->source;
	r->id = m->id;
	r->address = m->address;
	if (m->address == 0 || e->ids == NULL || e->refused) {
		demand(r);
	} else if (!copy_some(r)) {
		r->next = NULL;
		*e->last_copy = r;
		e->last_copy = &r->next;
	}
}

// channel_of returns a channel; NULL without memory. Messages may come before this process has the group.
static struct channel *channel_of(struct dtl_engine *e, uint32_t number) {
	struct channel **at = &e->channels[number % HASHES];
	for (; *at != NULL; at = &(*at)->next)
		if ((*at)->number == number)
			return *at;
	struct channel *c = calloc(1, sizeof *c);
	if (c == NULL)
		return NULL;
	c->number = number;
	c->last_unexpected = &c->unexpected;
	c->last_posted = &c->posted;
	return *at = c;
}

// unpost takes a receive out of its channel, where at points to it.
static void unpost(struct channel *c, struct dtl_request **at) {
	struct dtl_request *r = *at;
	if ((*at = r->next) == NULL)
		c->last_posted = at;
	r->posted = NULL;
}

// deliver gives what came to the first receive that waits for it, or keeps it, with a copy of its data. It says whether there
// was memory for that.
static int deliver(struct dtl_engine *e, uint32_t number, const struct envelope *m, const char *data) {
	struct channel *c = channel_of(e, number);
	if (c == NULL)
		return 0;
	for (struct dtl_request **at = &c->posted; *at != NULL; at = &(*at)->next) {
		struct dtl_request *r = *at;
		if (!alike(r->source, r->tag, m->source, m->tag))
			continue;
		unpost(c, at);
		match(r, m, data);
		return 1;
	}
	size_t along = m->id == 0 ? (size_t)m->bytes : 0;
	struct envelope *kept = malloc(sizeof *kept + along);
	if (kept == NULL)
		return 0;
	*kept = *m;
	if (along > 0)
		memcpy(kept->data, data, along);
	kept->next = NULL;
	*c->last_unexpected = kept;
	c->last_unexpected = &kept->next;
	return 1;
}

// take_unexpected gives a receive the first unexpected message that matches, and says whether there is one.
static int take_unexpected(struct channel *c, struct dtl_request *r) {
	for (struct envelope **at = &c->unexpected, *m; (m = *at) != NULL; at = &m->next) {
		if (!alike(r->source, r->tag, m->source, m->tag))
			continue;
		if ((*at = m->next) == NULL)
			c->last_unexpected = at;
		match(r, m, m->data);
		free(m);
		return 1;
	}
	return 0;
}

// ---- Progress ----

// heed carries out what a record of another process asks for, and says whether it could.
static int heed(struct dtl_engine *e, int from, const struct dtl_record *h) {
	const char *data = (const char *)(h + 1);
	struct dtl_request *r = (struct dtl_request *)(uintptr_t)h->id;
	switch (h->kind) {
	case DTL_SHORT:
		return deliver(e, h->channel, &(struct envelope){.source = from, .tag = h->tag, .bytes = (int64_t)h->bytes}, data);
	case DTL_READY_TO_SEND: {
		struct envelope m = {.source = from, .tag = h->tag, .bytes = (int64_t)h->bytes, .id = h->id};
		if (h->size > 0)
			memcpy(&m.address, data, sizeof m.address);
		return deliver(e, h->channel, &m, data);
	}
	case DTL_CLEAR_TO_SEND:
		r->record = (struct outgoing){.head = {.kind = DTL_FRAGMENT, .id = h->bytes}, .data = r->buf, .total = r->bytes, .of = r};
		put_out(e, from, &r->record);
		return 1;
	case DTL_FRAGMENT:
		fill(r, data, h->size);
		return 1;
	case DTL_COPIED:
		complete(r);
		return 1;
	default:
		dtl_active(e->name, from, (struct dtl_record *)h, (void *)data);
		return 1;
	}
}

// tasks_on goes on with tasks, which start sends and receives.
static void tasks_on(struct dtl_engine *e) {
	struct dtl_request **at = &e->tasks, *r;
	while ((r = *at) != NULL) {
		r->rc = r->go_on(r->arg);
		if (r->rc == DTL_GOES_ON) {
			at = &r->next;
			continue;
		}
		*at = r->next;
		complete(r);
	}
	e->last_task = at;
}

void dtl_progress(struct dtl_engine *e) {
	for (int from = 0; from < e->fabric.processes; from++) {
		struct dtl_link *ring = &e->links[from].ring;
		const struct dtl_record *h;
		while ((h = dtl_ring_next(&e->fabric, e->rings, ring, from)) != NULL && heed(e, from, h)) {
			dtl_ring_pass(ring, h);
			e->moved = 1;
		}
	}
	for (int to = 0; e->queued > 0 && to < e->fabric.processes; to++)
		flush(e, to);
	if (e->copies != NULL)
		copy_on(e);
	if (e->tasks != NULL)
		tasks_on(e);
}

struct dtl_engine *dtl_engine_new(struct dtl_fabric f, const int64_t *ids, uintptr_t name, int processors) {
	struct dtl_engine *e = calloc(1, sizeof *e + (size_t)f.processes * sizeof e->links[0]);
	if (e == NULL)
		return NULL;
	e->fabric = f;
	e->rings = dtl_rings_of(f.processes);
	e->ids = ids;
	e->name = name;
	e->patient = processors >= f.processes ? BRIEF : 0;
	e->last_copy = &e->copies;
	e->last_task = &e->tasks;
	for (int i = 0; i < f.processes; i++)
		e->links[i].last = &e->links[i].first;
	return e;
}

// ---- Groups ----

static struct channel *take_out(struct dtl_engine *e, uint32_t number) {
	for (struct channel **at = &e->channels[number % HASHES], *c; (c = *at) != NULL; at = &c->next)
		if (c->number == number) {
			*at = c->next;
			return c;
		}
	return NULL;
}

static void drop(struct channel *c) {
	if (c == NULL)
		return;
	for (struct envelope *m = c->unexpected, *next; m != NULL; m = next) {
		next = m->next;
		free(m);
	}
	for (struct dtl_request *r = c->posted; r != NULL; r = r->next)
		r->posted = NULL; // nobody completes it any more
	free(c);
}

// hold takes the lock for what calls nothing of the library: also when that ends.
static void hold(struct dtl_engine *e) {
	uint32_t free = 0;
	for (; !__atomic_compare_exchange_n(&e->lock, &free, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED); free = 0)
		sched_yield();
}

struct dtl_group *dtl_group_new(struct dtl_engine *e, const int *processes, int size, uint32_t channels) {
	struct dtl_group *g = calloc(1, sizeof *g + (size_t)size * sizeof g->processes[0]);
	int *ranks = malloc((size_t)e->fabric.processes * sizeof *ranks), whole = g != NULL && ranks != NULL;
	if (whole) {
		g->engine = e;
		g->number = channels;
		g->size = size;
		g->ranks = ranks;
		memset(ranks, -1, (size_t)e->fabric.processes * sizeof *ranks);
		for (int rank = 0; rank < size; rank++)
			ranks[g->processes[rank] = processes[rank]] = rank;
		hold(e);
		for (int i = 0; i < DTL_CHANNELS; i++)
			whole = (g->channels[i] = channel_of(e, channels + (uint32_t)i)) != NULL && whole;
		give(e);
	}
	if (whole)
		return g;
	free(ranks);
	free(g);
	return NULL;
}

void dtl_group_free(struct dtl_group *g) {
	struct dtl_request **task = &g->engine->tasks;
	hold(g->engine);
	while (*task != NULL)
		if ((*task)->group == g)
			*task = (*task)->next;
		else
			task = &(*task)->next;
	g->engine->last_task = task;
	for (int i = 0; i < DTL_CHANNELS; i++)
		drop(take_out(g->engine, g->number + (uint32_t)i));
	give(g->engine);
	free(g->ranks);
	free(g);
}

// ---- Calls ----

// wait_for looks for the end of a request until patience has run out.
static int wait_for(struct dtl_request *r, int64_t patience, int *over) {
	enum { LOOKS_A_CLOCK = 32 };
	struct dtl_engine *e = r->engine;
	int64_t start = 0;
	for (int look = 0, looks = 0;; look++) {
		if (!(*over = __atomic_load_n(&r->complete, __ATOMIC_ACQUIRE))) {
			if (!take(e))
				return DTL_ENDED;
			e->moved = 0;
			dtl_progress(e);
			if (e->moved)
				look = 0;
			give(e);
			*over = __atomic_load_n(&r->complete, __ATOMIC_ACQUIRE);
		}
		if (*over || patience <= 0)
			return DTL_WELL;
		if (++looks % LOOKS_A_CLOCK == 0 || look > e->patient) {
			int64_t now = nanoseconds();
			if (start == 0)
				start = now;
			if (now - start >= patience)
				return DTL_WELL;
		}
		dtl_rest(e, look);
	}
}

// give_up frees a complete request as soon as nothing needs it, and returns how it has ended. The caller holds the lock.
static int give_up(struct dtl_request *r) {
	int rc = r->go_on != NULL ? r->rc : DTL_WELL;
	if (r->receives && !r->came.cancelled && r->came.bytes > r->bytes)
		rc = DTL_TRUNCATED;
	r->released = 1;
	forget(r);
	return rc;
}

int dtl_wait(struct dtl_request **request, int64_t patience, int *over, struct dtl_arrived *came) {
	int rc = wait_for(*request, patience, over);
	if (rc != DTL_WELL || !*over)
		return rc;
	struct dtl_engine *e = (*request)->engine;
	if (came != NULL)
		*came = (*request)->came;
	hold(e);
	rc = give_up(*request);
	give(e);
	*request = NULL;
	return rc;
}

int dtl_over(struct dtl_request **request, int *rc) {
	if (*request != NULL && !(*request)->complete)
		return 0;
	*rc = *request != NULL ? give_up(*request) : DTL_WELL;
	*request = NULL;
	return 1;
}

// finish waits for what has been started.
static int finish(struct dtl_request *r, int64_t patience, struct dtl_request **request, struct dtl_arrived *came) {
	int over = 0;
	*request = r;
	return patience < 0 ? DTL_WELL : dtl_wait(request, patience, &over, came);
}

static struct dtl_request *request_new(struct dtl_engine *e, const void *buf, int64_t bytes) {
	struct dtl_request *r = calloc(1, sizeof *r);
	if (r != NULL) {
		r->engine = e;
		r->buf = (char *)buf;
		r->bytes = bytes;
	}
	return r;
}

int dtl_begin_send(struct dtl_group *g, int channel, const void *buf, int64_t bytes, int dest, int tag, struct dtl_request **request) {
	struct dtl_engine *e = g->engine;
	int to = g->processes[dest], brief = bytes <= dtl_rings_eager(e->rings);
	struct dtl_record h = {.kind = brief ? DTL_SHORT : DTL_READY_TO_SEND, .channel = g->number + (uint32_t)channel, .tag = tag,
	                       .size = brief ? (uint32_t)bytes : 0, .bytes = (uint64_t)bytes};
	*request = NULL;
	if (brief && e->links[to].first == NULL && dtl_ring_write(&e->fabric, e->rings, &e->links[to].ring, to, &h, buf))
		return DTL_WELL;
	struct dtl_request *r = request_new(e, buf, bytes);
	if (r == NULL)
		return DTL_NO_MEMORY;
	r->record = (struct outgoing){.head = h, .data = buf, .of = r};
	if (!brief) {
		r->record.head.id = (uint64_t)(uintptr_t)r;
		r->address = (uint64_t)(uintptr_t)buf;
		r->record.head.size = e->ids != NULL ? sizeof r->address : 0;
		r->record.data = (const char *)&r->address;
	}
	put_out(e, to, &r->record);
	*request = r;
	return DTL_WELL;
}

int dtl_send(struct dtl_group *g, int channel, const void *buf, int64_t bytes, int dest, int tag, int64_t patience,
             struct dtl_request **request) {
	struct dtl_arrived unused;
	*request = NULL;
	if (!take(g->engine))
		return DTL_ENDED;
	int rc = dtl_begin_send(g, channel, buf, bytes, dest, tag, request);
	give(g->engine);
	return *request != NULL ? finish(*request, patience, request, &unused) : rc;
}

// receive_new returns a receive that nobody knows yet.
static struct dtl_request *receive_new(struct dtl_group *g, void *buf, int64_t bytes, int source, int tag) {
	struct dtl_request *r = request_new(g->engine, buf, bytes);
	if (r != NULL) {
		r->receives = 1;
		r->group = g;
		r->source = source == DTL_SOURCES ? source : g->processes[source];
		r->tag = tag;
	}
	return r;
}

int dtl_begin_receive(struct dtl_group *g, int channel, void *buf, int64_t bytes, int source, int tag, struct dtl_request **request) {
	struct channel *c = g->channels[channel];
	struct dtl_request *r = *request = receive_new(g, buf, bytes, source, tag);
	if (r == NULL)
		return DTL_NO_MEMORY;
	if (!take_unexpected(c, r)) {
		r->posted = c;
		*c->last_posted = r;
		c->last_posted = &r->next;
	}
	return DTL_WELL;
}

int dtl_receive(struct dtl_group *g, int channel, void *buf, int64_t bytes, int source, int tag, int64_t patience,
                struct dtl_request **request, struct dtl_arrived *came) {
	*request = NULL;
	if (!take(g->engine))
		return DTL_ENDED;
	int rc = dtl_begin_receive(g, channel, buf, bytes, source, tag, request);
	give(g->engine);
	return rc == DTL_WELL ? finish(*request, patience, request, came) : rc;
}

int dtl_try_receive(struct dtl_group *g, void *buf, int64_t bytes, int source, int tag, int *found, struct dtl_request **request,
                    struct dtl_arrived *came) {
	struct channel *c = g->channels[DTL_MESSAGES];
	*request = NULL;
	*found = 0;
	if (!take(g->engine))
		return DTL_ENDED;
	dtl_progress(g->engine);
	if (c->unexpected != NULL) {
		struct dtl_request *r = receive_new(g, buf, bytes, source, tag);
		*found = r != NULL && take_unexpected(c, r);
		if (*found)
			*request = r;
		else
			free(r);
	}
	give(g->engine);
	return *found ? finish(*request, 0, request, came) : DTL_WELL;
}

void dtl_moved(struct dtl_group *g) { g->engine->moved = 1; }

int dtl_begin(struct dtl_group *g, dtl_task go_on, void *arg, int64_t patience, struct dtl_request **request) {
	struct dtl_engine *e = g->engine;
	struct dtl_request *r = request_new(e, NULL, 0);
	struct dtl_arrived unused;
	*request = NULL;
	if (r == NULL)
		return DTL_NO_MEMORY;
	if (!take(e)) {
		free(r);
		return DTL_ENDED;
	}
	r->group = g;
	r->go_on = go_on;
	r->arg = arg;
	if ((r->rc = go_on(arg)) != DTL_GOES_ON) {
		complete(r);
	} else {
		*e->last_task = r;
		e->last_task = &r->next;
	}
	give(e);
	return finish(r, patience, request, &unused);
}

int dtl_cancel(struct dtl_request *r) {
	struct dtl_engine *e = r->engine;
	if (!take(e))
		return DTL_ENDED;
	for (struct dtl_request **at = r->posted != NULL ? &r->posted->posted : NULL; at != NULL && *at != NULL; at = &(*at)->next)
		if (*at == r) {
			unpost(r->posted, at);
			r->came = (struct dtl_arrived){0, r->tag, 1, 0};
			complete(r);
			break;
		}
	give(e);
	return DTL_WELL;
}

int dtl_direct_send(uint64_t group, const void *buf, int64_t n, int type, int dest, int tag, int64_t patience, uint64_t *request) {
	(void)type; // bytes
	return dtl_send((struct dtl_group *)(uintptr_t)group, DTL_MESSAGES, buf, n, dest, tag, patience, (struct dtl_request **)request);
}

int dtl_direct_receive(uint64_t group, void *buf, int64_t n, int type, int source, int tag, int64_t patience, uint64_t *request,
                       struct dtl_arrived *came) {
	(void)type;
	return dtl_receive((struct dtl_group *)(uintptr_t)group, DTL_MESSAGES, buf, n, source, tag, patience,
	                   (struct dtl_request **)request, came);
}

int dtl_direct_wait(uint64_t group, uint64_t *request, int64_t patience, int *over, struct dtl_arrived *came) {
	(void)group;
	return dtl_wait((struct dtl_request **)request, patience, over, came);
}

int dtl_direct_cancel(uint64_t request) { return dtl_cancel((struct dtl_request *)(uintptr_t)request); }

int dtl_direct_peek(uint64_t request, int *over) { return wait_for((struct dtl_request *)(uintptr_t)request, 0, over); }
