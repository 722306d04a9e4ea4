/* Memory that is mapped twice, for the program and for the driver; and memory of devices that processes lend each other: the lender's
 * file, which is mapped in the same way. */
#define _GNU_SOURCE
#include "parts.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096 };

struct loan {
    char *outer, *inner; /* for the program, and for the driver */
    size_t size;
    loan *next;
};

static loan *loans;

int fake_map(size_t size, int protection, char **outer, char **inner) {
    int file = memfd_create("fake-gpu", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, (off_t)size) != 0)
        return -1;
    *outer = mmap(NULL, size, protection, MAP_SHARED, file, 0);
    *inner = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return file;
}

handle fake_lend(int file, size_t offset, size_t size) {
    return (handle){.process = getpid(), .file = file, .offset = offset, .size = size};
}

char *fake_borrow(const handle *given) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", given->process, given->file);
    int file = given->process != getpid() ? open(path, O_RDWR) : -1;
    if (file < 0)
        return NULL;
    const size_t skipped = given->offset % PAGE, length = given->size + skipped;
    char *outer = mmap(NULL, length, PROT_NONE, MAP_SHARED, file, (off_t)(given->offset - skipped));
    char *inner = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)(given->offset - skipped));
    close(file);
    if (outer == MAP_FAILED || inner == MAP_FAILED)
        return NULL;
    loan *l = malloc(sizeof *l);
    *l = (loan){.outer = outer + skipped, .inner = inner + skipped, .size = given->size, .next = loans};
    loans = l;
    return l->outer;
}

const loan *fake_loan(const char *at) {
    for (const loan *l = loans; l != NULL; l = l->next)
        if (at >= l->outer && at < l->outer + l->size)
            return l;
    return NULL;
}

char *fake_loaned(const char *at, size_t n) {
    const loan *l = fake_loan(at);
    return l != NULL && at + n <= l->outer + l->size ? l->inner + (at - l->outer) : NULL;
}
