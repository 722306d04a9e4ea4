/* Elements folded along dimensions: each line of them to one result.
 *
 * An array in C order has dimensions of outer results, of outer elements of a line, of inner results and of inner elements, each of
 * which may be 1. A line is folded in one piece or in several, by a thread each; thread p of n takes the elements p, p + n and so
 * on. Pieces are partials, which kernels of reductions.c merge, and finish_ makes results of those. */
#include "folding.h"

/* What is written; core/backend has the same numbers. */
enum { PARTIAL, NUMBER, ROOT, COUNT, NONE_ZERO, SOME, VALUE, PLACE };

typedef struct {
    void *out;
    const void *a;
    const double *means;    /* of distances: each line's */
    long long lines, inner; /* results in all, and inner ones */
    long long outer_elements, inner_elements;
    long long pieces; /* of a line */
    long long result;
    long long bytes; /* of a result */
    double divisor;
} lines;

/* Each thread's lines, from its first element on. Threads beside each other read elements beside each other. */
#define EACH_LINE                                                                     \
    const long long n = s.outer_elements * s.inner_elements, P = s.pieces;            \
    const int across = s.inner >= 32 && s.inner_elements == 1;                        \
    const long long together = across ? s.lines : P;                                  \
    for (long long t = FIRST; t < s.lines * P; t += STEP) {                           \
        const long long whole = t / together, rest = t - whole * together;            \
        const long long line = across ? rest : whole, p = across ? whole : rest;      \
        word *const partial = (word *)s.out + 4 * (line * P + p);                     \
        walk w = walk_from(&s, line, p);                                              \
        (void)n;

/* Where a thread is in its line. Only the first place takes divisions, which are long in a device's code. */
typedef struct {
    long long at, inside; /* the place, and its index among inner elements */
    long long step, step_inside;
} walk;

static inline walk walk_from(const lines *s, long long line, long long p) {
    const long long inner = s->inner_elements, row = s->inner * inner; /* from one outer element to the next */
    const long long result = line / s->inner, outer = p / inner, over = s->pieces / inner;
    const long long base = result * s->outer_elements * row + (line - result * s->inner) * inner;
    const long long inside = p - outer * inner, step_inside = s->pieces - over * inner;
    return (walk){base + outer * row + inside, inside, over * row + step_inside, step_inside};
}

static inline long long next_place(const lines *s, walk *w) {
    const long long at = w->at;
    w->at += w->step;
    w->inside += w->step_inside;
    if (w->inside >= s->inner_elements) {
        w->inside -= s->inner_elements;
        w->at += (s->inner - 1) * s->inner_elements;
    }
    return at;
}

#define NEXT (a[next_place(&s, &w)])

/* ---- Results ---- */

static inline void write_number(const lines *s, long long line, double v) {
    v /= s->divisor;
    if (s->result == ROOT)
        v = __builtin_sqrt(v);
    if (s->bytes == 4)
        ((float *)s->out)[line] = (float)v;
    else
        ((double *)s->out)[line] = v;
}

static inline double rounded(sum all) { return all.high - all.high == 0 ? all.high + all.low : all.high; }

/* A float product with its exponent, rounded once. */
static inline double product(double v, long long exponent) {
    if (v == 0 || v - v != 0)
        return v;
    if (exponent > 1023)
        return v > 0 ? __builtin_inf() : -__builtin_inf();
    if (exponent >= -1022)
        return v * number_of((word)(exponent + 1023) << 52);
    exponent += 1022;
    if (exponent < -1000)
        return v * 0x1p-1022 * 0x1p-1022;
    return v * 0x1p-1022 * number_of((word)(exponent + 1023) << 52);
}

static inline void write_count(const lines *s, long long line, word all) {
    if (s->result == COUNT)
        ((word *)s->out)[line] = all;
    else
        ((boolean *)s->out)[line] =
            s->result == SOME ? all != 0 : all == (word)(s->outer_elements * s->inner_elements);
}

/* ---- Sums and counts ---- */

#define SUMS(name, T, f)                                                              \
    KERNEL name(lines s);                                                             \
    KERNEL name(lines s) {                                                            \
        const T *a = s.a;                                                             \
        EACH_LINE                                                                     \
        const double mean = s.means ? s.means[line] : 0;                              \
        (void)mean;                                                                   \
        sum all = {0, 0};                                                             \
        long long i = p;                                                              \
        for (; i + 3 * P < n; i += 4 * P) {                                           \
            const double v = (double)NEXT, x = (double)NEXT, y = (double)NEXT, z = (double)NEXT; \
            add(&all, (f(v) + f(x)) + (f(y) + f(z)));                                 \
        }                                                                             \
        for (; i < n; i += P) {                                                       \
            const double v = (double)NEXT;                                            \
            add(&all, f(v));                                                          \
        }                                                                             \
        if (s.result == PARTIAL)                                                      \
            put(partial, bits_of(all.high), bits_of(all.low), 0, 0);                  \
        else                                                                          \
            write_number(&s, line, rounded(all));                                     \
        }                                                                             \
    }

#define ELEMENT(v) (v)
#define DISTANCE(v) (((v) - mean) * ((v) - mean))

#define COUNTS(name, T, first, combine)                                               \
    KERNEL name(lines s);                                                             \
    KERNEL name(lines s) {                                                            \
        const T *a = s.a;                                                             \
        EACH_LINE                                                                     \
        word all = first;                                                             \
        for (long long i = p; i < n; i += P)                                          \
            all combine;                                                              \
        if (s.result == PARTIAL)                                                      \
            put(partial, all, 0, 1, 0);                                               \
        else                                                                          \
            write_count(&s, line, all);                                               \
        }                                                                             \
    }

#define PRODUCTS(name, T)                                                             \
    KERNEL name(lines s);                                                             \
    KERNEL name(lines s) {                                                            \
        const T *a = s.a;                                                             \
        EACH_LINE                                                                     \
        double v = 1;                                                                 \
        long long exponent = 0;                                                       \
        for (long long i = p; i < n; i += P)                                          \
            multiply(&v, &exponent, (double)NEXT);                                    \
        if (s.result == PARTIAL)                                                      \
            put(partial, bits_of(v), (word)exponent, 1, 0);                           \
        else                                                                          \
            write_number(&s, line, product(v, exponent));                             \
        }                                                                             \
    }

/* ---- Extremes ---- */

#define EXTREMES(name, T, A, before)                                                  \
    KERNEL name(lines s);                                                             \
    KERNEL name(lines s) {                                                            \
        const T *a = s.a;                                                             \
        EACH_LINE                                                                     \
        long long at = p;                                                             \
        T m = NEXT;                                                                   \
        for (long long i = p + P; i < n; i += P) {                                    \
            const T x = NEXT;                                                         \
            if (before(x, m)) {                                                       \
                m = x;                                                                \
                at = i;                                                               \
            }                                                                         \
        }                                                                             \
        if (s.result == PLACE)                                                        \
            ((long long *)s.out)[line] = at;                                          \
        else if (s.result == VALUE)                                                   \
            ((T *)s.out)[line] = m;                                                   \
        else {                                                                        \
            A wide = (A)m;                                                            \
            word w;                                                                   \
            __builtin_memcpy(&w, &wide, sizeof w);                                    \
            put(partial, w, (word)at, 1, 0);                                          \
        }                                                                             \
        }                                                                             \
    }

/* ---- What merged partials come to. Those of float products have exponents ---- */

#define FINISH(type, T, A)                                                            \
    KERNEL finish_##type(lines s);                                                    \
    KERNEL finish_##type(lines s) {                                                   \
        for (long long line = FIRST; line < s.lines; line += STEP) {                  \
            const word *p = (const word *)s.a + 4 * line;                             \
            A wide;                                                                   \
            __builtin_memcpy(&wide, p, sizeof wide);                                  \
            if (s.result == PLACE)                                                    \
                ((word *)s.out)[line] = p[1];                                         \
            else if (s.result == VALUE)                                               \
                ((T *)s.out)[line] = (T)wide;                                         \
            else if (s.result != NUMBER && s.result != ROOT)                          \
                write_count(&s, line, p[0]);                                          \
            else                                                                      \
                write_number(&s, line, p[2] ? product(number_of(p[0]), (long long)p[1]) \
                                            : rounded((sum){number_of(p[0]), number_of(p[1])})); \
        }                                                                             \
    }

#define REAL(type, T, A)                                                              \
    SUMS(along_total_##type, T, ELEMENT)                                              \
    SUMS(along_distances_##type, T, DISTANCE)                                         \
    COUNTS(along_truths_##type, T, 0, += NEXT != 0)                                  \
    EXTREMES(along_argmin_##type, T, A, LEAST)                                        \
    EXTREMES(along_argmax_##type, T, A, GREATEST)                                     \
    FINISH(type, T, A)

#define INTEGERS(type, T, A)                                                          \
    REAL(type, T, A)                                                                  \
    COUNTS(along_sum_##type, T, 0, += (word)NEXT)                                    \
    COUNTS(along_prod_##type, T, 1, *= (word)NEXT)

#define FLOATS(type, T)                                                               \
    REAL(type, T, double)                                                             \
    PRODUCTS(along_prod_##type, T)

FLOATS(float64, double)
FLOATS(float32, float)
INTEGERS(int64, long long, long long)
INTEGERS(int32, int, long long)
INTEGERS(int16, short, long long)
INTEGERS(int8, signed char, long long)
INTEGERS(uint64, word, word)
INTEGERS(uint32, unsigned, word)
INTEGERS(uint16, unsigned short, word)
INTEGERS(uint8, unsigned char, word)
INTEGERS(bool, boolean, long long)
