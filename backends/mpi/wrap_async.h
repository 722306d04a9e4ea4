// Collectives that do not block. Part of wrappers.h. n counts the elements of one rank, size the ranks.

// STARTED leaves what call started in request. Types may be freed meanwhile.
#define STARTED(call) \
	do { \
		Request started = REQUEST_NULL; \
		int rc = (call); \
		*request = (uint64_t)(uintptr_t)started; \
		return rc; \
	} while (0)

static int wrap_ibarrier(uint64_t comm, uint64_t *request) {
	REQUIRE_ALIVE();
	STARTED(mpi.Ibarrier(comm_of(comm), &started));
}

static int wrap_ibcast(uint64_t comm, void *buf, int64_t n, int type, int root, uint64_t *request) {
	struct elements e;
	REQUIRE_ALIVE();
	RETURN_IF(elements_of(n, n, type, &e));
	STARTED(elements_done(&e, mpi.Ibcast(buf, e.count, e.type, root, comm_of(comm), &started)));
}

static int wrap_igather(uint64_t comm, const void *send, void *recv, int64_t n, int64_t size, int type, int root,
                        uint64_t *request) {
	struct elements e;
	REQUIRE_ALIVE();
	RETURN_IF(elements_of(n, n * size, type, &e));
	STARTED(elements_done(&e, mpi.Igather(send, e.count, e.type, recv, e.count, e.type, root, comm_of(comm), &started)));
}

static int wrap_iallgather(uint64_t comm, const void *send, void *recv, int64_t n, int64_t size, int type,
                           uint64_t *request) {
	struct elements e;
	REQUIRE_ALIVE();
	RETURN_IF(elements_of(n, n * size, type, &e));
	STARTED(elements_done(&e, mpi.Iallgather(send, e.count, e.type, recv, e.count, e.type, comm_of(comm), &started)));
}

// wrap_iallreduce starts one part of at most the limit: Go makes the parts.
static int wrap_iallreduce(uint64_t comm, const void *send, void *recv, int64_t n, int type, int op, uint64_t *request) {
	REQUIRE_ALIVE();
	STARTED(mpi.Iallreduce(send, recv, (int)n, types[type], ops[type][op], comm_of(comm), &started));
}
