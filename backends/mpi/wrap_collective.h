// Collectives. Part of wrappers.h. n counts the elements of one rank, size the ranks.

static int wrap_barrier(uint64_t comm) {
	REQUIRE_ALIVE();
	return mpi.Barrier(comm_of(comm));
}

// FOR_PARTS runs body for each part of at most the limit, and once for no elements: others may wait.
#define FOR_PARTS(n, type, body) FOR_PARTS_OF(dtl_mpi_count_limit, n, type, body)

#define FOR_PARTS_OF(limit, n, type, body) \
	do { \
		int64_t left_ = (n), limit_ = (limit); \
		int64_t offset = 0; \
		REQUIRE_ALIVE(); \
		do { \
			int part = (int)(left_ < limit_ ? left_ : limit_); \
			RETURN_IF(body); \
			offset += (int64_t)part * sizes[type]; \
			left_ -= part; \
		} while (left_ > 0); \
		return SUCCESS; \
	} while (0)

// at is the address of a part; a buffer that this rank ignores has none.
static void *at(const void *buf, int64_t offset) { return buf == NULL ? NULL : (char *)buf + offset; }

static int wrap_bcast(uint64_t comm, void *buf, int64_t n, int type, int root) {
	FOR_PARTS(n, type, mpi.Bcast(at(buf, offset), part, types[type], root, comm_of(comm)));
}

static int wrap_reduce(uint64_t comm, const void *send, void *recv, int64_t n, int type, int op, int root) {
	FOR_PARTS(n, type,
	          mpi.Reduce(at(send, offset), at(recv, offset), part, types[type], ops[type][op], root, comm_of(comm)));
}

static int wrap_allreduce(uint64_t comm, const void *send, void *recv, int64_t n, int type, int op) {
	FOR_PARTS(n, type, mpi.Allreduce(at(send, offset), at(recv, offset), part, types[type], ops[type][op], comm_of(comm)));
}

// A scan's parts have fewer bytes: MPICH takes three times as much memory for itself, on every rank.
enum { SCAN_BYTES = 1 << 28 };

static int64_t scan_limit(int type) {
	int64_t most = SCAN_BYTES / sizes[type];
	return most < dtl_mpi_count_limit ? most : dtl_mpi_count_limit;
}

static int wrap_scan(uint64_t comm, const void *send, void *recv, int64_t n, int type, int op) {
	FOR_PARTS_OF(scan_limit(type), n, type,
	             mpi.Scan(at(send, offset), at(recv, offset), part, types[type], ops[type][op], comm_of(comm)));
}

static int wrap_exscan(uint64_t comm, const void *send, void *recv, int64_t n, int type, int op) {
	FOR_PARTS_OF(scan_limit(type), n, type,
	             mpi.Exscan(at(send, offset), at(recv, offset), part, types[type], ops[type][op], comm_of(comm)));
}

// wrap_reduce_scatter reduces to one rank after the other where libraries, which add counts up in ints, cannot do all
// at once. What moves is as much.
static int wrap_reduce_scatter(uint64_t comm, const void *send, void *recv, int64_t n, int64_t size, int type, int op) {
	REQUIRE_ALIVE();
	if (n * size <= dtl_mpi_count_limit)
		return mpi.Reduce_scatter_block(send, recv, (int)n, types[type], ops[type][op], comm_of(comm));
	for (int root = 0; root < size; root++)
		RETURN_IF(wrap_reduce(comm, at(send, root * n * sizes[type]), recv, n, type, op, root));
	return SUCCESS;
}

static int wrap_gather(uint64_t comm, const void *send, void *recv, int64_t n, int64_t size, int type, int root) {
	struct elements e;
	REQUIRE_ALIVE();
	RETURN_IF(elements_of(n, n * size, type, &e));
	return elements_done(&e, mpi.Gather(send, e.count, e.type, recv, e.count, e.type, root, comm_of(comm)));
}

static int wrap_scatter(uint64_t comm, const void *send, void *recv, int64_t n, int64_t size, int type, int root) {
	struct elements e;
	REQUIRE_ALIVE();
	RETURN_IF(elements_of(n, n * size, type, &e));
	return elements_done(&e, mpi.Scatter(send, e.count, e.type, recv, e.count, e.type, root, comm_of(comm)));
}

static int wrap_allgather(uint64_t comm, const void *send, void *recv, int64_t n, int64_t size, int type) {
	struct elements e;
	REQUIRE_ALIVE();
	RETURN_IF(elements_of(n, n * size, type, &e));
	return elements_done(&e, mpi.Allgather(send, e.count, e.type, recv, e.count, e.type, comm_of(comm)));
}

static int wrap_alltoall(uint64_t comm, const void *send, void *recv, int64_t n, int64_t size, int type) {
	struct elements e;
	REQUIRE_ALIVE();
	RETURN_IF(elements_of(n, n * size, type, &e));
	return elements_done(&e, mpi.Alltoall(send, e.count, e.type, recv, e.count, e.type, comm_of(comm)));
}
