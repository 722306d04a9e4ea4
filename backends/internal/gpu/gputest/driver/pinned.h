/* Pinned memory of the tests' driver: a part of cuda.c. */
#ifndef FAKE_PINNED_H
#define FAKE_PINNED_H

typedef struct pinned {
    char *at;
    size_t size;
    int queued;  /* copies from or to it */
    int allowed; /* what the processor may do with it */
    struct pinned *next;
} pinned;

static pinned *all_pinned;

static pinned *pinned_at(const char *at) {
    for (pinned *p = all_pinned; p != NULL; p = p->next)
        if (at >= p->at && at < p->at + p->size)
            return p;
    return NULL;
}

static void allow_pinned(int protection) {
    for (pinned *p = all_pinned; p != NULL; p = p->next)
        if (p->queued > 0 && p->allowed != protection)
            mprotect(p->at, p->size, p->allowed = protection);
}

/* count_copy notes that a copy is queued, 1, or done, -1. */
static void count_copy(const op *o, int by) {
    pinned *both[] = {pinned_at(o->to), pinned_at(o->from)};
    for (int i = 0; i < 2; i++)
        if (both[i] != NULL)
            both[i]->queued += by;
}

static int make_pinned(void **at, size_t size) {
    char *made = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED)
        return OUT_OF_MEMORY;
    memset(made, 0xA5, size);
    pinned *p = malloc(sizeof *p);
    *p = (pinned){.at = made, .size = size, .allowed = PROT_READ | PROT_WRITE, .next = all_pinned};
    all_pinned = p;
    *at = made;
    return OK;
}

static int free_pinned(void *at) {
    pinned **where = &all_pinned, *p;
    while (*where != NULL && (*where)->at != at)
        where = &(*where)->next;
    if ((p = *where) == NULL)
        return INVALID_VALUE;
    if (p->queued > 0) {
        fprintf(stderr, "pinned memory is freed with %d copies queued\n", p->queued);
        abort();
    }
    *where = p->next;
    munmap(p->at, p->size);
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
