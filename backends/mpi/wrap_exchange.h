// Parts of any length from each rank to each. Part of wrappers.h.
//
// MPI_Alltoallv takes one buffer and offsets in it, both counted in ints. This takes parts wherever they lie, of any
// length, as the libraries' own alltoallv does it underneath: all receives, all sends, one wait.

enum { FEW_REQUESTS = 64 };

// started is requests under way, and the first error.
struct started {
	Request *requests;
	int count;
	int rc;
};

static void start_recv(struct started *s, Comm comm, const struct dtl_part *part, int source, int tag) {
	struct elements e;
	if (part->bytes == 0 || s->rc != SUCCESS || (s->rc = elements_of(part->bytes, part->bytes, DTL_UINT8, &e)) != SUCCESS)
		return;
	Request *r = &s->requests[s->count];
	s->rc = elements_done(&e, mpi.Irecv((void *)part->addr, e.count, e.type, source, tag, comm, r));
	s->count += s->rc == SUCCESS;
}

static void start_send(struct started *s, Comm comm, const struct dtl_part *part, int dest, int tag) {
	struct elements e;
	if (part->bytes == 0 || s->rc != SUCCESS || (s->rc = elements_of(part->bytes, part->bytes, DTL_UINT8, &e)) != SUCCESS)
		return;
	Request *r = &s->requests[s->count];
	s->rc = elements_done(&e, mpi.Isend((const void *)part->addr, e.count, e.type, dest, tag, comm, r));
	s->count += s->rc == SUCCESS;
}

// wrap_exchange has each rank start with its neighbours, so that not all send to one at once.
static int wrap_exchange(uint64_t comm, const struct dtl_part *send, const struct dtl_part *recv, int rank, int size, int tag) {
	Request few[FEW_REQUESTS];
	struct started s = {few, 0, SUCCESS};
	REQUIRE_ALIVE();
	if (2 * size > FEW_REQUESTS && (s.requests = malloc(2 * (size_t)size * sizeof *s.requests)) == NULL)
		return ERR_OTHER;
	for (int step = 1; step < size; step++)
		start_recv(&s, comm_of(comm), &recv[(rank - step + size) % size], (rank - step + size) % size, tag);
	for (int step = 1; step < size; step++)
		start_send(&s, comm_of(comm), &send[(rank + step) % size], (rank + step) % size, tag);
	int64_t own = recv[rank].bytes < send[rank].bytes ? recv[rank].bytes : send[rank].bytes;
	if (own > 0)
		memmove((void *)recv[rank].addr, (const void *)send[rank].addr, (size_t)own);
	for (int i = 0; i < s.count; i++) {
		int rc = mpi.Wait(&s.requests[i], STATUS_IGNORE);
		s.rc = s.rc != SUCCESS ? s.rc : rc;
	}
	if (s.requests != few)
		free(s.requests);
	return s.rc;
}
