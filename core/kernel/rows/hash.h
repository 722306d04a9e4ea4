/* Hashes of texts, which are the same on every rank. They are no secret. */
#ifndef DTL_HASH_H
#define DTL_HASH_H

#include <stdint.h>
#include <string.h>

/* dtl_scattered returns a number, all of whose bits depend on all of another's: SplitMix64. */
static inline uint64_t dtl_scattered(uint64_t z) {
    z += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* dtl_hash_text hashes the length of a text, and eight bytes after the other. */
static inline uint64_t dtl_hash_text(const char *text, int64_t length) {
    uint64_t hash = dtl_scattered((uint64_t)length);
    for (; length >= 8; text += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, text, 8);
        hash = dtl_scattered(hash ^ word);
    }
    if (length > 0) {
        uint64_t word = 0;
        memcpy(&word, text, (size_t)length);
        hash = dtl_scattered(hash ^ word);
    }
    return hash;
}

/* dtl_hash_texts hashes the texts between so many offsets and one. That of what is not within size bytes is 0. */
static inline void dtl_hash_texts(uint64_t *out, const int32_t *offsets, int64_t count, const char *data, int64_t size) {
    for (int64_t i = 0; i < count; i++)
        out[i] = 0 <= offsets[i] && offsets[i] <= offsets[i + 1] && offsets[i + 1] <= size
                     ? dtl_hash_text(data + offsets[i], offsets[i + 1] - offsets[i])
                     : 0;
}

#endif
