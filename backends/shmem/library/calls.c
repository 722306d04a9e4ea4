#define _GNU_SOURCE
#include "calls.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

_Static_assert(sizeof(unsigned long) == 8, "the names of functions.h have this width");

static struct {
#define FUNCTION(result, name, parameters) result(*name) parameters;
#include "functions.h"
#undef FUNCTION
} shmem;

static const struct dtl_shmem_symbol symbols[] = {
#define FUNCTION(result, name, parameters) {"shmem_" #name, (void **)&shmem.name},
#include "functions.h"
#undef FUNCTION
    {NULL, NULL},
};

const struct dtl_shmem_symbol *const dtl_shmem_symbols = symbols;

void *dtl_shmem_progress;

// owner is the process that has to end the library, 0 if none has.
static pid_t owner;

int dtl_shmem_program_ends(void) { return dlsym(RTLD_DEFAULT, "_end") != NULL; }

// at_exit runs when the process ends, after Python has gone. A process that fails ends the others too: they may wait
// for it forever. A forked child, which inherits the handler, has nothing to end.
static void at_exit(int status, void *unused) {
	(void)unused;
	if (owner == 0 || owner != getpid())
		return;
	if (status != 0 && shmem.n_pes() > 1)
		shmem.global_exit(status & 0xff ? status : 1); // 256 would be success to the launcher
	dtl_shmem_stop();
}

int dtl_shmem_start(void) {
	enum { serialized = 2 };
	int provided = 0;
	int rc = shmem.init_thread(serialized, &provided);
	if (rc != 0)
		return rc;
	owner = getpid();
	on_exit(at_exit, NULL);
	return provided >= serialized ? 0 : -1;
}

void dtl_shmem_stop(void) {
	if (owner == 0 || owner != getpid())
		return;
	owner = 0;
	dtl_shmem_ending();
	shmem.finalize();
}

void dtl_shmem_abort(int status) { shmem.global_exit(status); }

int dtl_shmem_my_pe(void) { return shmem.my_pe(); }
int dtl_shmem_n_pes(void) { return shmem.n_pes(); }

void dtl_shmem_version(char *name, int *major, int *minor) {
	shmem.info_get_name(name);
	shmem.info_get_version(major, minor);
}

void *dtl_shmem_align(size_t alignment, size_t size) { return shmem.align(alignment, size); }
void dtl_shmem_barrier(void) { shmem.barrier_all(); }

void dtl_shmem_put(void *to, const void *from, size_t size, int pe) { shmem.putmem(to, from, size, pe); }
void dtl_shmem_get(void *into, const void *from, size_t size, int pe) { shmem.getmem(into, from, size, pe); }
void dtl_shmem_put_nbi(void *to, const void *from, size_t size, int pe) { shmem.putmem_nbi(to, from, size, pe); }
void dtl_shmem_get_nbi(void *into, const void *from, size_t size, int pe) { shmem.getmem_nbi(into, from, size, pe); }

void dtl_shmem_post(uint64_t *to, uint64_t value, int pe) {
	shmem.fence();
	shmem.ulong_p((unsigned long *)to, value, pe);
}

void dtl_shmem_quiet(void) { shmem.quiet(); }

void dtl_shmem_advance(void) {
	if (dtl_shmem_progress != NULL)
		((void (*)(void))dtl_shmem_progress)();
}

uint64_t dtl_shmem_fetch(const uint64_t *at, int pe) { return shmem.ulong_atomic_fetch((const unsigned long *)at, pe); }

uint64_t dtl_shmem_swap(uint64_t *at, uint64_t value, int pe) {
	return shmem.ulong_atomic_swap((unsigned long *)at, value, pe);
}

uint64_t dtl_shmem_add(uint64_t *at, uint64_t value, int pe) {
	return shmem.ulong_atomic_fetch_add((unsigned long *)at, value, pe);
}

uint64_t dtl_shmem_compare(uint64_t *at, uint64_t cond, uint64_t value, int pe) {
	return shmem.ulong_atomic_compare_swap((unsigned long *)at, cond, value, pe);
}
