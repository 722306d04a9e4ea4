// Starting and ending MPI, and communicators. Part of wrappers.h.

static int wrap_initialized(int *flag) { return mpi.Initialized(flag); }
static int wrap_finalized(int *flag) { return mpi.Finalized(flag); }
static int wrap_error_string(int code, char *text, int *length) { return mpi.Error_string(code, text, length); }
static int wrap_library_version(char *text, int *length) { return mpi.Get_library_version(text, length); }

static int level_out(int native) {
	return native >= THREAD_MULTIPLE     ? 3
	       : native >= THREAD_SERIALIZED ? 2
	       : native >= THREAD_FUNNELED   ? 1
	                                     : 0;
}

// Who advances MPI beside the program holds this, and so does who ends it.
static pthread_mutex_t advancing = PTHREAD_MUTEX_INITIALIZER;

enum { NOBODYS_TAG = 32767 }; // the largest that every library has

// wrap_advance lets MPI go on with what is under way, which it does where it looks for a message that is not there: one
// of a tag that nobody uses. On MPI_COMM_SELF, MPICH looks at once and goes on with nothing.
static int wrap_advance(int *found) {
	pthread_mutex_lock(&advancing);
	int rc = is_finalized() ? DTL_MPI_FINALIZED : mpi.Iprobe(0, NOBODYS_TAG, COMM_WORLD, found, STATUS_IGNORE);
	pthread_mutex_unlock(&advancing);
	return rc;
}

static int finalize(void) {
	pthread_mutex_lock(&advancing);
	owner = 0;
	int rc = mpi.Finalize();
	pthread_mutex_unlock(&advancing);
	return rc;
}

// at_exit runs when the process ends, after Python has gone. A rank that fails ends the others too: they may
// wait for it forever. A forked child, which inherits the handler, has no MPI to end.
static void at_exit(int status, void *unused) {
	int size = 1;
	(void)unused;
	if (owner == 0 || owner != getpid() || is_finalized())
		return;
	if (status != 0 && mpi.Comm_size(COMM_WORLD, &size) == SUCCESS && size > 1)
		mpi.Abort(COMM_WORLD, status & 0xff ? status : 1); // 256 would be success to the launcher
	finalize();
}

static int wrap_init(int *level) {
	int native = 0;
	RETURN_IF(mpi.Init_thread(NULL, NULL, THREAD_MULTIPLE, &native));
	owner = getpid();
	*level = level_out(native);
	on_exit(at_exit, NULL);
	RETURN_IF(mpi.Comm_set_errhandler(COMM_WORLD, ERRORS_RETURN));
	return mpi.Comm_set_errhandler(COMM_SELF, ERRORS_RETURN);
}

static int wrap_query_thread(int *level) {
	int native = 0;
	REQUIRE_ALIVE();
	RETURN_IF(mpi.Query_thread(&native));
	*level = level_out(native);
	return SUCCESS;
}

static int wrap_is_thread_main(int *flag) {
	REQUIRE_ALIVE();
	return mpi.Is_thread_main(flag);
}

static int wrap_program(int *number) {
	int *appnum = NULL, flag = 0;
	REQUIRE_ALIVE();
	RETURN_IF(mpi.Comm_get_attr(COMM_WORLD, APPNUM, &appnum, &flag));
	*number = flag ? *appnum : -1;
	return SUCCESS;
}

static int wrap_finalize(int *was_ours) {
	*was_ours = owner != 0 && owner == getpid() && !is_finalized();
	if (*was_ours)
		return finalize();
	owner = 0;
	return SUCCESS;
}

static int wrap_abort(int code) {
	REQUIRE_ALIVE();
	return mpi.Abort(COMM_WORLD, code);
}

static int wrap_world(uint64_t *comm) {
	*comm = (uint64_t)(uintptr_t)COMM_WORLD;
	return SUCCESS;
}

static int wrap_foreign(uintptr_t handle, uint64_t *comm, int *null, int *inter) {
	Comm given = (Comm)handle; // keeps the lower half where handles are ints, which arrive sign-extended
	REQUIRE_ALIVE();
	*comm = (uint64_t)(uintptr_t)given;
	*inter = 0;
	*null = given == (Comm)0 || given == COMM_NULL;
	return *null ? SUCCESS : mpi.Comm_test_inter(given, inter);
}

// wrap_describe is the first call on every communicator.
static int wrap_describe(uint64_t comm, int *rank, int *size, int64_t *tags) {
	int *bound = NULL, flag = 0;
	REQUIRE_ALIVE();
	RETURN_IF(make_operators());
	RETURN_IF(mpi.Comm_rank(comm_of(comm), rank));
	RETURN_IF(mpi.Comm_size(comm_of(comm), size));
	RETURN_IF(mpi.Comm_get_attr(COMM_WORLD, TAG_UB, &bound, &flag));
	*tags = flag ? (int64_t)*bound + 1 : 32768; // what the standard promises at least
	return SUCCESS;
}

// wrap_dup leaves the original's error handler as it was, which is its owner's, but keeps it from aborting.
static int wrap_dup(uint64_t comm, uint64_t *to) {
	Comm from = comm_of(comm), dup = COMM_NULL;
	Errhandler before;
	REQUIRE_ALIVE();
	RETURN_IF(mpi.Comm_get_errhandler(from, &before));
	RETURN_IF(mpi.Comm_set_errhandler(from, ERRORS_RETURN));
	int rc = mpi.Comm_dup(from, &dup);
	mpi.Comm_set_errhandler(from, before);
	mpi.Errhandler_free(&before);
	RETURN_IF(rc);
	*to = (uint64_t)(uintptr_t)dup;
	return mpi.Comm_set_errhandler(dup, ERRORS_RETURN);
}

static int wrap_split(uint64_t comm, int color, int key, uint64_t *to, int *null) {
	Comm part = COMM_NULL;
	REQUIRE_ALIVE();
	RETURN_IF(mpi.Comm_split(comm_of(comm), color < 0 ? UNDEFINED : color, key, &part));
	*null = part == COMM_NULL;
	*to = (uint64_t)(uintptr_t)part;
	return *null ? SUCCESS : mpi.Comm_set_errhandler(part, ERRORS_RETURN);
}

static int wrap_split_by_node(uint64_t comm, uint64_t *to) {
	Comm part = COMM_NULL;
	REQUIRE_ALIVE();
	RETURN_IF(mpi.Comm_split_type(comm_of(comm), COMM_TYPE_SHARED, 0, INFO_NULL, &part));
	*to = (uint64_t)(uintptr_t)part;
	return mpi.Comm_set_errhandler(part, ERRORS_RETURN);
}

static int wrap_free(uint64_t comm) {
	Comm gone = comm_of(comm);
	REQUIRE_ALIVE();
	return mpi.Comm_free(&gone);
}
