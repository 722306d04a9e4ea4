//go:build cpython

/*
 * Loops that convert numbers. They are C's own conversions, as NumPy's are. Those that C leaves undefined are not here, or the processor
 * marks them.
 */
#include "casts.h"
#include "past_cache.h"
#include <complex.h>

/* The kinds of numbers that there are loops for. */
enum { TRUTH, I1, U1, I2, U2, I4, U4, I8, U8, F4, F8, C4, C8, CASTS_KINDS };

typedef float complex complex4;
typedef double complex complex8;

/* A loop; CONVERT is an expression of the element v. */
#define LOOP(NAME, FROM, TO, CONVERT)                                                                                                      \
    DTL_VECTORS static void NAME(char **arguments, const ptrdiff_t *count, const ptrdiff_t *steps, void *data) {                          \
        const FROM *x = (const FROM *)arguments[0];                                                                                        \
        TO *y = (TO *)arguments[1];                                                                                                        \
        const ptrdiff_t n = *count, from = steps[0], to = steps[1];                                                                        \
        (void)data;                                                                                                                        \
        if (from == sizeof(FROM) && to == sizeof(TO)) {                                                                                    \
            const FROM *restrict in = x;                                                                                                   \
            TO *restrict out = y;                                                                                                          \
            for (ptrdiff_t i = 0; i < n; i++) {                                                                                            \
                const FROM v = in[i];                                                                                                      \
                out[i] = CONVERT;                                                                                                          \
            }                                                                                                                              \
            return;                                                                                                                        \
        }                                                                                                                                  \
        for (ptrdiff_t i = 0; i < n; i++, x = (const FROM *)((const char *)x + from), y = (TO *)((char *)y + to)) {                        \
            const FROM v = *x;                                                                                                             \
            *y = CONVERT;                                                                                                                  \
        }                                                                                                                                  \
    }

/* bits_as_double returns the float64 that has some bits. */
static inline double bits_as_double(uint64_t bits) {
    union {
        uint64_t bits;
        double number;
    } word = {bits};
    return word.number;
}

/* double_of_halves returns 2^32 times a half plus the other one, rounded once: of 64 bits, few processors convert several numbers at once. The
 * halves are the last bits of 2^84 and of 2^52; less is what is too much. */
static inline double double_of_halves(uint64_t high, uint64_t low, double less) {
    return (bits_as_double(high | 0x4530000000000000) - less) + bits_as_double(low | 0x4330000000000000);
}

static inline double double_of_natural(uint64_t v) { return double_of_halves(v >> 32, v & UINT32_MAX, 0x1p84 + 0x1p52); }

static inline double double_of_integer(int64_t v) {
    return double_of_halves((uint64_t)v >> 32 ^ 0x80000000, (uint64_t)v & UINT32_MAX, 0x1p84 + 0x1p63 + 0x1p52);
}

/* Loops from a type to each kind of numbers; the first is for truths, which are any byte but 0. */
#define TO_EACH(NAME, FROM, VALUE, DOUBLE)                                                                                                 \
    LOOP(NAME##_truth, FROM, uint8_t, v != 0)                                                                                              \
    LOOP(NAME##_i1, FROM, int8_t, (int8_t)(VALUE))                                                                                         \
    LOOP(NAME##_u1, FROM, uint8_t, (uint8_t)(VALUE))                                                                                       \
    LOOP(NAME##_i2, FROM, int16_t, (int16_t)(VALUE))                                                                                       \
    LOOP(NAME##_u2, FROM, uint16_t, (uint16_t)(VALUE))                                                                                     \
    LOOP(NAME##_i4, FROM, int32_t, (int32_t)(VALUE))                                                                                       \
    LOOP(NAME##_u4, FROM, uint32_t, (uint32_t)(VALUE))                                                                                     \
    LOOP(NAME##_i8, FROM, int64_t, (int64_t)(VALUE))                                                                                       \
    LOOP(NAME##_u8, FROM, uint64_t, (uint64_t)(VALUE))                                                                                     \
    TO_FLOATS(NAME, FROM, VALUE, DOUBLE)

#define TO_FLOATS(NAME, FROM, VALUE, DOUBLE)                                                                                               \
    LOOP(NAME##_f4, FROM, float, (float)(VALUE))                                                                                           \
    LOOP(NAME##_f8, FROM, double, DOUBLE(VALUE))                                                                                           \
    LOOP(NAME##_c4, FROM, complex4, (float)(VALUE))                                                                                        \
    LOOP(NAME##_c8, FROM, complex8, (double)(VALUE))

TO_EACH(truth, uint8_t, v != 0, (double))
TO_EACH(i1, int8_t, v, (double))
TO_EACH(u1, uint8_t, v, (double))
TO_EACH(i2, int16_t, v, (double))
TO_EACH(u2, uint16_t, v, (double))
TO_EACH(i4, int32_t, v, (double))
TO_EACH(u4, uint32_t, v, (double))
TO_EACH(i8, int64_t, v, double_of_integer)
TO_EACH(u8, uint64_t, v, double_of_natural)
TO_FLOATS(f4, float, v, (double))
TO_FLOATS(f8, double, v, (double))
LOOP(f4_truth, float, uint8_t, v != 0)
LOOP(f8_truth, double, uint8_t, v != 0)
LOOP(f4_i4, float, int32_t, (int32_t)v)
LOOP(f8_i4, double, int32_t, (int32_t)v)
LOOP(f4_i8, float, int64_t, (int64_t)v)
LOOP(f8_i8, double, int64_t, (int64_t)v)
LOOP(c4_c4, complex4, complex4, v)
LOOP(c4_c8, complex4, complex8, v)
LOOP(c8_c8, complex8, complex8, v)

/* f8_f4_past is the loop for elements side by side that writes past the caches. */
WIDE_VECTORS static void f8_f4_past(char **arguments, const ptrdiff_t *count, const ptrdiff_t *steps, void *data) {
    enum { LANES = 4 };
    const double *in = (const double *)arguments[0];
    float *out = (float *)arguments[1];
    const ptrdiff_t n = *count, head = bytes_to_line(out, n * (ptrdiff_t)sizeof *out) / (ptrdiff_t)sizeof *out;
    ptrdiff_t at = head;
    f8_f4(arguments, &head, steps, data);
#ifdef __SSE2__
    typedef double given __attribute__((vector_size(LANES * sizeof(double)), aligned(sizeof(double)), may_alias));
    typedef float made __attribute__((vector_size(LANES * sizeof(float))));
    for (; at + LANES <= n; at += LANES)
        _mm_stream_ps(out + at, (__m128)__builtin_convertvector(*(const given *)(in + at), made));
    end_past();
#endif
    char *rest[] = {(char *)(in + at), (char *)(out + at)};
    const ptrdiff_t left = n - at;
    f8_f4(rest, &left, steps, data);
}

/* A loop to float64 for elements side by side that writes past the caches, some at a time; CONVERT is an expression of the element v. */
#define PAST(NAME, FROM, CONVERT)                                                                                                          \
    WIDE_VECTORS static void NAME##_f8_past(char **arguments, const ptrdiff_t *count, const ptrdiff_t *steps, void *data) {                \
        enum { AT_ONCE = WRITTEN_AT_ONCE / sizeof(double) };                                                                               \
        const FROM *in = (const FROM *)arguments[0];                                                                                       \
        double *out = (double *)arguments[1];                                                                                              \
        const ptrdiff_t n = *count, head = bytes_to_line(out, n * (ptrdiff_t)sizeof *out) / (ptrdiff_t)sizeof *out;                        \
        ptrdiff_t at = head;                                                                                                               \
        NAME##_f8(arguments, &head, steps, data);                                                                                          \
        for (; at + AT_ONCE <= n; at += AT_ONCE) {                                                                                         \
            double made[AT_ONCE];                                                                                                          \
            for (int k = 0; k < (int)AT_ONCE; k++) {                                                                                       \
                const FROM v = in[at + k];                                                                                                 \
                made[k] = CONVERT;                                                                                                         \
            }                                                                                                                              \
            write_past((char *)(out + at), (const char *)made);                                                                            \
        }                                                                                                                                  \
        end_past();                                                                                                                        \
        char *rest[] = {(char *)(in + at), (char *)(out + at)};                                                                            \
        const ptrdiff_t left = n - at;                                                                                                     \
        NAME##_f8(rest, &left, steps, data);                                                                                               \
    }

PAST(i4, int32_t, v)
PAST(i8, int64_t, double_of_integer(v))
PAST(f4, float, v)

#define ROW(NAME)                                                                                                                          \
    {NAME##_truth, NAME##_i1, NAME##_u1, NAME##_i2, NAME##_u2, NAME##_i4, NAME##_u4, NAME##_i8, NAME##_u8,                                 \
     NAME##_f4, NAME##_f8, NAME##_c4, NAME##_c8}

static const dtl_loop loops[CASTS_KINDS][CASTS_KINDS] = {
    [TRUTH] = ROW(truth), [I1] = ROW(i1), [U1] = ROW(u1), [I2] = ROW(i2), [U2] = ROW(u2), [I4] = ROW(i4), [U4] = ROW(u4), [I8] = ROW(i8),
    [U8] = ROW(u8),
    [F4] = {[TRUTH] = f4_truth, [I4] = f4_i4, [I8] = f4_i8, [F4] = f4_f4, [F8] = f4_f8, [C4] = f4_c4, [C8] = f4_c8},
    [F8] = {[TRUTH] = f8_truth, [I4] = f8_i4, [I8] = f8_i8, [F4] = f8_f4, [F8] = f8_f8, [C4] = f8_c4, [C8] = f8_c8},
    [C4] = {[C4] = c4_c4, [C8] = c4_c8},
    [C8] = {[C8] = c8_c8},
};

/* kind_of returns which of the kinds one of NumPy's types is, or -1. */
static int kind_of(int type) {
    if (type < 0 || type >= NDARRAY_TYPES || array_types[type].number == 0)
        return -1;
    const array_type *t = &array_types[type];
    const int step = t->size == 1 ? 0 : t->size == 2 ? 2 : t->size == 4 ? 4 : 6;
    switch (t->format[0]) {
    case '?': return TRUTH;
    case 'b': case 'h': case 'i': case 'l': case 'q': return I1 + step;
    case 'B': case 'H': case 'I': case 'L': case 'Q': return U1 + step;
    case 'f': return F4;
    case 'd': return F8;
    case 'Z': return t->size == 8 ? C4 : t->size == 16 ? C8 : -1;
    default: return -1;
    }
}

dtl_loop cast_loop(int from, int to) {
    int one = kind_of(from), other = kind_of(to);
    return one < 0 || other < 0 ? NULL : loops[one][other];
}

int cast_keeps(int from, int to) {
    int one = kind_of(from), other = kind_of(to);
    if (one < 0 || other < 0)
        return 0;
    if (one == other || one == TRUTH)
        return 1;
    if (other == TRUTH || one >= C4)
        return one == C4 && other == C8;
    const int bytes = array_types[from].size;
    if (one >= F4)
        return other == F8 || other == C8 || (one == F4 && other == C4);
    if (other >= F4) /* integers of 64 bits become float64 all the same */
        return other == F8 || other == C8 || bytes <= 2;
    const int is_unsigned = (one - I1) % 2, to_unsigned = (other - I1) % 2, room = array_types[to].size;
    return to_unsigned ? is_unsigned && room >= bytes : room >= bytes + is_unsigned;
}

dtl_loop large_cast_loop(int from, int to) {
    static const dtl_loop past[CASTS_KINDS][CASTS_KINDS] = {
        [F8] = {[F4] = f8_f4_past}, [I4] = {[F8] = i4_f8_past}, [I8] = {[F8] = i8_f8_past}, [F4] = {[F8] = f4_f8_past}};
    dtl_loop usual = cast_loop(from, to);
    return usual != NULL && past[kind_of(from)][kind_of(to)] != NULL ? past[kind_of(from)][kind_of(to)] : usual;
}
