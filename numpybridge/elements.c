//go:build cpython

/*
 * Loops over elements of 1, 2, 4, 8 or 16 bytes, which NumPy has with a branch for each element, or not at all with a place for the
 * result. They have no branch that depends on the elements: where these are random, the processor would guess every other one wrong.
 * They do not hold the interpreter's lock, and run on the threads of this rank, in pieces.
 */
#include "borrowed.h"
#include "elements.h"
#include "past_cache.h"
#include "threads.h"
#include <stdatomic.h>
#include <string.h>

typedef struct {
    uint64_t half[2];
} pair;

/* How many bytes are written at once where one element is written often. */
enum { VECTOR = 64 };

/* A loop for each size: NAME is a macro of a type and of what the function is called for. */
#define FOR_EACH_SIZE(NAME) NAME(uint8_t, 1) NAME(uint16_t, 2) NAME(uint32_t, 4) NAME(uint64_t, 8)

/* blendN writes the element of x where a mask is true, and of y elsewhere. A step is 0 for one element, which is taken everywhere. */
#define BLEND(type, size)                                                                                                                 \
    DTL_VECTORS static void blend##size(                                                                                                  \
        type *restrict out, const uint8_t *restrict mask, const type *restrict x, const type *restrict y, int x_step, int y_step,         \
        ptrdiff_t n) {                                                                                                                    \
        if (x_step && y_step)                                                                                                             \
            for (ptrdiff_t i = 0; i < n; i++)                                                                                             \
                out[i] = (type)(y[i] ^ ((x[i] ^ y[i]) & (type) - (type)(mask[i] != 0)));                                                  \
        else if (x_step)                                                                                                                  \
            for (ptrdiff_t i = 0; i < n; i++)                                                                                             \
                out[i] = (type)(*y ^ ((x[i] ^ *y) & (type) - (type)(mask[i] != 0)));                                                      \
        else if (y_step)                                                                                                                  \
            for (ptrdiff_t i = 0; i < n; i++)                                                                                             \
                out[i] = (type)(y[i] ^ ((*x ^ y[i]) & (type) - (type)(mask[i] != 0)));                                                    \
        else                                                                                                                              \
            for (ptrdiff_t i = 0; i < n; i++)                                                                                             \
                out[i] = (type)(*y ^ ((*x ^ *y) & (type) - (type)(mask[i] != 0)));                                                        \
    }
BLEND(uint16_t, 2)
BLEND(uint32_t, 4)
BLEND(uint64_t, 8)

/* blend1 takes eight elements at once: compilers make a branch of one. */
static void blend1(uint8_t *out, const uint8_t *mask, const uint8_t *x, const uint8_t *y, int x_step, int y_step, ptrdiff_t n) {
    const uint64_t ones = 0x0101010101010101, low = 0x7f * ones;
    uint64_t first = *x * ones, second = *y * ones, chosen;
    ptrdiff_t i = 0;
    for (; i + 8 <= n; i += 8) {
        memcpy(&chosen, mask + i, 8);
        if (x_step)
            memcpy(&first, x + i, 8);
        if (y_step)
            memcpy(&second, y + i, 8);
        chosen = (((chosen & low) + low) | chosen) >> 7 & ones; /* 1 for each byte that is not zero */
        chosen = second ^ ((first ^ second) & chosen * 0xff);
        memcpy(out + i, &chosen, 8);
    }
    for (; i < n; i++)
        out[i] = mask[i] != 0 ? x[x_step * i] : y[y_step * i];
}

static void blend16(pair *restrict out, const uint8_t *restrict mask, const pair *x, const pair *y, int x_step, int y_step, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i++) {
        const pair *from[] = {y + i * y_step, x + i * x_step};
        out[i] = *from[mask[i] != 0];
    }
}

static int blend(void *out, const uint8_t *mask, const void *x, const void *y, int x_step, int y_step, ptrdiff_t n, int size) {
    switch (size) {
    case 1: blend1(out, mask, x, y, x_step, y_step, n); return 1;
    case 2: blend2(out, mask, x, y, x_step, y_step, n); return 1;
    case 4: blend4(out, mask, x, y, x_step, y_step, n); return 1;
    case 8: blend8(out, mask, x, y, x_step, y_step, n); return 1;
    case 16: blend16(out, mask, x, y, x_step, y_step, n); return 1;
    default: return 0;
    }
}

/* count says how many bytes of a mask are not zero. */
DTL_VECTORS static ptrdiff_t count(const uint8_t *mask, ptrdiff_t n) {
    ptrdiff_t found = 0;
    while (n > 0) { /* a vector's lanes of one byte hold 255 */
        uint8_t sums[64] = {0};
        ptrdiff_t rows = n / 64 < 255 ? n / 64 : 255;
        for (ptrdiff_t row = 0; row < rows; row++, mask += 64)
            for (int i = 0; i < 64; i++)
                sums[i] = (uint8_t)(sums[i] + (mask[i] != 0));
        for (int i = 0; i < 64; i++)
            found += sums[i];
        n -= 64 * rows;
        for (; rows == 0 && n > 0; n--)
            found += *mask++ != 0;
    }
    return found;
}

/* packN writes the elements for which a mask is true, side by side: room of them at most. It ends before one would not fit. */
#define PACK(type, size)                                                                                                                  \
    static ptrdiff_t pack##size(type *restrict out, ptrdiff_t room, const type *from, const uint8_t *mask, ptrdiff_t n) {                \
        ptrdiff_t at = 0, i = 0;                                                                                                          \
        for (; i < n && at < room; i++) {                                                                                                 \
            out[at] = from[i];                                                                                                            \
            at += mask[i] != 0;                                                                                                           \
        }                                                                                                                                 \
        return at;                                                                                                                        \
    }
FOR_EACH_SIZE(PACK)
PACK(pair, 16)

static ptrdiff_t pack(void *out, ptrdiff_t room, const void *from, const uint8_t *mask, ptrdiff_t n, int size) {
    switch (size) {
    case 1: return pack1(out, room, from, mask, n);
    case 2: return pack2(out, room, from, mask, n);
    case 4: return pack4(out, room, from, mask, n);
    case 8: return pack8(out, room, from, mask, n);
    default: return pack16(out, room, from, mask, n);
    }
}

/* repeatN writes n elements, each as often: the first of all has been written skip times before. Where each is written a few times, whole
 * vectors are, the smallest that hold these, of which the next one overwrites what is too much (fewN). */
#define REPEAT(type, size)                                                                                                                \
    static inline __attribute__((always_inline)) ptrdiff_t few##size(                                                                     \
        type *restrict out, const type *restrict *from, ptrdiff_t often, ptrdiff_t *skip, ptrdiff_t n, const ptrdiff_t lanes) {           \
        type all[VECTOR / size];                                                                                                          \
        ptrdiff_t at = 0;                                                                                                                 \
        for (ptrdiff_t step = often - *skip; often <= lanes && at + lanes <= n; at += step, step = often, *skip = 0, ++*from) {           \
            for (int k = 0; k < lanes; k++)                                                                                               \
                all[k] = **from;                                                                                                          \
            memcpy(out + at, all, (size_t)lanes * size);                                                                                  \
        }                                                                                                                                 \
        return at;                                                                                                                        \
    }                                                                                                                                     \
    WIDE_VECTORS static void repeat##size(type *restrict out, const type *restrict from, ptrdiff_t often, ptrdiff_t skip, ptrdiff_t n) {  \
        enum { LANES = VECTOR / size };                                                                                                   \
        type all[LANES];                                                                                                                  \
        ptrdiff_t at = often <= LANES / 4   ? few##size(out, &from, often, &skip, n, LANES / 4)                                           \
                       : often <= LANES / 2 ? few##size(out, &from, often, &skip, n, LANES / 2)                                           \
                                            : few##size(out, &from, often, &skip, n, LANES);                                              \
        for (; at < n; skip = 0, from++) {                                                                                                \
            const type element = *from;                                                                                                   \
            const ptrdiff_t end = at + often - skip < n ? at + often - skip : n;                                                          \
            for (int k = 0; k < LANES; k++)                                                                                               \
                all[k] = element;                                                                                                         \
            for (; at + LANES <= end; at += LANES)                                                                                        \
                memcpy(out + at, all, VECTOR);                                                                                            \
            for (; at < end; at++)                                                                                                        \
                out[at] = element;                                                                                                        \
        }                                                                                                                                 \
    }
FOR_EACH_SIZE(REPEAT)
REPEAT(pair, 16)

#ifdef __SSE2__
/* pastN does what repeatN does, past the caches, where each element fills whole words of 16 bytes. */
#define PAST(type, size, WORD)                                                                                                            \
    static void past##size(type *out, const type *from, ptrdiff_t often, ptrdiff_t skip, ptrdiff_t n) {                                   \
        for (type *end = out + n, *next = out + often - skip; out < end; next += often, from++) {                                         \
            const __m128i word = WORD;                                                                                                    \
            for (type *stop = next < end ? next : end; out < stop; out += sizeof word / size)                                             \
                _mm_stream_si128((__m128i *)out, word);                                                                                   \
        }                                                                                                                                 \
        end_past();                                                                                                                       \
    }
PAST(uint8_t, 1, _mm_set1_epi8((char)*from))
PAST(uint16_t, 2, _mm_set1_epi16((short)*from))
PAST(uint32_t, 4, _mm_set1_epi32((int)*from))
PAST(uint64_t, 8, _mm_set1_epi64x((long long)*from))
PAST(pair, 16, _mm_loadu_si128((const __m128i *)from))

/* repeat_past says whether it has written the elements past the caches. */
static int repeat_past(void *out, const void *from, ptrdiff_t often, ptrdiff_t skip, ptrdiff_t n, int size) {
    if (((uintptr_t)out | (uintptr_t)(often * size) | (uintptr_t)(skip * size) | (uintptr_t)(n * size)) % sizeof(__m128i))
        return 0;
    switch (size) {
    case 1: past1(out, from, often, skip, n); return 1;
    case 2: past2(out, from, often, skip, n); return 1;
    case 4: past4(out, from, often, skip, n); return 1;
    case 8: past8(out, from, often, skip, n); return 1;
    default: past16(out, from, often, skip, n); return 1;
    }
}
#else
static int repeat_past(void *out, const void *from, ptrdiff_t often, ptrdiff_t skip, ptrdiff_t n, int size) { return 0; }
#endif

static void repeat(void *out, const void *from, ptrdiff_t often, ptrdiff_t skip, ptrdiff_t n, int size, int is_large) {
    if (is_large && repeat_past(out, from, often, skip, n, size))
        return;
    switch (size) {
    case 1: repeat1(out, from, often, skip, n); return;
    case 2: repeat2(out, from, often, skip, n); return;
    case 4: repeat4(out, from, often, skip, n); return;
    case 8: repeat8(out, from, often, skip, n); return;
    default: repeat16(out, from, often, skip, n); return;
    }
}

/* ---- Pieces, on the threads of this rank ---- */

/* Elements from FEW on are computed in pieces. */
enum { PIECE = 1 << 17, FEW = 1 << 18, MOST_COUNTS = 1 << 12 };

typedef struct element_call element_call;

/* What a call does, and with what: not all have all of this. */
struct element_call {
    void (*piece)(const element_call *call, ptrdiff_t first, ptrdiff_t n);
    char *out;
    const uint8_t *mask;
    const char *x, *y;
    int x_step, y_step, size;
    ptrdiff_t often, skip, n, each;
    const ptrdiff_t *starts; /* where the elements of a piece are packed */
    pieces taken;
};

/* work does pieces that nobody has done, until there is none. */
static void work(long long thread, void *context) {
    element_call *call = context;
    for (ptrdiff_t piece; take_piece(&call->taken, thread, pieces_of(call->n, call->each), &piece);) {
        const ptrdiff_t first = piece * call->each;
        call->piece(call, first, call->n - first < call->each ? call->n - first : call->each);
    }
}

/* run does all pieces of a call, which are of so many elements, on at most so many threads; 0 is all of this rank. The caller does not
 * have the interpreter's lock. */
static void run(element_call *call, int most) {
    atomic_init(&call->taken, 0);
    run_on_threads(call->n < FEW ? 1 : threads_at_most(most), work, call);
}

static void blend_piece(const element_call *c, ptrdiff_t first, ptrdiff_t n) {
    const ptrdiff_t size = c->size;
    blend(c->out + first * size, c->mask + first, c->x + c->x_step * first * size, c->y + c->y_step * first * size, c->x_step, c->y_step,
          n, c->size);
}

static void pack_piece(const element_call *c, ptrdiff_t first, ptrdiff_t n) {
    const ptrdiff_t size = c->size, *start = c->starts + first / c->each;
    pack(c->out + start[0] * size, start[1] - start[0], c->x + first * size, c->mask + first, n, c->size);
}

static void repeat_piece(const element_call *c, ptrdiff_t first, ptrdiff_t n) {
    const ptrdiff_t size = c->size, before = first + c->skip;
    repeat(c->out + first * size, c->x + before / c->often * size, c->often, before % c->often, n, c->size,
           c->n * size >= LARGE_RESULT);
}

/* run_pack packs, and returns how many there are: in pieces that are as many as there is room to note where they begin. */
static ptrdiff_t run_pack(element_call *call, ptrdiff_t room, int most) {
    ptrdiff_t starts[MOST_COUNTS + 1] = {0}, pieces = 0;
    if (call->n / PIECE >= MOST_COUNTS)
        call->each = call->n / (MOST_COUNTS - 1);
    for (ptrdiff_t first = 0; first < call->n; first += call->each, pieces++) {
        ptrdiff_t end = starts[pieces] + count(call->mask + first, call->n - first < call->each ? call->n - first : call->each);
        starts[pieces + 1] = end < room ? end : room;
    }
    call->starts = starts;
    run(call, most);
    return starts[pieces];
}

/* known_size says whether there are loops for elements of a size. */
static int known_size(int size) {
    if (size == 1 || size == 2 || size == 4 || size == 8 || size == 16)
        return 1;
    PyErr_Format(PyExc_ValueError, "elements of %d bytes", size);
    return 0;
}

const char blend_doc[] = PyDoc_STR(
"blend($module, out, mask, x, y, size, threads, /)\n--\n\n"
"Write elements of size bytes to out: of x where the mask is true, and of y elsewhere. Each of the two has as many as the\n"
"mask, or one.");

PyObject *bridge_blend(PyObject *module, PyObject *args) {
    PyObject *out, *mask, *x, *y, *answer = NULL;
    int size, most;
    if (!PyArg_ParseTuple(args, "OOOOii:blend", &out, &mask, &x, &y, &size, &most) || !known_size(size))
        return NULL;
    borrowed b = {.count = 0};
    const uint8_t *chosen = borrow(&b, mask, 0, 0, "mask");
    ptrdiff_t n = chosen == NULL ? 0 : b.views[0].len;
    void *to = chosen == NULL ? NULL : borrow(&b, out, 1, n * size, "out");
    const void *first = to == NULL ? NULL : borrow(&b, x, 0, size, "x");
    const void *second = first == NULL ? NULL : borrow(&b, y, 0, size, "y");
    if (second != NULL) {
        int x_step = b.views[2].len >= n * size, y_step = b.views[3].len >= n * size;
        Py_BEGIN_ALLOW_THREADS
        run(&(element_call){.piece = blend_piece, .out = to, .mask = chosen, .x = first, .y = second, .x_step = x_step, .y_step = y_step,
                            .size = size, .n = n, .each = PIECE}, most);
        Py_END_ALLOW_THREADS
        answer = Py_NewRef(Py_None);
    }
    release(&b);
    return answer;
}

const char pack_doc[] = PyDoc_STR(
"pack($module, out, values, mask, size, threads, /)\n--\n\n"
"Write the values of size bytes for which the mask is true to out, side by side, and return how many there are. Without\n"
"out, which is None, only that.");

PyObject *bridge_pack(PyObject *module, PyObject *args) {
    PyObject *out, *values, *mask, *answer = NULL;
    int size, most;
    if (!PyArg_ParseTuple(args, "OOOii:pack", &out, &values, &mask, &size, &most) || !known_size(size))
        return NULL;
    borrowed b = {.count = 0};
    const uint8_t *chosen = borrow(&b, mask, 0, 0, "mask");
    ptrdiff_t n = chosen == NULL ? 0 : b.views[0].len, found = 0;
    if (chosen != NULL && out == Py_None) {
        Py_BEGIN_ALLOW_THREADS
        found = count(chosen, n);
        Py_END_ALLOW_THREADS
        answer = PyLong_FromSsize_t(found);
    } else if (chosen != NULL) {
        const void *from = borrow(&b, values, 0, n * size, "values");
        void *to = from == NULL ? NULL : borrow(&b, out, 1, 0, "out");
        if (to != NULL) {
            ptrdiff_t room = b.views[2].len / size;
            Py_BEGIN_ALLOW_THREADS
            found = run_pack(
                &(element_call){.piece = pack_piece, .out = to, .mask = chosen, .x = from, .size = size, .n = n, .each = PIECE}, room,
                most);
            Py_END_ALLOW_THREADS
            answer = PyLong_FromSsize_t(found);
        }
    }
    release(&b);
    return answer;
}

const char repeat_doc[] = PyDoc_STR(
"repeat($module, out, values, often, skip, size, threads, /)\n--\n\n"
"Fill out with values of size bytes, each of them often, the first one skip times less.");

PyObject *bridge_repeat(PyObject *module, PyObject *args) {
    PyObject *out, *values, *answer = NULL;
    Py_ssize_t often, skip;
    int size, most;
    if (!PyArg_ParseTuple(args, "OOnnii:repeat", &out, &values, &often, &skip, &size, &most) || !known_size(size))
        return NULL;
    if (often < 1 || skip < 0 || skip >= often)
        return PyErr_Format(PyExc_ValueError, "%zd times, and %zd less", often, skip);
    borrowed b = {.count = 0};
    void *to = borrow(&b, out, 1, 0, "out");
    ptrdiff_t n = to == NULL ? 0 : b.views[0].len / size;
    const void *from = to == NULL ? NULL : borrow(&b, values, 0, n > 0 ? ((n + skip - 1) / often + 1) * size : 0, "values");
    if (from != NULL) {
        Py_BEGIN_ALLOW_THREADS
        run(&(element_call){.piece = repeat_piece, .out = to, .x = from, .often = often, .skip = skip, .size = size, .n = n,
                            .each = PIECE}, most);
        Py_END_ALLOW_THREADS
        answer = Py_NewRef(Py_None);
    }
    release(&b);
    return answer;
}
