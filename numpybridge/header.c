//go:build cpython

/* The description of an array before its elements, in short messages and on the board: core/comm/wire. */
#include "fastpath.h"

enum { HEADER_FIXED = 8, WAY_OFFER = 2 };

int header_put(char *head, const fast_call *t) {
    const dtl_array *in = &t->call.in;
    memset(head, 0, HEADER_FIXED);
    head[0] = (char)in->kind;
    head[1] = (char)type_of(t)->number;
    head[2] = (char)in->ndim;
    for (int i = 0; i < in->ndim; i++)
        for (int byte = 0; byte < 8; byte++)
            head[HEADER_FIXED + 8 * i + byte] = (char)((uint64_t)in->shape[i] >> 8 * byte);
    return HEADER_FIXED + 8 * in->ndim;
}

void header_put_offer(char *head, int number) {
    head[3] = WAY_OFFER;
    for (int byte = 0; byte < 4; byte++)
        head[4 + byte] = (char)((uint32_t)number >> 8 * byte);
}

static uint64_t extent_of(const unsigned char *head, int dim) {
    uint64_t extent = 0;
    for (int byte = 0; byte < 8; byte++)
        extent |= (uint64_t)head[HEADER_FIXED + 8 * dim + byte] << 8 * byte;
    return extent;
}

int header_get_offer(const char *laid, int64_t bytes, dtl_array *elements, uint32_t *number) {
    const unsigned char *head = (const unsigned char *)laid;
    const array_type *type;
    if (bytes < HEADER_FIXED || head[0] > DTL_PYTHON_SCALAR || head[3] != WAY_OFFER || (type = type_numbered(head[1])) == NULL ||
        bytes != HEADER_FIXED + 8 * head[2])
        return 0;
    elements->type = type->number;
    elements->itemsize = type->size;
    elements->count = 1;
    for (int i = 0; i < head[2]; i++)
        if (__builtin_mul_overflow(elements->count, extent_of(head, i), &elements->count))
            return 0;
    *number = 0;
    for (int byte = 0; byte < 4; byte++)
        *number |= (uint32_t)head[4 + byte] << 8 * byte;
    return 1;
}

int header_get(fast_call *t, const char *laid, int bytes) {
    dtl_array *r = &t->call.result;
    const unsigned char *head = (const unsigned char *)laid;
    const array_type *type;
    if (bytes < HEADER_FIXED || head[0] > DTL_PYTHON_SCALAR || head[2] > NDARRAY_MAX_DIMS || head[3] != 0 ||
        (type = type_numbered(head[1])) == NULL || bytes < HEADER_FIXED + 8 * head[2])
        return 0;
    int64_t count = 1;
    for (int i = 0; i < head[2]; i++) {
        uint64_t extent = extent_of(head, i);
        if (extent > DTL_PAYLOAD_BYTES)
            return 0;
        t->call.shape[i] = (int64_t)extent;
        if ((count *= (int64_t)extent) > DTL_PAYLOAD_BYTES)
            return 0;
    }
    if (bytes != HEADER_FIXED + 8 * head[2] + count * type->size)
        return 0;
    *r = (dtl_array){.given = 1, .type = type->number, .data = (char *)laid + HEADER_FIXED + 8 * head[2], .format = (char *)type->format,
                     .itemsize = type->size, .count = count, .shape = t->call.shape, .ndim = head[2], .kind = head[0]};
    return 1;
}

