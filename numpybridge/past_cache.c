//go:build cpython

/*
 * Loops of common ufuncs that write results past the caches. Their results are those of NumPy's loops, to the bit, and so are the marks of the
 * processor.
 */
#include "past_cache.h"
#include <fenv.h>
#include <math.h>

enum { OPERANDS = 3 };

/* A loop of so many operands; VALUE is an expression of an element of each, v, w and u. A number is spread over as many elements as are
 * computed at a time. END is done in the end. */
#define LOOP(NAME, TYPE, COUNT, VALUE, END)                                                                                                \
    WIDE_VECTORS static void NAME(char **arguments, const ptrdiff_t *count, const ptrdiff_t *steps, void *data) {                          \
        enum { EACH = WRITTEN_AT_ONCE / sizeof(TYPE) };                                                                                    \
        const ptrdiff_t n = *count, head = bytes_to_line(arguments[COUNT], n * (ptrdiff_t)sizeof(TYPE)) / (ptrdiff_t)sizeof(TYPE);         \
        TYPE numbers[OPERANDS][EACH];                                                                                                      \
        const TYPE *from[OPERANDS] = {numbers[0], numbers[1], numbers[2]};                                                                 \
        ptrdiff_t step[OPERANDS] = {0};                                                                                                    \
        TYPE *restrict out = (TYPE *)arguments[COUNT];                                                                                     \
        (void)data;                                                                                                                        \
        for (int k = 0; k < COUNT; k++) {                                                                                                  \
            const TYPE *given = (const TYPE *)arguments[k];                                                                                \
            for (int i = 0; steps[k] == 0 && i < EACH; i++)                                                                                \
                numbers[k][i] = *given;                                                                                                    \
            if (steps[k] != 0) {                                                                                                           \
                from[k] = given;                                                                                                           \
                step[k] = 1;                                                                                                               \
            }                                                                                                                              \
        }                                                                                                                                  \
        for (ptrdiff_t at = 0; at < n;) {                                                                                                  \
            const ptrdiff_t some = at < head ? head - at : n - at < EACH ? n - at : EACH;                                                  \
            const TYPE *x = from[0] + at * step[0], *y = from[1] + at * step[1], *z = from[2] + at * step[2];                              \
            if (some == EACH && at >= head) {                                                                                              \
                TYPE made[EACH];                                                                                                           \
                for (int i = 0; i < EACH; i++) {                                                                                           \
                    const TYPE v = x[i], w = COUNT > 1 ? y[i] : v, u = COUNT > 2 ? z[i] : v;                                               \
                    made[i] = VALUE;                                                                                                       \
                    (void)w, (void)u;                                                                                                      \
                }                                                                                                                          \
                write_past((char *)(out + at), (const char *)made);                                                                        \
            } else                                                                                                                         \
                for (ptrdiff_t i = 0; i < some; i++) {                                                                                     \
                    const TYPE v = x[i], w = COUNT > 1 ? y[i] : v, u = COUNT > 2 ? z[i] : v;                                               \
                    out[at + i] = VALUE;                                                                                                   \
                    (void)w, (void)u;                                                                                                      \
                }                                                                                                                          \
            at += some;                                                                                                                    \
        }                                                                                                                                  \
        end_past();                                                                                                                        \
        END;                                                                                                                               \
    }

/* An element or a limit. A limit that is NaN makes everything so; a zero beside a zero keeps its sign. */
#define AT_LEAST(v, limit) (((v) < (limit)) | ((limit) != (limit)) ? (limit) : (v))
#define AT_MOST(v, limit) (((v) > (limit)) | ((limit) != (limit)) ? (limit) : (v))
#define NOTHING (void)0

#define OF_TYPE(NAME, TYPE)                                                                                                                \
    LOOP(NAME##_negative, TYPE, 1, -v, NOTHING)                                                                                            \
    LOOP(NAME##_absolute, TYPE, 1, (TYPE)fabs(v), NOTHING)                                                                                 \
    LOOP(NAME##_square, TYPE, 1, v *v, NOTHING)                                                                                            \
    LOOP(NAME##_add, TYPE, 2, v + w, NOTHING)                                                                                              \
    LOOP(NAME##_subtract, TYPE, 2, v - w, NOTHING)                                                                                         \
    LOOP(NAME##_multiply, TYPE, 2, v *w, NOTHING)                                                                                          \
    LOOP(NAME##_divide, TYPE, 2, v / w, NOTHING)                                                                                           \
    LOOP(NAME##_clip, TYPE, 3, AT_MOST(AT_LEAST(v, w), u), feclearexcept(FE_ALL_EXCEPT))

OF_TYPE(doubles, double)
OF_TYPE(floats, float)

dtl_loop large_result_loop(const char *ufunc, char format, unsigned arrays) {
    enum { ANY = ~0u, FIRST = 1 };
    static const struct {
        const char *name;
        dtl_loop of_doubles, of_floats;
        unsigned arrays; /* which operands may be arrays: of limits in arrays NumPy has other zeros */
    } known[] = {
        {"negative", doubles_negative, floats_negative, ANY},
        {"absolute", doubles_absolute, floats_absolute, ANY},
        {"square", doubles_square, floats_square, ANY},
        {"add", doubles_add, floats_add, ANY},
        {"subtract", doubles_subtract, floats_subtract, ANY},
        {"multiply", doubles_multiply, floats_multiply, ANY},
        {"divide", doubles_divide, floats_divide, ANY},
        {"clip", doubles_clip, floats_clip, FIRST},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, ufunc) == 0 && (arrays & ~known[i].arrays) == 0)
            return format == 'd' ? known[i].of_doubles : format == 'f' ? known[i].of_floats : NULL;
    return NULL;
}
