// Point to point. Part of wrappers.h.

static int wrap_send(uint64_t comm, const void *buf, int64_t n, int type, int dest, int tag) {
	struct elements e;
	REQUIRE_ALIVE();
	RETURN_IF(elements_of(n, n, type, &e));
	return elements_done(&e, mpi.Send(buf, e.count, e.type, rank_in(dest), tag, comm_of(comm)));
}

// drop receives a message that does not fit where the caller wanted it.
static int drop(Message *message, int64_t bytes) {
	struct elements e;
	void *all = malloc(bytes);
	if (all == NULL)
		return ERR_TRUNCATE;
	int rc = elements_of(bytes, bytes, DTL_UINT8, &e);
	if (rc == SUCCESS)
		elements_done(&e, mpi.Mrecv(all, e.count, e.type, message, STATUS_IGNORE));
	free(all);
	return ERR_TRUNCATE;
}

// recv_checked looks at a message's length before it is received.
static int recv_checked(Comm comm, void *buf, int64_t n, int type, int source, int tag, struct dtl_status *st) {
	struct elements e;
	Message message;
	Status native = {0};
	RETURN_IF(mpi.Mprobe(source, tag, comm, &message, &native));
	RETURN_IF(status_out(&native, st));
	if (st->bytes > n * sizes[type])
		return drop(&message, st->bytes);
	RETURN_IF(elements_of(n, n, type, &e));
	return elements_done(&e, mpi.Mrecv(buf, e.count, e.type, &message, STATUS_IGNORE));
}

static int wrap_recv(uint64_t comm, void *buf, int64_t n, int type, int source, int tag, struct dtl_status *st) {
	struct elements e;
	Status native = {0};
	REQUIRE_ALIVE();
	if (RECV_OVERRUNS)
		return recv_checked(comm_of(comm), buf, n, type, rank_in(source), tag_in(tag), st);
	RETURN_IF(elements_of(n, n, type, &e));
	RETURN_IF(elements_done(
	    &e, mpi.Recv(buf, e.count, e.type, rank_in(source), tag_in(tag), comm_of(comm), &native)));
	return status_out(&native, st);
}

static int wrap_isend(uint64_t comm, const void *buf, int64_t n, int type, int dest, int tag, uint64_t *request) {
	struct elements e;
	Request started = REQUEST_NULL;
	REQUIRE_ALIVE();
	RETURN_IF(elements_of(n, n, type, &e));
	int rc = elements_done(&e, mpi.Isend(buf, e.count, e.type, rank_in(dest), tag, comm_of(comm), &started));
	*request = (uint64_t)(uintptr_t)started;
	return rc;
}

static int wrap_irecv(uint64_t comm, void *buf, int64_t n, int type, int source, int tag, uint64_t *request) {
	struct elements e;
	Request started = REQUEST_NULL;
	REQUIRE_ALIVE();
	RETURN_IF(elements_of(n, n, type, &e));
	int rc = elements_done(
	    &e, mpi.Irecv(buf, e.count, e.type, rank_in(source), tag_in(tag), comm_of(comm), &started));
	*request = (uint64_t)(uintptr_t)started;
	return rc;
}

static int wrap_probe(uint64_t comm, int source, int tag, struct dtl_status *st) {
	Status native = {0};
	REQUIRE_ALIVE();
	RETURN_IF(mpi.Probe(rank_in(source), tag_in(tag), comm_of(comm), &native));
	return status_out(&native, st);
}

static int wrap_iprobe(uint64_t comm, int source, int tag, int *flag, struct dtl_status *st) {
	Status native = {0};
	REQUIRE_ALIVE();
	RETURN_IF(mpi.Iprobe(rank_in(source), tag_in(tag), comm_of(comm), flag, &native));
	return *flag ? status_out(&native, st) : SUCCESS;
}

static int wrap_wait(uint64_t *request, struct dtl_status *st) {
	Request pending = (Request)(uintptr_t)*request;
	Status native = {0};
	REQUIRE_ALIVE();
	int rc = mpi.Wait(&pending, &native);
	*request = (uint64_t)(uintptr_t)pending;
	RETURN_IF(rc);
	return status_out(&native, st);
}

static int wrap_test(uint64_t *request, int *flag, struct dtl_status *st) {
	Request pending = (Request)(uintptr_t)*request;
	Status native = {0};
	REQUIRE_ALIVE();
	int rc = mpi.Test(&pending, flag, &native);
	*request = (uint64_t)(uintptr_t)pending;
	RETURN_IF(rc);
	return *flag ? status_out(&native, st) : SUCCESS;
}
