// Sums of narrow integers that wrap around, for libraries whose own saturate. Part of wrappers.h.

__attribute__((optimize("O3"))) static void add8(void *in, void *inout, int *n, Datatype *type) {
	const uint8_t *from = in;
	uint8_t *to = inout;
	(void)type;
	for (int i = 0; i < *n; i++)
		to[i] = (uint8_t)(to[i] + from[i]);
}

__attribute__((optimize("O3"))) static void add16(void *in, void *inout, int *n, Datatype *type) {
	const uint16_t *from = in;
	uint16_t *to = inout;
	(void)type;
	for (int i = 0; i < *n; i++)
		to[i] = (uint16_t)(to[i] + from[i]);
}

// wrapping_sums makes the operators once a process: MPI does not make any before it is initialised.
static int wrapping_sums(void) {
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static int made;
	Op sum8, sum16;
	int rc = SUCCESS;
	pthread_mutex_lock(&lock);
	if (!made && (rc = mpi.Op_create(add8, 1, &sum8)) == SUCCESS && (rc = mpi.Op_create(add16, 1, &sum16)) == SUCCESS) {
		ops[DTL_INT8][DTL_SUM] = ops[DTL_UINT8][DTL_SUM] = sum8;
		ops[DTL_INT16][DTL_SUM] = ops[DTL_UINT16][DTL_SUM] = sum16;
		made = 1;
	}
	pthread_mutex_unlock(&lock);
	return rc;
}
