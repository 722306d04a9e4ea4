#ifndef DTL_RESERVE_H
#define DTL_RESERVE_H

#include <stdint.h>

/* As much as Go's heap takes at a time, 64 MiB, and some threads or small mappings. */
enum { RESERVE_BYTES = 96 << 20 };

/* reserve_give_back gives the reserve back to the system, if it is held. */
void reserve_give_back(void);

/* reserve_keep maps the reserve if it is not held, and says whether it is held then. */
int reserve_keep(void);

/* reserve_state returns where it says, by 0, that the reserve is held. */
int32_t *reserve_state(void);

#endif
