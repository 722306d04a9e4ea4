// Point to point. Part of wrappers.h.

static struct dtl_mpi_traffic *traffic_of(uint64_t address) { return (struct dtl_mpi_traffic *)(uintptr_t)address; }

// received counts a message that has come, unless nobody sent it.
static void received(uint64_t traffic, const Status *native) {
	if (traffic != 0 && native->source != PROC_NULL)
		__atomic_fetch_add(&traffic_of(traffic)->received, 1, __ATOMIC_RELAXED);
}

// over says what came of a request that is complete.
static int over(uint64_t traffic, const Status *native, struct dtl_status *st) {
	RETURN_IF(mpi.Test_cancelled(native, &st->cancelled));
	if (!st->cancelled)
		received(traffic, native);
	return status_out(native, st);
}

static int wrap_wait(uint64_t traffic, uint64_t *request, struct dtl_status *st) {
	Request pending = (Request)(uintptr_t)*request;
	Status native = {0};
	REQUIRE_ALIVE();
	RETURN_IF(mpi.Wait(&pending, &native));
	return over(traffic, &native, st);
}

static int64_t nanoseconds(void) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

// Every so many tests wait_native looks at the clock; after so many nanoseconds it lets others have the core then. That costs
// less than a test where nobody wants it. Over TCP, each test is a system call: more of them would be most of the time of a
// call whose ranks share a core, of which this rank knows nothing if they are on what takes itself for several machines.
enum { TESTS_A_LOOK = 8, SELFISH = 2 * 1000 };

// wait_native tests until the operation is complete or patience has run out. MPI_Wait would not come back.
static int wait_native(Request *pending, int64_t patience, int *flag, Status *native) {
	int64_t start = 0;
	*flag = 0;
	for (int tests = 1; patience >= 0; tests++) {
		int rc = mpi.Test(pending, flag, native);
		if (rc != SUCCESS || *flag || patience == 0)
			return rc;
		if (tests % TESTS_A_LOOK != 0)
			continue;
		int64_t now = nanoseconds();
		if (start == 0)
			start = now;
		if (now - start >= patience)
			return SUCCESS;
		if (now - start >= SELFISH)
			sched_yield();
	}
	return SUCCESS;
}

static int wrap_wait_for(uint64_t traffic, uint64_t *request, int64_t patience, int *flag, struct dtl_status *st) {
	Request pending = (Request)(uintptr_t)*request;
	Status native = {0};
	REQUIRE_ALIVE();
	RETURN_IF(wait_native(&pending, patience, flag, &native));
	if (*flag && st == NULL)
		received(traffic, &native);
	return *flag && st != NULL ? over(traffic, &native, st) : SUCCESS;
}

// wrap_peek leaves the operation as it is also where that is complete.
static int wrap_peek(uint64_t request, int *flag) {
	REQUIRE_ALIVE();
	return mpi.Request_get_status((Request)(uintptr_t)request, flag, STATUS_IGNORE);
}

// left is what Go keeps of an operation: 0 if it is complete.
static uint64_t left(Request pending, int complete) { return complete ? 0 : (uint64_t)(uintptr_t)pending; }

static int wrap_send_for(uint64_t traffic, const void *buf, int64_t n, int type, int dest, int tag, int64_t patience,
                         uint64_t *request) {
	struct elements e;
	Request started = REQUEST_NULL;
	int complete = 0;
	REQUIRE_ALIVE();
	RETURN_IF(elements_of(n, n, type, &e));
	// It is counted before: afterwards, the processor would first wait until the message is in the memory of the receiver.
	__atomic_fetch_add(&traffic_of(traffic)->sent, dest != DTL_PROC_NULL, __ATOMIC_RELAXED);
	int rc = elements_done(&e, mpi.Isend(buf, e.count, e.type, rank_in(dest), tag, comm_of(traffic_of(traffic)->comm), &started));
	if (rc != SUCCESS) {
		__atomic_fetch_sub(&traffic_of(traffic)->sent, dest != DTL_PROC_NULL, __ATOMIC_RELAXED);
		return rc;
	}
	rc = wait_native(&started, patience, &complete, STATUS_IGNORE);
	*request = left(started, complete); // also where a test failed: the message may be on its way
	return rc;
}

static int wrap_recv_for(uint64_t traffic, void *buf, int64_t n, int type, int source, int tag, int64_t patience,
                         uint64_t *request, struct dtl_status *st) {
	struct elements e;
	Request started = REQUEST_NULL;
	Status native = {0};
	int complete = 0;
	REQUIRE_ALIVE();
	RETURN_IF(elements_of(n, n, type, &e));
	RETURN_IF(elements_done(
	    &e, mpi.Irecv(buf, e.count, e.type, rank_in(source), tag_in(tag), comm_of(traffic_of(traffic)->comm), &started)));
	RETURN_IF(wait_native(&started, patience, &complete, &native));
	*request = left(started, complete);
	if (!complete)
		return SUCCESS;
	received(traffic, &native);
	return status_out(&native, st);
}

// wrap_match takes a message that has come out of what other receives match. wrap_take receives it.
static int wrap_match(uint64_t traffic, int source, int tag, int *flag, uint64_t *message, struct dtl_status *st) {
	Message matched;
	Status native = {0};
	REQUIRE_ALIVE();
	RETURN_IF(mpi.Improbe(rank_in(source), tag_in(tag), comm_of(traffic_of(traffic)->comm), flag, &matched, &native));
	if (!*flag)
		return SUCCESS;
	*message = (uint64_t)(uintptr_t)matched;
	received(traffic, &native);
	return status_out(&native, st);
}

static int wrap_take(uint64_t message, void *buf, int64_t n, int type) {
	struct elements e;
	Message matched = (Message)(uintptr_t)message;
	RETURN_IF(elements_of(n, n, type, &e));
	return elements_done(&e, mpi.Mrecv(buf, e.count, e.type, &matched, STATUS_IGNORE));
}

static int wrap_try_recv(uint64_t traffic, void *buf, int64_t n, int type, int source, int tag, int *flag,
                         struct dtl_status *st) {
	uint64_t message = 0;
	RETURN_IF(wrap_match(traffic, source, tag, flag, &message, st));
	return *flag ? wrap_take(message, buf, n, type) : SUCCESS;
}

// The longest message that wrap_drop receives: a longer one may have to wait for its sender.
enum { LONGEST_DROPPED = 4096 };

// wrap_drop receives a message that has come, whatever it is, and forgets it.
static int wrap_drop(uint64_t traffic, int *flag) {
	char forgotten[LONGEST_DROPPED];
	struct dtl_status st;
	Status native = {0};
	REQUIRE_ALIVE();
	RETURN_IF(mpi.Iprobe(ANY_SOURCE, ANY_TAG, comm_of(traffic_of(traffic)->comm), flag, &native));
	if (!*flag)
		return SUCCESS;
	RETURN_IF(status_out(&native, &st));
	if (st.bytes > LONGEST_DROPPED)
		return *flag = 0, SUCCESS;
	return wrap_try_recv(traffic, forgotten, sizeof forgotten, DTL_UINT8, st.source, st.tag, flag, &st);
}

static int wrap_cancel(uint64_t request) {
	Request pending = (Request)(uintptr_t)request;
	REQUIRE_ALIVE();
	return mpi.Cancel(&pending);
}
