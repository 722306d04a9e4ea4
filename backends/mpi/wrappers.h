// The calls of calls.h on one ABI. Included once by each calls_*.c, after the ABI's abi_*.h.
#define _GNU_SOURCE
#include "calls.h"
#include "functions.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static struct {
#define FUNCTION_POINTER(name, parameters) int(*name) parameters;
	FUNCTIONS(FUNCTION_POINTER)
} mpi;

#ifdef DATA // addresses of the library's data
static struct {
#define DATA_POINTER(name) void *name;
	DATA(DATA_POINTER)
} data;
#define ADDRESS(name) data.name
#endif

static const struct dtl_mpi_symbol symbols[] = {
#define FUNCTION_SYMBOL(name, parameters) {"MPI_" #name, (void **)&mpi.name},
	FUNCTIONS(FUNCTION_SYMBOL)
#ifdef DATA
#define DATA_SYMBOL(name) {#name, &data.name},
	DATA(DATA_SYMBOL)
#endif
};

static Datatype types[DTL_TYPES];
static Op ops[DTL_TYPES][DTL_OPS];
static Op window_ops[DTL_WINDOW_OPS]; // the library's own, which are all that windows take

static void ready(void) {
#define MAP_TYPE(name, of_mpi) types[DTL_##name] = of_mpi;
	DTL_MPI_TYPES(MAP_TYPE)
	window_ops[DTL_SUM] = SUM;
	window_ops[DTL_PROD] = PROD;
	window_ops[DTL_MIN] = MIN;
	window_ops[DTL_MAX] = MAX;
	window_ops[DTL_LAND] = LAND;
	window_ops[DTL_LOR] = LOR;
	window_ops[DTL_BAND] = BAND;
	window_ops[DTL_BOR] = BOR;
	window_ops[DTL_BXOR] = BXOR;
	window_ops[DTL_REPLACE] = REPLACE;
	window_ops[DTL_NO_OP] = NO_OP;
	for (int type = 0; type < DTL_TYPES; type++)
		memcpy(ops[type], window_ops, sizeof ops[type]);
}

#define RETURN_IF(call) \
	do { \
		int rc_ = (call); \
		if (rc_ != SUCCESS) \
			return rc_; \
	} while (0)

// The process in which this library initialised MPI and has not finalised it; 0 if there is none.
static pid_t owner;

// REQUIRE_ALIVE comes first in every call that MPI would answer with an abort after MPI_Finalize. Who
// initialised MPI here also finalises it here, so it asks only about somebody else's.
#define REQUIRE_ALIVE() \
	do { \
		if (owner == 0 && is_finalized()) \
			return DTL_MPI_FINALIZED; \
	} while (0)

static int is_finalized(void) {
	int flag = 0;
	return mpi.Finalized(&flag) != SUCCESS || flag;
}

static Comm comm_of(uint64_t handle) { return (Comm)(uintptr_t)handle; }
static int rank_in(int rank) { return rank >= 0 ? rank : rank == DTL_PROC_NULL ? PROC_NULL : ANY_SOURCE; }
static int tag_in(int tag) { return tag >= 0 ? tag : ANY_TAG; }

static int status_out(const Status *from, struct dtl_status *to) {
	Count bytes = 0;
	to->source = from->source == PROC_NULL ? DTL_PROC_NULL : from->source == ANY_SOURCE ? DTL_ANY_SOURCE : from->source;
	to->tag = from->tag == ANY_TAG ? DTL_ANY_TAG : from->tag;
	int rc = mpi.Get_elements_x(from, BYTE, &bytes);
	to->bytes = bytes;
	return rc;
}

#include "wrap_operator.h"
#include "wrap_lifecycle.h"
#include "wrap_count.h"
#include "wrap_message.h"
#include "wrap_collective.h"
#include "wrap_exchange.h"
#include "wrap_async.h"
#include "wrap_window.h"

#define NAME_OF(abi) NAME_OF_(abi)
#define NAME_OF_(abi) dtl_mpi_##abi
#define TEXT_OF(abi) TEXT_OF_(abi)
#define TEXT_OF_(abi) #abi

const struct dtl_mpi NAME_OF(ABI) = {
    .abi = TEXT_OF(ABI),
    .symbols = symbols,
    .symbol_count = sizeof symbols / sizeof symbols[0],
    .ready = ready,
#define FIELD(name, parameters, arguments) .name = wrap_##name,
    DTL_MPI_CALLS(FIELD)};
