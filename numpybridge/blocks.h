/* Small memory for elements that C hands out, and that C and Go share: a block goes when nobody uses it any more. */
#ifndef DTL_BLOCKS_H
#define DTL_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

/* block_new returns memory of a size with one user, the caller; NULL if there is none. The caller holds the GIL. */
void *block_new(size_t size);

/* block_keep adds a user. */
void block_keep(void *block);

/* block_drop drops a user. No caller needs the GIL. */
void block_drop(void *block);

/* blocks_in_use returns the bytes of blocks that have users. */
int64_t blocks_in_use(void);

/* block_drop_held is block_drop for a caller who holds the GIL: the next block may be the same. */
void block_drop_held(void *block);

#endif
