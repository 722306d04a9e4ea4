// The calls of an OpenSHMEM library that is opened at run time. A process has one, so there is one table.
#ifndef DTL_SHMEM_CALLS_H
#define DTL_SHMEM_CALLS_H

#include <stddef.h>
#include <stdint.h>

// A name of the table, and where to put its address. The list ends with a name that is NULL.
struct dtl_shmem_symbol {
	const char *name;
	void **slot;
};
extern const struct dtl_shmem_symbol *const dtl_shmem_symbols;

// dtl_shmem_progress is a function that a library may have beyond the standard: it moves what others have sent.
extern void *dtl_shmem_progress;

// dtl_shmem_program_ends reports whether the program says where its data end: Open MPI takes every writable mapping
// below that for symmetric, and its own library's end where the program does not say.
int dtl_shmem_program_ends(void);

// dtl_shmem_start initialises the library for calls from all threads, one at a time. What it starts ends with the process.
int dtl_shmem_start(void);
// dtl_shmem_stop ends what dtl_shmem_start has started.
void dtl_shmem_stop(void);
// dtl_shmem_ending, which is Go's, returns when no thread is in a call of the library, and none will be.
void dtl_shmem_ending(void);
// dtl_shmem_abort ends all processes of the job, and does not return.
void dtl_shmem_abort(int status);

int dtl_shmem_my_pe(void);
int dtl_shmem_n_pes(void);
// dtl_shmem_version writes the library's name, at most 256 characters, and the version of the standard that it has.
void dtl_shmem_version(char *name, int *major, int *minor);
// dtl_shmem_align allocates symmetric memory. Collective.
void *dtl_shmem_align(size_t alignment, size_t size);
void dtl_shmem_barrier(void);

// Addresses of symmetric memory are those that it has here; pe says of whom it is.
void dtl_shmem_put(void *to, const void *from, size_t size, int pe);
void dtl_shmem_get(void *into, const void *from, size_t size, int pe);
void dtl_shmem_put_nbi(void *to, const void *from, size_t size, int pe);
void dtl_shmem_get_nbi(void *into, const void *from, size_t size, int pe);
// dtl_shmem_post writes a number after everything that was put to the same process before.
void dtl_shmem_post(uint64_t *to, uint64_t value, int pe);
void dtl_shmem_quiet(void);
void dtl_shmem_advance(void);

uint64_t dtl_shmem_fetch(const uint64_t *at, int pe);
uint64_t dtl_shmem_swap(uint64_t *at, uint64_t value, int pe);
uint64_t dtl_shmem_add(uint64_t *at, uint64_t value, int pe);
uint64_t dtl_shmem_compare(uint64_t *at, uint64_t cond, uint64_t value, int pe);

#endif
