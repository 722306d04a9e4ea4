/* What C and Go share of the bridge between NumPy and the core. */
#ifndef DTL_BRIDGE_H
#define DTL_BRIDGE_H

#include <stdint.h>

/* Results of at most DTL_INLINE bytes may come back within the call. */
enum { DTL_MAX_DIMS = 64, DTL_MAX_LISTS = 2, DTL_INLINE = 1024 };

/* What was passed, so that the like goes back: core/comm/wire.Kind. */
enum dtl_kind { DTL_NDARRAY, DTL_NUMPY_SCALAR, DTL_PYTHON_SCALAR };

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
} dtl_array;

/* One call: what goes in, and what comes out. */
typedef struct {
    int64_t code;
    int64_t handle;
    int64_t args[4];
    dtl_array in;
    dtl_array out;
    int32_t list_count;
    int32_t held; /* the buffers stay where they are after the call */
    int32_t met;  /* all ranks have met for this call */
    int32_t inline_result; /* 1: a short result may lie in inline_data, where it need not be shared with anybody */
    /* set by Go */
    int32_t unsuitable; /* an argument has no element type, or is missing: nothing was done */
    int32_t retained;   /* the call failed, but others may write to out after it: it is to stay for good */
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

/* What came: struct dtl_status of backends/mpi/calls.h. */
typedef struct {
    int source, tag, cancelled;
    int64_t bytes;
} dtl_arrival;

/* The element type of bytes, and the longest message that travels as one. */
enum { DTL_BYTES = 10, DTL_EAGER = 4096 };

/* What code outside Go sees of a board: core/board.Local. */
enum { DTL_OUTSIDE_GO = 1 };
typedef struct {
    int64_t owner; /* the context's handle; 0: nobody's */
    uint64_t turn; /* who is in a collective call: DTL_OUTSIDE_GO, or a goroutine; 0: nobody */
    int32_t rank, size, spins, brief;
    uint64_t seq; /* of the rank's last meeting */
    uint64_t slots, broken;
    uint64_t stride, extra, offers, key;
    uint64_t comm;
    int (*send_for)(uint64_t comm, const void *buf, int64_t n, int type, int dest, int tag, int64_t patience, uint64_t *request);
    int (*recv_for)(uint64_t comm, void *buf, int64_t n, int type, int source, int tag, int64_t patience, uint64_t *request,
                    dtl_arrival *arrival);
    int (*wait_for)(uint64_t *request, int64_t patience, int *done, dtl_arrival *arrival);
    int (*cancel)(uint64_t request);
    const int32_t *errands, *unexpected; /* 0 where nothing keeps a message from going straight */
    int32_t tags, unused;            /* the first tag that is too high */
    int32_t users, rest;             /* messages on their way */
} dtl_board;

/* What a rank lays down: core/board.Entry. */
enum { DTL_ENTRY_BYTES = 32, DTL_PAYLOAD_BYTES = 8192 };
typedef struct {
    uint64_t seq, print, want;
    int32_t code, bytes;
    char elements[DTL_ENTRY_BYTES];
} dtl_entry;

/* What code outside Go sees of a window all of whose parts lie in this process: core/rma.Local and target. */
typedef struct {
    uint64_t addr;
    int64_t bytes;
    uint32_t *guard;
    int32_t held, unused;
} dtl_target;
typedef struct {
    int64_t owner; /* the window's handle; 0: it is closed */
    int32_t users, rank, size, open, fence, everywhere, direct, unused;
    dtl_target *targets;
    char rest[16];
} dtl_window;

/* What code outside Go sees of a request: core/comm.sight. */
typedef struct {
    int64_t owner; /* the request's handle; 0: nobody's */
    int (*peek)(uint64_t request, int *over);
    uint64_t native; /* 0: ask Go */
    uint32_t turn;   /* 1 while somebody is at the request */
    char rest[36];
} dtl_sight;

/* What became of the last fence, and how a part is locked. */
enum { DTL_UNFENCED, DTL_FENCED, DTL_FENCE_USED };
enum { DTL_UNLOCKED, DTL_SHARED, DTL_EXCLUSIVE };

/* A call that was laid down: core/comm/wire.Signature. */
typedef struct {
    int64_t handle, code, op, type, count, root; /* op: -1 where there is none; root: one more than the rank, or 0 */
    int32_t loose;
} dtl_brief;

/* dtl_where writes the place in the program that a thread is at, by the system's number of it, 0 for the calling one, and
 * returns the text's length; 0 if nobody knows. Takes the GIL. */
int dtl_where(long thread, char *text, int size);

/* dtl_interrupted runs the handlers of signals that have come, and says 1 if one raises. Takes the GIL. */
int dtl_interrupted(void);

#endif
