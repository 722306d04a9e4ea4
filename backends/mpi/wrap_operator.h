// Operators of our own, where the library's would not give what the core promises. Part of wrappers.h.
//
// MPI leaves to the library what MIN and MAX make of NaN. Open MPI and MPICH both lose it, depending on which rank has it
// and where in the array it is. LAND and LOR are defined for integers only, and sums of narrow integers are to wrap.

// LOOP makes a function of elements: to and from, as numbers and as bits, of which body makes result.
#define LOOP(name, type, body) \
	__attribute__((optimize("O3", "no-trapping-math"))) static void name(void *in, void *inout, int *n, Datatype *unused) { \
		const type *restrict left = in; \
		type *restrict right = inout; \
		(void)unused; \
		for (int i = 0; i < *n; i++) { \
			const type from = left[i], to = right[i]; \
			type result; \
			body; \
			right[i] = result; \
		} \
	}

// A NaN has bits that no other bits take away, by OR. The zeros are equal, yet every rank is to get the same one: OR
// gives the negative one, AND the positive.
#define BITS(type, bits) \
	const union { \
		type number; \
		bits all; \
	} a = {from}, b = {to}, either = {.all = a.all | b.all}, both = {.all = a.all & b.all}
#define MINIMUM(type, bits) \
	BITS(type, bits); \
	(void)both; \
	result = from < to ? from : either.number; \
	result = from > to ? to : result
#define MAXIMUM(type, bits) \
	BITS(type, bits); \
	result = from == to ? both.number : either.number; \
	result = from > to ? from : result; \
	result = from < to ? to : result

LOOP(min_f64, double, MINIMUM(double, uint64_t))
LOOP(max_f64, double, MAXIMUM(double, uint64_t))
LOOP(min_f32, float, MINIMUM(float, uint32_t))
LOOP(max_f32, float, MAXIMUM(float, uint32_t))

#define TRUTH(name, type) \
	LOOP(and_##name, type, result = from != 0 ? to != 0 ? 1 : 0 : 0) \
	LOOP(or_##name, type, result = from != 0 ? 1 : to != 0 ? 1 : 0)
TRUTH(f64, double)
TRUTH(f32, float)
TRUTH(c64, float _Complex)
TRUTH(c128, double _Complex)

LOOP(sum_8, uint8_t, result = (uint8_t)(to + from))
LOOP(sum_16, uint16_t, result = (uint16_t)(to + from))

typedef void loop(void *in, void *inout, int *n, Datatype *unused);

static const struct {
	int type, op;
	loop *loop;
} own_operators[] = {
    {DTL_FLOAT64, DTL_MIN, min_f64},
    {DTL_FLOAT64, DTL_MAX, max_f64},
    {DTL_FLOAT32, DTL_MIN, min_f32},
    {DTL_FLOAT32, DTL_MAX, max_f32},
    {DTL_FLOAT64, DTL_LAND, and_f64},
    {DTL_FLOAT64, DTL_LOR, or_f64},
    {DTL_FLOAT32, DTL_LAND, and_f32},
    {DTL_FLOAT32, DTL_LOR, or_f32},
    {DTL_COMPLEX64, DTL_LAND, and_c64},
    {DTL_COMPLEX64, DTL_LOR, or_c64},
    {DTL_COMPLEX128, DTL_LAND, and_c128},
    {DTL_COMPLEX128, DTL_LOR, or_c128},
    {DTL_INT8, DTL_SUM, sum_8},
    {DTL_UINT8, DTL_SUM, sum_8},
    {DTL_INT16, DTL_SUM, sum_16},
    {DTL_UINT16, DTL_SUM, sum_16},
};

// own_loop returns what combines elements in a window in place of the library's operator; NULL: that one does. Sums wrap where they
// are combined in short parts, and complex128 is too long to be swapped.
static loop *own_loop(int type, int op) {
	for (size_t i = 0; i < sizeof own_operators / sizeof own_operators[0]; i++)
		if (own_operators[i].type == type && own_operators[i].op == op && op != DTL_SUM && type != DTL_COMPLEX128)
			return own_operators[i].loop;
	return NULL;
}

// make_operators makes them once a process: MPI does not make any before it is initialised.
static int make_operators(void) {
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static size_t made;
	int rc = SUCCESS;
	pthread_mutex_lock(&lock);
	for (; rc == SUCCESS && made < sizeof own_operators / sizeof own_operators[0]; made += rc == SUCCESS) {
		int type = own_operators[made].type, op = own_operators[made].op;
		if (op != DTL_SUM || NARROW_SUMS_SATURATE)
			rc = mpi.Op_create(own_operators[made].loop, 1, &ops[type][op]);
	}
	pthread_mutex_unlock(&lock);
	return rc;
}
