/* Headers of what ranks lay down. */
#ifndef DTL_HEADER_H
#define DTL_HEADER_H

#include "fastpath_call.h"
#include "interpreter.h"

#pragma GCC visibility push(hidden)

/* header_put describes the input, and returns how many bytes that takes. */
int header_put(char *head, const fast_call *t);

/* header_put_entry describes an entry of the input along its first dimension. */
int header_put_entry(char *head, const fast_call *t);

/* header_get describes one of the parts that another rank wrote, of one header, as the call's result, and says whether the elements
 * are all there. */
int header_get(fast_call *t, const char *laid, int bytes, int part, int parts);

/* header_put_offer is header_put where the elements are offered under a number. */
int header_put_offer(char *head, const fast_call *t, int number);

/* header_get_offer says whether elements are offered that an output has room for, and under which number. */
int header_get_offer(const char *laid, int64_t bytes, const dtl_array *out, uint32_t *number);

#pragma GCC visibility pop

#endif
