/* Elements that a rank offers to another. */
#ifndef DTL_FASTPATH_OFFERS_H
#define DTL_FASTPATH_OFFERS_H

#include "interpreter.h"
#include "objects.h"

#pragma GCC visibility push(hidden)

/* offer_make offers elements to a rank, and returns the number; -1 where it cannot copy them, or too many are open. */
int offer_make(const RanksObject *ranks, int dest, const void *data, int64_t bytes);

/* offer_settled waits a moment for the elements to be copied, and says whether they were: then the offer is over. */
int offer_settled(const RanksObject *ranks, int number, int64_t bytes);

/* offer_collect copies what a rank offers to an output, and returns 1; 0 where there is no such offer, and -1 with an
 * exception where the copy fails, which ends the offer. */
int offer_collect(const RanksObject *ranks, int rank, uint32_t number, int tag, PyObject *out, const dtl_array *into);

#pragma GCC visibility pop

#endif
