// Messages between processes: their matching with receives, requests, and the engine that progresses them.
//
// Here is all that moves messages, for Go (engine.go) and for code outside Go that sends and receives short messages by
// itself. It moves only while somebody calls, as with MPI, whichever request that waits for. Each function takes the
// engine's lock, but for those that say otherwise.
#ifndef DTL_MESSAGE_H
#define DTL_MESSAGE_H

#include <stdint.h>

#include "ring.h"

#pragma GCC visibility push(hidden)

enum { DTL_SOURCES = -1, DTL_TAGS = -1 }; // any of them: core/backend.AnySource and AnyTag

// What a call returns. After DTL_ENDED, which says that the library behind the fabric ends, nothing can be known.
enum { DTL_WELL, DTL_TRUNCATED, DTL_NO_MEMORY, DTL_ENDED };

// The channels of a group, whose traffic never meets.
enum { DTL_MESSAGES, DTL_COLLECTIVES, DTL_BACKGROUND, DTL_CHANNELS };

// What is known of a message that came: core/backend.DirectStatus.
struct dtl_arrived {
	int source, tag, cancelled;
	int64_t bytes;
};

struct dtl_engine;
struct dtl_request;

// dtl_engine_new returns the engine of a process, whose rings are at the start of the symmetric memory; NULL without memory.
// name is what dtl_active knows it by, processors how many this process may run on. It is never freed, and keeps f and ids, which are the system's numbers of the
// processes whose memory is read; NULL: none is.
struct dtl_engine *dtl_engine_new(struct dtl_fabric f, const int64_t *ids, uintptr_t name, int processors);

// dtl_engine_lock is the address of the lock's word, for dtl_lock's like in Go, and dtl_engine_over of the word that is 1 when
// the library ends.
uint32_t *dtl_engine_lock(struct dtl_engine *e);
uint32_t *dtl_engine_over(struct dtl_engine *e);

// dtl_active, which is Go's, does what an active message asks for. The lock is held.
void dtl_active(uintptr_t name, int from, struct dtl_record *h, void *data);

// dtl_record_send has a record written after all that waits already. The caller holds the lock. 0 without memory.
int dtl_record_send(struct dtl_engine *e, int to, const struct dtl_record *h, const void *data);

// dtl_progress moves what can be moved. The caller holds the lock.
void dtl_progress(struct dtl_engine *e);

// dtl_rest passes a moment between two looks at what others do, of which it says how many there were.
void dtl_rest(struct dtl_engine *e, int look);

// A group is some of the processes, in an order: core/backend.Communicator. Its address is the number that code outside Go
// knows it by.
struct dtl_group;

// dtl_group_new returns a group, whose channels are numbered from a number on; NULL without memory.
struct dtl_group *dtl_group_new(struct dtl_engine *e, const int *processes, int size, uint32_t channels);

// dtl_group_free drops what came to a group. Its receives that wait are never complete. It calls nothing of the library.
void dtl_group_free(struct dtl_group *g);

// dtl_send and dtl_receive start an operation and wait for about so many nanoseconds. What is then under way is left in
// request, else NULL.
int dtl_send(struct dtl_group *g, int channel, const void *buf, int64_t bytes, int dest, int tag, int64_t patience,
             struct dtl_request **request);
int dtl_receive(struct dtl_group *g, int channel, void *buf, int64_t bytes, int source, int tag, int64_t patience,
                struct dtl_request **request, struct dtl_arrived *came);

// dtl_try_receive is dtl_receive of a message that has come, and says in found whether there is one.
int dtl_try_receive(struct dtl_group *g, void *buf, int64_t bytes, int source, int tag, int *found, struct dtl_request **request,
                    struct dtl_arrived *came);

// dtl_wait waits for about so many nanoseconds, and frees the request if it is complete.
int dtl_wait(struct dtl_request **request, int64_t patience, int *complete, struct dtl_arrived *came);

// dtl_cancel takes a receive back that no message has come to.
int dtl_cancel(struct dtl_request *request);

// dtl_begin_send and dtl_begin_receive are dtl_send and dtl_receive without waiting, by who holds the lock; dtl_over says whether what they left in request is complete, and frees it if so. They return what the operation has
// come to, so far.
int dtl_begin_send(struct dtl_group *g, int channel, const void *buf, int64_t bytes, int dest, int tag, struct dtl_request **request);
int dtl_begin_receive(struct dtl_group *g, int channel, void *buf, int64_t bytes, int source, int tag, struct dtl_request **request);
int dtl_over(struct dtl_request **request, int *rc);

// What goes on in each call of dtl_progress until it has ended, under the lock. go_on does what can be done now, and returns
// DTL_GOES_ON or how it has ended: then it is not called again. It is never called after its group is freed.
enum { DTL_GOES_ON = -1 };
typedef int (*dtl_task)(void *arg);

// dtl_moved says, by a task, that it has done something that takes a while: who waits looks again at once.
void dtl_moved(struct dtl_group *g);

// dtl_begin starts such a task, and waits for about so many nanoseconds.
int dtl_begin(struct dtl_group *g, dtl_task go_on, void *arg, int64_t patience, struct dtl_request **request);

// These have the signatures that core/backend.Direct states.
int dtl_direct_send(uint64_t group, const void *buf, int64_t n, int type, int dest, int tag, int64_t patience, uint64_t *request);
int dtl_direct_receive(uint64_t group, void *buf, int64_t n, int type, int source, int tag, int64_t patience, uint64_t *request,
                       struct dtl_arrived *came);
int dtl_direct_wait(uint64_t group, uint64_t *request, int64_t patience, int *complete, struct dtl_arrived *came);
int dtl_direct_cancel(uint64_t request);
int dtl_direct_peek(uint64_t request, int *complete);

#pragma GCC visibility pop

#endif
