/*
 * Rows of a table by their keys: integers of a small range, each of which has a place of its own.
 *
 * A place holds one more than the number of the row that has its key; 0 if there is none.
 */
#ifndef DTL_FIND_H
#define DTL_FIND_H

#include <stddef.h>
#include <stdint.h>
#include "rows.h"

/* The keys of some rows: of size bytes, 4 or 8, and those whose bit is 0 are null. No bits are NULL: no key is null. */
typedef struct {
    const void *keys;
    const uint8_t *bits;
    int64_t first_bit, count;
    int size;
} dtl_keys;

/* Where keys have their places: that of low is the first of so many. Then comes that of null, if it has one, and a last one, which
 * holds 0, for all keys without: so there is no branch to guess. */
typedef struct {
    int32_t *rows;
    int64_t low, width;
    int null_place;
} dtl_places;

static inline int64_t dtl_no_place(const dtl_places *p) { return p->width + p->null_place; }

static inline int64_t dtl_place_of(const dtl_places *p, const dtl_keys *k, int64_t i) {
    int64_t at = k->first_bit + i;
    if (k->bits != NULL && !(k->bits[at >> 3] >> (at & 7) & 1))
        return p->width; /* the last where null has none */
    uint64_t key = k->size == 8 ? ((const uint64_t *)k->keys)[i] : (uint64_t)(int64_t)((const int32_t *)k->keys)[i];
    uint64_t place = key - (uint64_t)p->low;
    return place < (uint64_t)p->width ? (int64_t)place : dtl_no_place(p);
}

/* dtl_place_rows puts the rows from first on in the places of their keys. Of two rows with one key, one is left. */
static inline void dtl_place_rows(const dtl_places *p, const dtl_keys *k, int64_t first) {
    for (int64_t i = 0; i < k->count; i++) {
        int64_t place = dtl_place_of(p, k, i);
        if (place < dtl_no_place(p))
            p->rows[place] = (int32_t)(first + i + 1);
    }
}

/* dtl_find_rows writes the row in the place of each key, -1 for none. Where of is not NULL, it leaves those without out, and writes to
 * of whose each is. It returns how many it has written. There is room for one more than there are keys. */
static inline int64_t dtl_find_rows(const dtl_places *p, const dtl_keys *k, int64_t *of, int64_t *found) {
    int64_t n = 0;
    for (int64_t i = 0; i < k->count; i++) {
        if (i + DTL_AHEAD < k->count)
            __builtin_prefetch(p->rows + dtl_place_of(p, k, i + DTL_AHEAD));
        int64_t row = p->rows[dtl_place_of(p, k, i)] - (int64_t)1;
        found[n] = row;
        if (of != NULL) {
            of[n] = i;
            n += row >= 0;
        } else
            n++;
    }
    return n;
}

#endif
