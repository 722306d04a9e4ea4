// A table of calls during which a device is current for the thread. A library that knows of devices copies their elements in whichever
// call finds that a message has come, also one of a thread that has nothing to do with it; and without a device it ends the process.
#include "calls.h"

#include <stdatomic.h>

static const struct dtl_mpi *bare;
static struct dtl_mpi_device device;
static atomic_int there;

#define GUARDED(name, parameters, arguments) \
	static int guarded_##name parameters { \
		int outer = 0, within = atomic_load_explicit(&there, memory_order_acquire) && device.enter(device.number, &outer) == 0; \
		int rc = bare->name arguments; \
		if (within) \
			device.leave(device.number, outer, 0); \
		return rc; \
	}
DTL_MPI_CALLS(GUARDED)
#undef GUARDED

const struct dtl_mpi *dtl_mpi_guarded(const struct dtl_mpi *of) {
	static struct dtl_mpi made;
	bare = of;
	made = *of;
#define GUARDED(name, parameters, arguments) made.name = guarded_##name;
	DTL_MPI_CALLS(GUARDED)
#undef GUARDED
	return &made;
}

void dtl_mpi_guard_by(struct dtl_mpi_device by) {
	if (atomic_load(&there))
		return;
	device = by;
	atomic_store_explicit(&there, 1, memory_order_release);
}
