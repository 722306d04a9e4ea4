/* Parts of the tests' driver that know nothing of its streams. */
#ifndef FAKE_PARTS_H
#define FAKE_PARTS_H

#include <stddef.h>

/* fake_failing returns the error of a call that is to fail, or 0. fake_lasting returns that of a call that failed for good, or 0. */
int fake_failing(const char *symbol);
int fake_lasting(void);

/* The last error of a thread, for HIP, which tells it. */
extern _Thread_local int fake_last;

/* What a process tells others of memory that it lends: where it is in which of its files. */
typedef struct {
    int process, file;
    size_t offset, size;
    char rest[64 - 2 * sizeof(int) - 2 * sizeof(size_t)];
} handle;

/* fake_module returns a copy of what the driver loads; NULL, with the error, of what it cannot load. fake_argument returns how many
 * bytes a kernel of it takes, 0 where it has none of the name. */
void *fake_module(const void *image, int *rc);
size_t fake_argument(const void *module, const char *name);

/* The same of PTX, which CUDA's driver takes, and HIP's where the chip has no name, so that tests need no linker for AMD's chips. */
void *fake_ptx_module(const void *image, int *rc);
size_t fake_ptx_argument(const void *module, const char *name);

/* fake_architecture returns what HIP calls the chip of the GPUs: DTL_FAKE_GPU_ARCH, or nothing. */
const char *fake_architecture(void);

/* fake_map maps new memory at two addresses: the program may use the outer one as protection says. It returns the memory's file, or -1. */
int fake_map(size_t size, int protection, char **outer, char **inner);

typedef struct loan loan;

handle fake_lend(int file, size_t offset, size_t size);

/* fake_borrow returns where the program finds memory that another process lends; NULL if it cannot, or if it is its own. */
char *fake_borrow(const handle *given);

/* fake_loan returns what an address is in; NULL if that is not lent. fake_loaned returns where the driver finds n bytes there. */
const loan *fake_loan(const char *at);
char *fake_loaned(const char *at, size_t n);

#endif
