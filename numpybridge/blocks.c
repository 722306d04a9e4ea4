//go:build cpython

#include "blocks.h"

#include <stdint.h>
#include <stdlib.h>

/* A block begins with this, a cache line before the elements. */
typedef struct {
    int64_t users;
    size_t kind;
    void *next;
} head;

enum { LINE = 64, STEP = 1024, KINDS = 64, MOST_KEPT = 8 };

/* Blocks that were dropped, by their size. The GIL guards them. */
static struct {
    head *first;
    int count;
} kept[KINDS];

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
    return (char *)h + LINE;
}

void block_keep(void *block) { __atomic_add_fetch(&head_of(block)->users, 1, __ATOMIC_RELAXED); }

void block_drop(void *block) {
    if (__atomic_sub_fetch(&head_of(block)->users, 1, __ATOMIC_ACQ_REL) == 0)
        free(head_of(block));
}

void block_drop_held(void *block) {
    head *h = head_of(block);
    if (__atomic_sub_fetch(&h->users, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    if (h->kind >= KINDS || kept[h->kind].count >= MOST_KEPT) {
        free(h);
        return;
    }
    h->next = kept[h->kind].first;
    kept[h->kind].first = h;
    kept[h->kind].count++;
}
