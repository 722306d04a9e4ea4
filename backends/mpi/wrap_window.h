// One-sided access. Part of wrappers.h. Offsets are in bytes.
//
// Every window is locked for all targets from its beginning to its end: what excludes whom is the core's, and each call
// here only moves data.

static Win win_of(uint64_t handle) { return (Win)(uintptr_t)handle; }

static int open_to_all(Win made, uint64_t *win) {
	RETURN_IF(mpi.Win_set_errhandler(made, ERRORS_RETURN));
	*win = (uint64_t)(uintptr_t)made;
	return mpi.Win_lock_all(MODE_NOCHECK, made);
}

static int wrap_expose(uint64_t comm, uintptr_t base, int64_t bytes, uint64_t *win) {
	Win made = WIN_NULL;
	REQUIRE_ALIVE();
	RETURN_IF(mpi.Win_create((void *)base, (Aint)bytes, 1, INFO_NULL, comm_of(comm), &made));
	return open_to_all(made, win);
}

// The library has the memory, which ranks of one machine then share. Where each call moves a whole word, Open MPI combines words
// with the network's own operations.
static int wrap_allocate_window(uint64_t comm, int64_t bytes, int words, uintptr_t *base, uint64_t *win) {
	Win made = WIN_NULL;
	Info info = INFO_NULL;
	void *memory = NULL;
	REQUIRE_ALIVE();
	RETURN_IF(mpi.Info_create(&info));
	int rc = words ? mpi.Info_set(info, "acc_single_intrinsic", "true") : SUCCESS;
	if (rc == SUCCESS)
		rc = mpi.Win_allocate((Aint)bytes, 1, info, comm_of(comm), &memory, &made);
	mpi.Info_free(&info);
	RETURN_IF(rc);
	memset(memory, 0, (size_t)bytes);
	*base = (uintptr_t)memory;
	RETURN_IF(open_to_all(made, win));
	RETURN_IF(mpi.Win_sync(made));
	return mpi.Barrier(comm_of(comm)); // only then is it 0 everywhere
}

// Open MPI locks before it combines even a word of such a window, and unlocks: three messages over TCP.
static int wrap_windows_lock(int *lock) {
	*lock = WINDOWS_LOCK;
	return SUCCESS;
}

static int wrap_close_window(uint64_t win) {
	Win gone = win_of(win);
	REQUIRE_ALIVE();
	int rc = mpi.Win_unlock_all(gone);
	int freed = mpi.Win_free(&gone);
	return rc != SUCCESS ? rc : freed;
}

// One call moves at most so many bytes: libraries count some in ints, and MPICH copies what is combined.
enum { WINDOW_BYTES = 1 << 28 };

// What wraps around where the library's vectors would saturate is combined in parts too short for them.
enum { SHORTER_THAN_VECTORS = 8 };

static int64_t window_limit(int type, int op) {
	int narrow = NARROW_SUMS_SATURATE && op == DTL_SUM && sizes[type] < 4;
	int64_t most = (narrow ? SHORTER_THAN_VECTORS : WINDOW_BYTES) / sizes[type];
	return most < dtl_mpi_count_limit ? most : dtl_mpi_count_limit;
}

// FOR_WINDOW runs body, which starts with the part of a buffer at offset, for each part; not for no elements.
#define FOR_WINDOW(n, type, op, body) \
	do { \
		if ((n) == 0) \
			return SUCCESS; \
		FOR_PARTS_OF(window_limit(type, op), n, type, body); \
	} while (0)

static int wrap_put(uint64_t win, uintptr_t from, int64_t n, int type, int target, int64_t to) {
	FOR_WINDOW(n, type, DTL_REPLACE, mpi.Put((void *)(from + offset), part, types[type], target, (Aint)(to + offset), part,
	                                         types[type], win_of(win)));
}

static int wrap_get(uint64_t win, uintptr_t into, int64_t n, int type, int target, int64_t at) {
	FOR_WINDOW(n, type, DTL_NO_OP, mpi.Get((void *)(into + offset), part, types[type], target, (Aint)(at + offset), part,
	                                       types[type], win_of(win)));
}

// Windows take only the library's operators. Where own_loop has another, the elements are combined here, and each is swapped for
// what was there, as often as another rank is quicker. What stays as it is needs no swap.
enum { SWAPS_AT_ONCE = 64 };

struct swaps {
	uint64_t was[SWAPS_AT_ONCE], next[SWAPS_AT_ONCE], found[SWAPS_AT_ONCE]; // of elements of size bytes each
	int which[SWAPS_AT_ONCE];                                               // the elements that are to be swapped
};

static void *element(uint64_t *of, int which, int size) { return (char *)of + (size_t)which * (size_t)size; }

// start_swaps starts to swap elements of which left are to be, and counts those that it has to wait for in under_way.
static int start_swaps(struct swaps *s, int left, loop *combine, uintptr_t from, Datatype word, int size, int target, int64_t at,
                       Win win, int *under_way) {
	int one = 1;
	*under_way = 0;
	for (int k = 0; k < left; k++) {
		int i = s->which[k];
		void *was = element(s->was, i, size), *next = element(s->next, i, size);
		memcpy(next, was, (size_t)size);
		combine((void *)(from + (uintptr_t)(i * size)), next, &one, NULL);
		if (memcmp(next, was, (size_t)size) == 0)
			continue;
		s->which[(*under_way)++] = i;
		RETURN_IF(mpi.Compare_and_swap(next, was, element(s->found, i, size), word, target, (Aint)(at + i * size), win));
	}
	return SUCCESS;
}

// swap_in combines at most SWAPS_AT_ONCE elements, and leaves in was those that were there.
static int swap_in(struct swaps *s, int n, loop *combine, uintptr_t from, int size, int target, int64_t at, Win win) {
	Datatype word = types[size == 8 ? DTL_INT64 : DTL_INT32];
	int left = n;
	int rc = mpi.Get_accumulate(s->next, n, word, s->was, n, word, target, (Aint)at, n, word, NO_OP, win);
	int flushed = mpi.Win_flush_local(target, win);
	for (int i = 0; i < n; i++)
		s->which[i] = i;
	while (rc == SUCCESS && flushed == SUCCESS && left > 0) {
		int under_way;
		rc = start_swaps(s, left, combine, from, word, size, target, at, win, &under_way);
		flushed = mpi.Win_flush_local(target, win); // also after an error: what is under way writes to s
		left = 0;
		for (int k = 0; k < under_way; k++) {
			int i = s->which[k];
			void *was = element(s->was, i, size), *found = element(s->found, i, size);
			if (memcmp(was, found, (size_t)size) == 0)
				continue;
			memcpy(was, found, (size_t)size);
			s->which[left++] = i;
		}
	}
	return rc != SUCCESS ? rc : flushed;
}

// combine_by_swaps also fetches what was there, unless into is 0.
static int combine_by_swaps(loop *combine, Win win, uintptr_t from, uintptr_t into, int64_t n, int size, int target, int64_t at) {
	struct swaps s;
	REQUIRE_ALIVE();
	for (int64_t done = 0; done < n; done += SWAPS_AT_ONCE) {
		int part = (int)(n - done < SWAPS_AT_ONCE ? n - done : SWAPS_AT_ONCE);
		int64_t offset = done * size;
		RETURN_IF(swap_in(&s, part, combine, from + (uintptr_t)offset, size, target, at + offset, win));
		if (into != 0)
			memcpy((void *)(into + (uintptr_t)offset), s.was, (size_t)(part * size));
	}
	return SUCCESS;
}

static int wrap_accumulate(uint64_t win, uintptr_t from, int64_t n, int type, int op, int target, int64_t to) {
	loop *own = own_loop(type, op);
	if (own != NULL)
		return combine_by_swaps(own, win_of(win), from, 0, n, sizes[type], target, to);
	FOR_WINDOW(n, type, op, mpi.Accumulate((void *)(from + offset), part, types[type], target, (Aint)(to + offset), part,
	                                       types[type], window_ops[op], win_of(win)));
}

static int fetch_parts(Win win, uintptr_t from, uintptr_t into, int64_t n, int type, int op, int target, int64_t at) {
	FOR_WINDOW(n, type, op, mpi.Get_accumulate((void *)(from + offset), part, types[type], (void *)(into + offset), part,
	                                           types[type], target, (Aint)(at + offset), part, types[type],
	                                           window_ops[op], win));
}

// Open MPI waits inside MPI_Compare_and_swap, and elements in memory that ranks share are swapped, and with MPICH combined, at once. A
// flush would then be one more call, which waits for other accesses, and in which this rank may yield. But a rank that swaps again and
// again may wait for one that needs this one to go on, so some calls flush all the same.
enum { ANSWERS_A_FLUSH = 16 };

static const uint64_t no_answer = UINT64_C(0xa55a6996c33c0ff1);

// answered reports whether what was there has come to where no_answer was before the call.
static int answered(uintptr_t into, int size) {
	static unsigned answers;
	return memcmp((void *)into, &no_answer, (size_t)size) != 0 &&
	       __atomic_add_fetch(&answers, 1, __ATOMIC_RELAXED) % ANSWERS_A_FLUSH != 0;
}

// fetch_one fetches and combines an element.
static int fetch_one(Win win, uintptr_t from, uintptr_t into, int type, int op, int target, int64_t at) {
	int may_be_over = ANSWERS_ARE_ALL && (size_t)sizes[type] <= sizeof no_answer;
	if (may_be_over)
		memcpy((void *)into, &no_answer, (size_t)sizes[type]);
	RETURN_IF(mpi.Fetch_and_op((void *)from, (void *)into, types[type], target, (Aint)at, window_ops[op], win));
	return may_be_over && answered(into, sizes[type]) ? SUCCESS : mpi.Win_flush_local(target, win);
}

static int wrap_fetch_and_op(uint64_t win, uintptr_t from, uintptr_t into, int64_t n, int type, int op, int target,
                             int64_t at) {
	REQUIRE_ALIVE();
	loop *own = own_loop(type, op);
	if (own != NULL)
		return combine_by_swaps(own, win_of(win), from, into, n, sizes[type], target, at);
	if (op == DTL_NO_OP)
		from = into; // which nobody reads, but some library might look at
	if (n == 1)
		return fetch_one(win_of(win), from, into, type, op, target, at);
	RETURN_IF(fetch_parts(win_of(win), from, into, n, type, op, target, at));
	return mpi.Win_flush_local(target, win_of(win));
}

// wrap_compare_and_swap compares bits: MPI takes integers only, of one, two, four or eight bytes.
static int wrap_compare_and_swap(uint64_t win, uintptr_t compare, uintptr_t swap, uintptr_t into, int size, int target,
                                 int64_t at) {
	Datatype type = types[size == 8 ? DTL_INT64 : size == 4 ? DTL_INT32 : size == 2 ? DTL_INT16 : DTL_INT8];
	REQUIRE_ALIVE();
	memcpy((void *)into, &no_answer, (size_t)size);
	RETURN_IF(mpi.Compare_and_swap((void *)swap, (void *)compare, (void *)into, type, target, (Aint)at, win_of(win)));
	return answered(into, size) ? SUCCESS : mpi.Win_flush_local(target, win_of(win));
}

static int wrap_flush(uint64_t win, int target, int local) {
	REQUIRE_ALIVE();
	if (target == DTL_EVERY)
		return local ? mpi.Win_flush_local_all(win_of(win)) : mpi.Win_flush_all(win_of(win));
	return local ? mpi.Win_flush_local(target, win_of(win)) : mpi.Win_flush(target, win_of(win));
}

static int wrap_sync(uint64_t win) {
	REQUIRE_ALIVE();
	return mpi.Win_sync(win_of(win));
}
