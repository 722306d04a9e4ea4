//go:build cpython

/* The header of the array that a call of the fast path passes, and of one that comes. */
#include "fastpath_call.h"
#include "header.h"
#include "numpy.h"

int header_put_entry(char *head, const fast_call *t) {
    const dtl_array *in = &t->call.in;
    dtl_header h = {.kind = in->ndim == 1 ? DTL_NUMPY_SCALAR : DTL_NDARRAY, .type = type_of(t)->number, .ndim = in->ndim - 1, .way = DTL_ALONG};
    return dtl_header_put(head, &h, in->shape + 1);
}

static int put(char *head, const fast_call *t, int way, int number) {
    const dtl_array *in = &t->call.in;
    dtl_header h = {.kind = in->kind, .type = type_of(t)->number, .ndim = in->ndim, .way = way, .number = (uint32_t)number};
    return dtl_header_put(head, &h, in->shape);
}

int header_put(char *head, const fast_call *t) { return put(head, t, DTL_ALONG, 0); }

int header_put_offer(char *head, const fast_call *t, int number) { return put(head, t, DTL_OFFERED, number); }

int header_get_offer(const char *laid, int64_t bytes, const dtl_array *out, uint32_t *number) {
    dtl_header h;
    if (!dtl_header_get(laid, bytes, type_sizes, &h) || h.kind > DTL_PYTHON_SCALAR || h.way != DTL_OFFERED ||
        bytes != DTL_HEADER_FIXED + 8 * h.ndim || h.type != out->type || h.count != out->count)
        return 0;
    *number = h.number;
    return 1;
}

int header_get(fast_call *t, const char *laid, int bytes, int part, int parts) {
    dtl_header h;
    if (!dtl_header_get(laid, bytes, type_sizes, &h) || h.kind > DTL_PYTHON_SCALAR || h.way != DTL_ALONG ||
        h.ndim > NDARRAY_MAX_DIMS)
        return 0;
    const array_type *type = type_numbered((unsigned)h.type);
    int before = DTL_HEADER_FIXED + 8 * h.ndim;
    if (h.count > bytes || bytes - before != parts * h.count * type->size)
        return 0;
    for (int i = 0; i < h.ndim; i++)
        t->call.shape[i] = dtl_header_extent(laid, i);
    t->call.result = (dtl_array){.given = 1, .type = h.type, .data = (char *)laid + before + part * h.count * type->size,
                                 .format = type->format, .itemsize = type->size, .count = h.count, .shape = t->call.shape, .ndim = h.ndim, .kind = h.kind};
    return 1;
}
