/* Memory of devices that processes lend each other, as they ask the tests' driver for it: a part of cuda.c. */
#ifndef FAKE_LENT_H
#define FAKE_LENT_H

/* page_of returns where the memory begins, in that of its device, that a driver has taken to allocate a block in. */
static size_t page_of(const block *b) { return (size_t)(b->at - devices[b->device].outer) / PAGE_OF_BLOCKS * PAGE_OF_BLOCKS; }

int cuMemGetAddressRange_v2(unsigned long long *begins, size_t *size, unsigned long long at) {
    ENTER();
    NEED_CONTEXT();
    (void)on;
    const block *b = block_of((char *)(uintptr_t)at);
    if (b == NULL)
        LEAVE(NOT_FOUND);
    const char *first = b->managed ? b->at : devices[b->device].outer + page_of(b);
    if (begins != NULL)
        *begins = (unsigned long long)(uintptr_t)first;
    if (size != NULL)
        *size = (size_t)(b->at + b->size - first);
    LEAVE(OK);
}

/* end_of returns where the last of the blocks ends that begin in a page of a device; 0 where none does. */
static size_t end_of(const device *on, size_t page) {
    size_t end = 0;
    for (const block *b = blocks; b != NULL; b = b->next)
        if (!b->managed && &devices[b->device] == on && page_of(b) == page)
            end = (size_t)(b->at + b->size - on->outer);
    return end;
}

/* A handle is of the page that an address begins, or of that of the block which the address is in, wherever in it. */
int cuIpcGetMemHandle(handle *made, unsigned long long at) {
    ENTER();
    NEED_CONTEXT();
    const block *in = block_of((char *)(uintptr_t)at);
    size_t from = (size_t)((char *)(uintptr_t)at - on->outer);
    if (end_of(on, from) == 0 && in != NULL && !in->managed)
        from = page_of(in);
    const size_t end = end_of(on, from);
    if (end == 0)
        LEAVE(INVALID_VALUE);
    *made = fake_lend(on->file, from, end - from);
    LEAVE(OK);
}

int cuIpcOpenMemHandle_v2(unsigned long long *at, handle given, unsigned flags) {
    ENTER();
    NEED_CONTEXT();
    (void)on;
    *at = (unsigned long long)(uintptr_t)(flags == 1 ? fake_borrow(&given) : NULL);
    LEAVE(*at != 0 ? OK : INVALID_VALUE);
}

#endif
