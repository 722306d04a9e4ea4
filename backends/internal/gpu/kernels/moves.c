/* Elements that are moved as they are: those at given places, runs of them, and those where a mask is true.
 *
 * They are moved as words, of as many bytes as all addresses and distances are multiples of. No two threads write the same word. */
#include "elements.h"

typedef unsigned long long word;

typedef struct {
    void *out;
    const void *a;
    const long long *places; /* of the elements, counted in units of scale bytes */
    long long n;             /* words in all */
    long long unit;          /* words of an element */
    long long each;          /* words from an element to the next where they lie side by side; 0 where one goes to all places */
    long long scale;
} places;

/* Units of words, a step apart in both memories. Distances are in bytes. */
typedef struct {
    long long first; /* of the run's words among all that are moved */
    long long to, from;
    long long to_step, from_step;
    long long unit; /* in words */
} run;

typedef struct {
    void *out;
    const void *a;
    const run *runs;
    long long n; /* words in all */
    long long count;
} runs;

#define MOVES(type, T)                                                                \
    KERNEL take_##type(places s);                                                     \
    KERNEL take_##type(places s) {                                                    \
        for (long long i = FIRST; i < s.n; i += STEP) {                               \
            const long long k = s.unit == 1 ? i : i / s.unit;                         \
            const T *from = (const T *)((const char *)s.a + s.places[k] * s.scale);   \
            ((T *)s.out)[i] = from[i - k * s.unit];                                   \
        }                                                                             \
    }                                                                                 \
    KERNEL put_##type(places s);                                                      \
    KERNEL put_##type(places s) {                                                     \
        for (long long i = FIRST; i < s.n; i += STEP) {                               \
            const long long k = s.unit == 1 ? i : i / s.unit;                         \
            T *to = (T *)((char *)s.out + s.places[k] * s.scale);                     \
            to[i - k * s.unit] = ((const T *)s.a)[k * s.each + i - k * s.unit];       \
        }                                                                             \
    }                                                                                 \
    KERNEL runs_##type(runs s);                                                       \
    KERNEL runs_##type(runs s) {                                                      \
        for (long long i = FIRST; i < s.n; i += STEP) {                               \
            long long low = 0, high = s.count; /* the run is from low on, and before high */ \
            while (high - low > 1) {                                                  \
                const long long middle = low + (high - low) / 2;                      \
                if (s.runs[middle].first <= i)                                        \
                    low = middle;                                                     \
                else                                                                  \
                    high = middle;                                                    \
            }                                                                         \
            const run *r = s.runs + low;                                              \
            const long long k = (i - r->first) / r->unit, w = i - r->first - k * r->unit; \
            T *to = (T *)((char *)s.out + r->to + k * r->to_step);                    \
            to[w] = ((const T *)((const char *)s.a + r->from + k * r->from_step))[w]; \
        }                                                                             \
    }

MOVES(complex128, complex128)
MOVES(uint64, word)
MOVES(uint32, unsigned)
MOVES(uint16, unsigned short)
MOVES(uint8, unsigned char)

/* ---- Where a mask is true: each thread counts its piece, the counts are scanned (scans.c), and each writes its places ---- */

typedef struct {
    word *counts; /* of each piece; what those before it come to when places are written */
    const boolean *mask;
    long long *places;
    long long n, each;
    long long base; /* the place of the first element */
} truths;

#define PIECE const long long from = FIRST * s.each, end = from + s.each < s.n ? from + s.each : s.n;

KERNEL count_true_bool(truths s);
KERNEL count_true_bool(truths s) {
    PIECE
    word count = 0;
    if (from >= s.n)
        return;
    for (long long i = from; i < end; i++)
        count += s.mask[i] != 0;
    s.counts[FIRST] = count;
}

KERNEL place_true_bool(truths s);
KERNEL place_true_bool(truths s) {
    PIECE
    if (from >= s.n)
        return;
    word at = s.counts[FIRST];
    for (long long i = from; i < end; i++)
        if (s.mask[i])
            s.places[at++] = s.base + i;
}
