//go:build cpython

#include "blocks.h"

#include <stdint.h>
#include <stdlib.h>

/* A block begins with this, a cache line before the elements. */
typedef struct {
    int64_t users;
    size_t kind, size;
    void *next;
} head;

enum { LINE = 64, STEP = 1024, KINDS = 64, MOST_KEPT = 8 };

/* Blocks that were dropped, by their size. The GIL guards them. */
static struct {
    head *first;
    int count;
} kept[KINDS];

/* The bytes of blocks that have users. */
static int64_t in_use;

int64_t blocks_in_use(void) { return __atomic_load_n(&in_use, __ATOMIC_RELAXED); }

static head *head_of(void *block) { return (head *)((char *)block - LINE); }

void *block_new(size_t size) {
    size_t kind = (size + STEP - 1) / STEP;
    head *h = kind < KINDS ? kept[kind].first : NULL;
    if (h != NULL) {
        kept[kind].first = h->next;
        kept[kind].count--;
    } else {
        h = aligned_alloc(LINE, LINE + (kind < KINDS ? kind * STEP : (size + LINE - 1) / LINE * LINE));
        if (h == NULL)
            return NULL;
    }
    h->users = 1;
    h->kind = kind;
    h->size = size;
    __atomic_add_fetch(&in_use, (int64_t)size, __ATOMIC_RELAXED);
    return (char *)h + LINE;
}

void block_keep(void *block) { __atomic_add_fetch(&head_of(block)->users, 1, __ATOMIC_RELAXED); }

/* dropped takes a user away, and returns the head if it was the last. */
static head *dropped(void *block) {
    head *h = head_of(block);
    if (__atomic_sub_fetch(&h->users, 1, __ATOMIC_ACQ_REL) > 0)
        return NULL;
    __atomic_sub_fetch(&in_use, (int64_t)h->size, __ATOMIC_RELAXED);
    return h;
}

void block_drop(void *block) { free(dropped(block)); }

void block_drop_held(void *block) {
    head *h = dropped(block);
    if (h == NULL)
        return;
    if (h->kind >= KINDS || kept[h->kind].count >= MOST_KEPT) {
        free(h);
        return;
    }
    h->next = kept[h->kind].first;
    kept[h->kind].first = h;
    kept[h->kind].count++;
}
