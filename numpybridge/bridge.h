/* What C and Go of this package pass to each other. Go takes it from here. */
#ifndef DTL_BRIDGE_H
#define DTL_BRIDGE_H

#include "protocol.h"

/* Codes of the errors that C finds by itself: core/status. */
enum { DTL_INVALID_TYPE = 101, DTL_COMMUNICATION = 300, DTL_BACKEND = 400 };

/* Results of at most DTL_INLINE bytes may come back within the call. */
enum { DTL_ARGS = 4, DTL_MAX_LISTS = 2, DTL_INLINE = 1024 };

/* One array; C-contiguous, but for results with strides. */
typedef struct {
    int32_t given; /* 0: there is none. An array without elements may have no address. */
    int32_t type;  /* the core's number of the element type; 0: see format */
    void *data;
    const char *format; /* PEP 3118; borrowed for an input, static for a result */
    const int64_t *shape; /* of an output: nobody asks */
    const int64_t *strides; /* of a result, in bytes; NULL: side by side in C order */
    int64_t itemsize;
    int64_t count;
    int32_t ndim;
    int32_t kind;
    int32_t place; /* of a result: 0: the host may touch it; n: only device n - 1; -n: it and the host */
} dtl_array;

/* One call: what goes in, and what comes out. */
typedef struct {
    int64_t code;
    int64_t handle;
    int64_t args[DTL_ARGS];
    dtl_array in;
    dtl_array out;
    int32_t list_count;
    int32_t held; /* the buffers stay where they are after the call */
    int32_t borrowed; /* the first list has the addresses and lengths of buffers */
    int32_t met;  /* all ranks have met for this call */
    int32_t inline_result; /* 1: a short result may lie in inline_data, where it need not be shared with anybody */
    /* set by Go */
    int32_t unsuitable; /* an argument has no element type, or is missing: nothing was done */
    int32_t retained;   /* the call failed, but others may write to out after it: it is to stay for good */
    int32_t staged; /* elements of a device went through the host for the call */
    uintptr_t stream; /* of a result that is a device's: the driver's stream that it is worked on in */
    uintptr_t storage; /* owner of result.data, or 0: there is none, or the elements lie in inline_data */
    dtl_array result;
    char *error; /* "[code op] cause", from malloc, or NULL */
    int32_t alone; /* the error is this rank's alone: no other has heard of it */
    /* all above starts as zeros */
    int64_t shape[DTL_MAX_DIMS];    /* result.shape points here */
    int64_t strides[DTL_MAX_DIMS];  /* result.strides points here, if anywhere */
    int64_t in_shape[DTL_MAX_DIMS]; /* in.shape points here where the array might change its own meanwhile */
    dtl_array lists[DTL_MAX_LISTS]; /* list_count of them, each int64 or not given */
    int64_t inline_data[DTL_INLINE / 8]; /* result.data points here, if storage is 0 */
} dtl_call;

/* dtl_box is some elements of an array: rows from an index of the leading dimensions on, or all, where ndim is 0. */
typedef struct {
    int32_t ndim;
    int64_t at[DTL_MAX_DIMS];
    int64_t rows;
} dtl_box;

/* dtl_where writes the place in the program that a thread is at, by the system's number of it, 0 for the calling one, and
 * returns the text's length; 0 if nobody knows. Takes the GIL. */
int dtl_where(long thread, char *text, int size);

/* dtl_where_was is dtl_where of a call with a root that this process made: that of a number, where ranks meet. */
int dtl_where_was(uint64_t meets, uint64_t number, char *text, int size);

/* dtl_interrupted runs the handlers of signals that have come, and says 1 if one raises. Takes the GIL. */
int dtl_interrupted(void);

#endif
