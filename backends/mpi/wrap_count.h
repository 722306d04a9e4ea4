// Counts beyond what an int holds. Part of wrappers.h.
//
// MPI-4's functions with large counts (MPI_Send_c, …) are not in Open MPI 5 or Intel MPI, so these ways are used
// everywhere: where data only moves, one element of a type that holds all of it; where it is computed with, which
// works on predefined types only, one call for each part of at most the limit.

// elements is a number of elements as MPI takes it: count of type. made says that type is to be freed.
struct elements {
	int count;
	Datatype type;
	int made;
};

// large makes a type of n elements: as many whole blocks of the limit as fit, and the rest after them.
static int large(int64_t n, Datatype base, int64_t size, Datatype *made) {
	int64_t limit = dtl_mpi_count_limit, blocks = n / limit, rest = n % limit;
	Datatype block, whole, both[2];
	if (blocks == 0)
		return mpi.Type_contiguous((int)rest, base, made);
	RETURN_IF(mpi.Type_contiguous((int)limit, base, &block));
	int rc = mpi.Type_contiguous((int)blocks, block, &whole);
	mpi.Type_free(&block);
	if (rc != SUCCESS || rest == 0) {
		*made = whole;
		return rc;
	}
	int lengths[2] = {1, (int)rest};
	Aint displacements[2] = {0, (Aint)(blocks * limit * size)};
	both[0] = whole;
	both[1] = base;
	rc = mpi.Type_create_struct(2, lengths, displacements, both, made);
	mpi.Type_free(&whole);
	return rc;
}

static const int sizes[DTL_TYPES] = {0, 8, 4, 8, 4, 2, 1, 8, 4, 2, 1, 1, 8, 16};

// elements_of describes n elements, of which one call moves total: libraries add counts up in ints.
static int elements_of(int64_t n, int64_t total, int type, struct elements *e) {
	if (total <= dtl_mpi_count_limit) {
		*e = (struct elements){(int)n, types[type], 0};
		return SUCCESS;
	}
	*e = (struct elements){1, types[type], 0};
	RETURN_IF(large(n, types[type], sizes[type], &e->type));
	e->made = 1;
	return mpi.Type_commit(&e->type);
}

// elements_done returns rc. A type may be freed while messages that use it are under way.
static int elements_done(struct elements *e, int rc) {
	if (e->made)
		mpi.Type_free(&e->type);
	return rc;
}
