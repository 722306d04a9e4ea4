/* Where the program was when it made calls with a root. */
#ifndef DTL_PLACES_H
#define DTL_PLACES_H

#include "interpreter.h"
#include "objects.h"

#pragma GCC visibility push(hidden)

/* places_keep keeps where the program is, which has made a call with a root on ranks and may have gone on from it. */
void places_keep(const RanksObject *ranks);

/* places_of returns the code from which a call was made, and sets its line: that of a number, where ranks meet. NULL: nobody knows. */
PyObject *places_of(uint64_t meets, uint64_t number, int *line);

#pragma GCC visibility pop

#endif
