/* Pages of mapped files that cannot be read any more. */
#ifndef DTL_SIGBUS_H
#define DTL_SIGBUS_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

/* sigbus_watch has pages of a mapping read as zero which their file does not have any more. It returns a number for the mapping; -1 if there are too many. */
int sigbus_watch(uintptr_t from, uintptr_t bytes);

/* sigbus_renew puts the handler back in front, as others may have removed it: Python's faulthandler restores what it found. */
void sigbus_renew(void);

/* sigbus_unwatch forgets a mapping, before it is unmapped. */
void sigbus_unwatch(int number);

/* sigbus_broken says whether pages of a mapping are missing. */
int sigbus_broken(int number);

/* sigbus_break says that somebody was told of pages that are missing. */
void sigbus_break(int number);

/* sigbus_count is where it is counted, atomically, of how many mappings pages were missing of which nobody was told. */
int32_t *sigbus_count(void);

#pragma GCC visibility pop

#endif
