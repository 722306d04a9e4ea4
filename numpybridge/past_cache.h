/* Writes of large results past the caches: nothing of them would be left there for whoever reads them, and the processor then need not read the
 * lines that it writes. */
#ifndef DTL_PAST_CACHE_H
#define DTL_PAST_CACHE_H

#include "loops.h"
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Results of so many bytes are written past the caches, so many bytes at a time, to addresses of so many. */
enum { LARGE_RESULT = 12 << 20, WRITTEN_AT_ONCE = 256, CACHE_LINE_BYTES = 64 };

/* write_past writes WRITTEN_AT_ONCE bytes to where a line of the cache begins. All are read first: reads and writes by turns take longer. */
static inline void write_past(char *out, const char *from) {
#ifdef __SSE2__
    enum { WORDS = WRITTEN_AT_ONCE / sizeof(__m128i) };
    __m128i words[WORDS];
    for (int k = 0; k < (int)WORDS; k++)
        words[k] = _mm_loadu_si128((const __m128i *)from + k);
    for (int k = 0; k < (int)WORDS; k++)
        _mm_stream_si128((__m128i *)out + k, words[k]);
#else
    memcpy(out, from, WRITTEN_AT_ONCE);
#endif
}

/* end_past has other threads see what has been written before whatever is written next. */
static inline void end_past(void) {
#ifdef __SSE2__
    _mm_sfence();
#endif
}

/* bytes_to_line says how many of so many bytes are before the next line of the cache. */
static inline ptrdiff_t bytes_to_line(const void *out, ptrdiff_t bytes) {
    const ptrdiff_t before = (ptrdiff_t)(-(uintptr_t)out % CACHE_LINE_BYTES);
    return before < bytes ? before : bytes;
}

/* large_result_loop returns a loop that computes what one of NumPy's ufuncs computes of floats of a type, and writes past the caches; NULL where
 * there is none. Each operand is an array whose elements lie side by side, as the bits of arrays say, or a number, with a step of 0; the result
 * is no operand. */
dtl_loop large_result_loop(const char *ufunc, char format, unsigned arrays);

#endif
