// The calls of an MPI library without its types: what is the same for every ABI, and what Go sees.
//
// Handles travel as uint64_t, counts as int64_t, element types and operators as the numbers of core/dtype and
// core/kernel, ranks and tags with the wildcards of core/backend.
#ifndef DTL_MPI_CALLS_H
#define DTL_MPI_CALLS_H

#include <stdint.h>

enum { DTL_ANY_SOURCE = -1, DTL_ANY_TAG = -1, DTL_PROC_NULL = -2, DTL_EVERY = -1 };

// The element types in the order of core/dtype, and MPI's. Of truth values, which are bytes that are 0 or 1, MIN and MAX
// are AND and OR; of C_BOOL they are not defined.
#define DTL_MPI_TYPES(X) \
	X(FLOAT64, DOUBLE) X(FLOAT32, FLOAT) \
	X(INT64, INT64_T) X(INT32, INT32_T) X(INT16, INT16_T) X(INT8, INT8_T) \
	X(UINT64, UINT64_T) X(UINT32, UINT32_T) X(UINT16, UINT16_T) X(UINT8, UINT8_T) \
	X(BOOL, UINT8_T) X(COMPLEX64, C_FLOAT_COMPLEX) X(COMPLEX128, C_DOUBLE_COMPLEX)

enum {
	DTL_NO_TYPE,
#define DTL_MPI_TYPE(name, of_mpi) DTL_##name,
	DTL_MPI_TYPES(DTL_MPI_TYPE)
#undef DTL_MPI_TYPE
	DTL_TYPES
};

enum {
	DTL_SUM,
	DTL_PROD,
	DTL_MIN,
	DTL_MAX,
	DTL_LAND,
	DTL_LOR,
	DTL_BAND,
	DTL_BOR,
	DTL_BXOR,
	DTL_MINLOC,
	DTL_MAXLOC,
	DTL_OPS,
	DTL_REPLACE = DTL_OPS, // of windows only
	DTL_NO_OP,
	DTL_WINDOW_OPS
};

// What a call returns, instead of MPI's own code, when somebody has finalised MPI: MPI would abort.
enum { DTL_MPI_FINALIZED = -1 };

// The most elements that one MPI call is given: INT_MAX, but for tests.
extern int64_t dtl_mpi_count_limit;

struct dtl_status {
	int source;
	int tag;
	int cancelled; // of wait and wait_for only
	int64_t bytes;
};

// What is sent to one rank, or comes from it. The address is a number, so that Go may keep it in its own memory.
struct dtl_part {
	uintptr_t addr;
	int64_t bytes;
};

// What messages have gone from a rank by a communicator, and come to it: of all ranks together as many have come as have
// gone, unless some are under way. The functions for messages know a communicator by the address of its traffic, which is
// 0 where a request is no receive.
struct dtl_mpi_traffic {
	uint64_t comm;
	int64_t sent, received;
	int64_t under_way, of_all; // of this rank, and of all
};

// X(name, (parameters), (arguments)). All return an error code of MPI; n counts elements. patience is for how many
// nanoseconds a call waits, about, and negative for not to ask; what is then under way is left in request, else 0.
#define DTL_MPI_CALLS(X) \
	X(initialized, (int *flag), (flag)) \
	X(finalized, (int *flag), (flag)) \
	X(init, (int *level), (level)) \
	X(query_thread, (int *level), (level)) \
	X(program, (int *number), (number)) \
	X(is_thread_main, (int *flag), (flag)) \
	X(finalize, (int *was_ours), (was_ours)) \
	X(abort, (int code), (code)) \
	X(error_string, (int code, char *text, int *length), (code, text, length)) \
	X(library_version, (char *text, int *length), (text, length)) \
	X(world, (uint64_t *comm), (comm)) \
	X(foreign, (uintptr_t handle, uint64_t *comm, int *null, int *inter), (handle, comm, null, inter)) \
	X(describe, (uint64_t comm, int *rank, int *size, int64_t *tags), (comm, rank, size, tags)) \
	X(dup, (uint64_t comm, uint64_t *to), (comm, to)) \
	X(split, (uint64_t comm, int color, int key, uint64_t *to, int *null), (comm, color, key, to, null)) \
	X(split_by_node, (uint64_t comm, uint64_t *to), (comm, to)) \
	X(free, (uint64_t comm), (comm)) \
	X(advance, (int *found), (found)) \
	X(send_for, (uint64_t traffic, const void *buf, int64_t n, int type, int dest, int tag, int64_t patience, \
	             uint64_t *request), (traffic, buf, n, type, dest, tag, patience, request)) \
	X(recv_for, (uint64_t traffic, void *buf, int64_t n, int type, int source, int tag, int64_t patience, \
	             uint64_t *request, struct dtl_status *st), (traffic, buf, n, type, source, tag, patience, request, st)) \
	X(try_recv, (uint64_t traffic, void *buf, int64_t n, int type, int source, int tag, int *flag, struct dtl_status *st), \
	  (traffic, buf, n, type, source, tag, flag, st)) \
	X(match, (uint64_t traffic, int source, int tag, int *flag, uint64_t *message, struct dtl_status *st), \
	  (traffic, source, tag, flag, message, st)) \
	X(take, (uint64_t message, void *buf, int64_t n, int type), (message, buf, n, type)) \
	X(drop, (uint64_t traffic, int *flag), (traffic, flag)) \
	X(wait, (uint64_t traffic, uint64_t *request, struct dtl_status *st), (traffic, request, st)) \
	X(wait_for, (uint64_t traffic, uint64_t *request, int64_t patience, int *flag, struct dtl_status *st), \
	  (traffic, request, patience, flag, st)) \
	X(peek, (uint64_t request, int *flag), (request, flag)) \
	X(cancel, (uint64_t request), (request)) \
	X(barrier, (uint64_t comm), (comm)) \
	X(bcast, (uint64_t comm, void *buf, int64_t n, int type, int root), (comm, buf, n, type, root)) \
	X(gather, (uint64_t comm, const void *send, void *recv, int64_t n, int64_t size, int type, int root), \
	  (comm, send, recv, n, size, type, root)) \
	X(scatter, (uint64_t comm, const void *send, void *recv, int64_t n, int64_t size, int type, int root), \
	  (comm, send, recv, n, size, type, root)) \
	X(allgather, (uint64_t comm, const void *send, void *recv, int64_t n, int64_t size, int type), \
	  (comm, send, recv, n, size, type)) \
	X(alltoall, (uint64_t comm, const void *send, void *recv, int64_t n, int64_t size, int type), \
	  (comm, send, recv, n, size, type)) \
	X(exchange, (uint64_t comm, const struct dtl_part *send, const struct dtl_part *recv, int rank, int size, int tag), \
	  (comm, send, recv, rank, size, tag)) \
	X(reduce, (uint64_t comm, const void *send, void *recv, int64_t n, int type, int op, int root), \
	  (comm, send, recv, n, type, op, root)) \
	X(allreduce, (uint64_t comm, const void *send, void *recv, int64_t n, int type, int op), \
	  (comm, send, recv, n, type, op)) \
	X(scan, (uint64_t comm, const void *send, void *recv, int64_t n, int type, int op), (comm, send, recv, n, type, op)) \
	X(exscan, (uint64_t comm, const void *send, void *recv, int64_t n, int type, int op), (comm, send, recv, n, type, op)) \
	X(reduce_scatter, (uint64_t comm, const void *send, void *recv, int64_t n, int64_t size, int type, int op), \
	  (comm, send, recv, n, size, type, op)) \
	X(ibarrier, (uint64_t comm, uint64_t *request), (comm, request)) \
	X(ibcast, (uint64_t comm, void *buf, int64_t n, int type, int root, uint64_t *request), \
	  (comm, buf, n, type, root, request)) \
	X(igather, (uint64_t comm, const void *send, void *recv, int64_t n, int64_t size, int type, int root, \
	            uint64_t *request), (comm, send, recv, n, size, type, root, request)) \
	X(iallgather, (uint64_t comm, const void *send, void *recv, int64_t n, int64_t size, int type, \
	               uint64_t *request), (comm, send, recv, n, size, type, request)) \
	X(iallreduce, (uint64_t comm, const void *send, void *recv, int64_t n, int type, int op, uint64_t *request), \
	  (comm, send, recv, n, type, op, request)) \
	X(windows_lock, (int *lock), (lock)) \
	X(expose, (uint64_t comm, uintptr_t base, int64_t bytes, uint64_t *win), (comm, base, bytes, win)) \
	X(allocate_window, (uint64_t comm, int64_t bytes, int words, uintptr_t *base, uint64_t *win), \
	  (comm, bytes, words, base, win)) \
	X(close_window, (uint64_t win), (win)) \
	X(put, (uint64_t win, uintptr_t from, int64_t n, int type, int target, int64_t offset), \
	  (win, from, n, type, target, offset)) \
	X(get, (uint64_t win, uintptr_t into, int64_t n, int type, int target, int64_t offset), \
	  (win, into, n, type, target, offset)) \
	X(accumulate, (uint64_t win, uintptr_t from, int64_t n, int type, int op, int target, int64_t offset), \
	  (win, from, n, type, op, target, offset)) \
	X(fetch_and_op, (uint64_t win, uintptr_t from, uintptr_t into, int64_t n, int type, int op, int target, \
	                 int64_t offset), (win, from, into, n, type, op, target, offset)) \
	X(compare_and_swap, (uint64_t win, uintptr_t compare, uintptr_t swap, uintptr_t into, int size, int target, \
	                     int64_t offset), (win, compare, swap, into, size, target, offset)) \
	X(flush, (uint64_t win, int target, int local), (win, target, local)) \
	X(sync, (uint64_t win), (win))

// A symbol of the library, and where its address goes.
struct dtl_mpi_symbol {
	const char *name;
	void **slot;
};

// One ABI: what to look up, what to call when all of it is there, and the calls.
struct dtl_mpi {
	const char *abi;
	const struct dtl_mpi_symbol *symbols;
	int symbol_count;
	void (*ready)(void);
#define DTL_MPI_FIELD(name, parameters, arguments) int(*name) parameters;
	DTL_MPI_CALLS(DTL_MPI_FIELD)
#undef DTL_MPI_FIELD
};

extern const struct dtl_mpi dtl_mpi_mpich, dtl_mpi_openmpi, dtl_mpi_standard;

// A device, and what makes it current for the calling thread, and what was before: backend.Current.
struct dtl_mpi_device {
	const void *number;
	int (*enter)(const void *number, int *outer);
	int (*leave)(const void *number, int outer, int rc);
};

// dtl_mpi_guarded returns the table for a library that knows of devices; there is one. dtl_mpi_guard_by has its calls make a device current
// from now on: the first that it is given.
const struct dtl_mpi *dtl_mpi_guarded(const struct dtl_mpi *of);
void dtl_mpi_guard_by(struct dtl_mpi_device by);

// dtl_mpi_send(m, …) and so on: cgo cannot call a pointer.
#define DTL_MPI_UNWRAP(...) __VA_ARGS__
#define DTL_MPI_FUNCTION(name, parameters, arguments) \
	static inline int dtl_mpi_##name(const struct dtl_mpi *m, DTL_MPI_UNWRAP parameters) { return m->name arguments; }
DTL_MPI_CALLS(DTL_MPI_FUNCTION)
#undef DTL_MPI_FUNCTION

// The shortest calls are so short that Go's checks of pointers show. Element memory is not Go's, so its address may come
// as a number, and what else comes back may do so by value.
static inline int dtl_mpi_allreduce_at(const struct dtl_mpi *m, uint64_t comm, uintptr_t send, uintptr_t recv, int64_t n,
                                       int type, int op) {
	return m->allreduce(comm, (const void *)send, (void *)recv, n, type, op);
}

struct dtl_begun {
	int rc;
	uint64_t request;
	struct dtl_status st;
};

static inline struct dtl_begun dtl_mpi_send_at(uintptr_t m, uint64_t traffic, uintptr_t buf, int64_t n, int type, int dest,
                                               int tag, int64_t patience) {
	struct dtl_begun b = {0};
	b.rc = dtl_mpi_send_for((const struct dtl_mpi *)m, traffic, (const void *)buf, n, type, dest, tag, patience, &b.request);
	return b;
}

static inline struct dtl_begun dtl_mpi_recv_at(uintptr_t m, uint64_t traffic, uintptr_t buf, int64_t n, int type, int source,
                                               int tag, int64_t patience) {
	struct dtl_begun b = {0};
	b.rc = dtl_mpi_recv_for((const struct dtl_mpi *)m, traffic, (void *)buf, n, type, source, tag, patience, &b.request, &b.st);
	return b;
}

static inline void dtl_mpi_call_ready(const struct dtl_mpi *m) { m->ready(); }

#endif
