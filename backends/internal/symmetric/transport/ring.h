// Records between processes, in rings of symmetric memory.
//
// Each process has a ring of bytes for each process, itself too, in symmetric memory: the sender writes it and the
// receiver reads it. Two counters say how far each of them is; they lie where the other looks at them:
//
//	tail     bytes written, in the receiver's memory, written by the sender
//	credit   bytes read, in the sender's memory, written by the receiver
//
// In the ring are records, which do not wrap around its end. A short message is one record, sent eagerly. A long one is
// announced by one; when its receiver has room it says so with another, and the elements follow in pieces, unless the
// receiver can copy them from where they lie, and says when it has. So nobody keeps a long message for a receiver that does
// not want it yet, and no ring is full of it.
#ifndef DTL_RING_H
#define DTL_RING_H

#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// How many bytes apart two processes write, so that they do not share a line of the cache.
enum { DTL_CACHE_LINE = 64 };

enum {
	DTL_LEAST_RING = 4 << 10,
	DTL_MOST_RING = 64 << 10,
	DTL_ALL_RINGS = 4 << 20, // what all rings of a process take together, if none has to be smaller than the least
};

// Where the rings lie in the symmetric memory.
struct dtl_rings {
	int64_t processes, size;
};

static inline struct dtl_rings dtl_rings_of(int64_t processes) {
	struct dtl_rings r = {processes, DTL_MOST_RING};
	while (r.size > DTL_LEAST_RING && r.size * processes > DTL_ALL_RINGS)
		r.size /= 2;
	return r;
}

static inline int64_t dtl_round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }
static inline int64_t dtl_ring_tail(int64_t of) { return of * 2 * DTL_CACHE_LINE; }
static inline int64_t dtl_ring_credit(int64_t of) { return of * 2 * DTL_CACHE_LINE + DTL_CACHE_LINE; }

static inline int64_t dtl_ring_records(struct dtl_rings r, int64_t of) {
	return dtl_round_up(r.processes * 2 * DTL_CACHE_LINE, 4096) + of * r.size;
}

// dtl_rings_bytes returns how much memory they take, from the start of the symmetric memory on.
static inline int64_t dtl_rings_bytes(struct dtl_rings r) { return dtl_ring_records(r, r.processes); }

// dtl_rings_eager is the length of the longest message that goes in one record, dtl_rings_piece that of the longest record.
static inline int64_t dtl_rings_eager(struct dtl_rings r) { return r.size / 8; }
static inline int64_t dtl_rings_piece(struct dtl_rings r) { return r.size / 4; }

// How a process reaches the symmetric memory of all. Functions take the address that a place has in this process's part.
struct dtl_fabric {
	int me, processes;
	char *own;    // this process's part
	char **parts; // where each process's part is mapped here; NULL: nowhere, so the functions are called
	void (*put)(void *to, const void *from, size_t n, int there);
	void (*post)(uint64_t *to, uint64_t value, int there); // after all that was put there before
	void (*advance)(void);                                 // moves what others have sent; NULL: nothing needs that
};

// What a record is.
enum dtl_kind {
	DTL_SKIP,           // nothing, up to the end of the ring
	DTL_SHORT,          // a short message
	DTL_READY_TO_SEND,  // announces a long message: id is its sender's; its address follows where others may read it
	DTL_CLEAR_TO_SEND,  // of its receiver: id is the sender's, bytes the receiver's
	DTL_FRAGMENT,       // of its elements: id is the receiver's
	DTL_COPIED,         // of its receiver, who has read it: id is the sender's
	DTL_ACTIVE_REQUEST, // of a window, as package window says
	DTL_ACTIVE_REPLY,   // to an active request: id is the request's
};

// What each record starts with; size bytes follow.
struct dtl_record {
	uint32_t kind, channel;
	int32_t tag;
	uint32_t size;
	uint64_t bytes, id;
};

// How far this process and another are.
struct dtl_link {
	uint64_t written, read, credited; // credited: of what was read, what the sender knows
	uint64_t room;                    // what the receiver has read, as far as this process knows
};

// dtl_ring_write writes a record into another's ring, and says whether there was room.
int dtl_ring_write(const struct dtl_fabric *f, struct dtl_rings r, struct dtl_link *l, int to, const struct dtl_record *h,
                   const void *data);

// dtl_ring_next returns the next record from a process that was not passed yet; NULL where there is none.
const struct dtl_record *dtl_ring_next(const struct dtl_fabric *f, struct dtl_rings r, struct dtl_link *l, int from);

// dtl_ring_pass passes that record, whose bytes its sender may write over from then on.
void dtl_ring_pass(struct dtl_link *l, const struct dtl_record *h);

#pragma GCC visibility pop

#endif
