/* Pinned memory of the tests' driver: a part of cuda.c. */
#ifndef FAKE_PINNED_H
#define FAKE_PINNED_H

typedef struct pinned {
    char *outer, *inner; /* the same memory: for the program, and for the driver */
    size_t size;
    int *queued; /* of each page: copies from or to it */
    struct pinned *next;
} pinned;

enum { PAGE = 4096 };

static pinned *all_pinned;

static pinned *pinned_at(const char *at) {
    for (pinned *p = all_pinned; p != NULL; p = p->next)
        if (at >= p->outer && at < p->outer + p->size)
            return p;
    return NULL;
}

/* count_pages notes that a copy of n bytes is queued, 1, or done, -1. The program cannot touch pages of which any is queued. */
static void count_pages(const char *at, size_t n, int by) {
    pinned *p = pinned_at(at);
    if (p == NULL || n == 0)
        return;
    const size_t begins = (size_t)(at - p->outer), first = begins / PAGE, last = (begins + n - 1) / PAGE;
    for (size_t i = first; i <= last; i++)
        p->queued[i] += by;
    if (by > 0)
        mprotect(p->outer + first * PAGE, (last - first + 1) * PAGE, PROT_NONE);
    for (size_t i = first, end; by < 0 && i <= last; i = end + 1) { /* without the pages of other copies */
        for (end = i; end <= last && p->queued[end] == 0; end++) {}
        mprotect(p->outer + i * PAGE, (end - i) * PAGE, PROT_READ | PROT_WRITE);
    }
}

static void count_copy(const op *o, int by) {
    count_pages(o->to, o->count, by);
    count_pages(o->from, o->count, by);
}

static int make_pinned(void **at, size_t size) {
    pinned *p = calloc(1, sizeof *p);
    *p = (pinned){.size = size, .next = all_pinned};
    int file = fake_map(size, PROT_READ | PROT_WRITE, &p->outer, &p->inner);
    if (file < 0) {
        free(p);
        return OUT_OF_MEMORY;
    }
    close(file);
    memset(p->inner, 0xA5, size);
    p->queued = calloc((size + PAGE - 1) / PAGE, sizeof *p->queued);
    all_pinned = p;
    *at = p->outer;
    return OK;
}

static int free_pinned(void *at) {
    pinned **where = &all_pinned, *p;
    while (*where != NULL && (*where)->outer != at)
        where = &(*where)->next;
    if ((p = *where) == NULL)
        return INVALID_VALUE;
    for (size_t i = 0; i * PAGE < p->size; i++)
        if (p->queued[i] > 0) {
            fprintf(stderr, "pinned memory is freed while copies are queued\n");
            abort();
        }
    *where = p->next;
    munmap(p->outer, p->size);
    munmap(p->inner, p->size);
    free(p->queued);
    free(p);
    return OK;
}

static int count_pinned(void) {
    int n = 0;
    for (pinned *p = all_pinned; p != NULL; p = p->next)
        n++;
    return n;
}

#endif
