/* A Short: which of a function's parameters is what of a call, and what comes back. */
#ifndef DTL_FASTPATH_H
#define DTL_FASTPATH_H

#include "numpy.h"

#pragma GCC visibility push(hidden)

enum { MAX_PARAMETERS = 10 };

/* What a parameter is. Integers are the places from 0 on. */
enum { IS_INTEGER, IS_OWNER = -10, IS_IN, IS_OUT, IS_NONE, IS_FALSE, IS_DTYPE, IS_SIZE };

/* What comes back. */
typedef enum {
    RECEIVED, /* what the call returns */
    SENT,     /* nothing: the call is a send */
    EXCHANGED, /* what the call returns, which sends too */
    SHARED,   /* on root the value, elsewhere what the call returns; the input is root's, elsewhere an array is a template */
    DEALT,    /* what the call returns; the input is root's, and ignored elsewhere */
    LIKE,     /* an array or scalar like the input; where there is a root, only there */
    STACKED,  /* an array with an entry like the input for each rank; where there is a root, only there */
    MET,      /* nothing: the call is a barrier */
    FOLDED,   /* a NumPy scalar made of all elements of a container, by the fold */
    WRITTEN,  /* nothing: the call writes to a window */
    READ,     /* an array of a size and dtype, or the output: the call reads from a window */
    ADDED,    /* a NumPy scalar: what was in a window, which the call adds to */
    COUNTED,  /* the same of a counter, as a Python integer */
    FLUSHED,  /* nothing: the call flushes a window */
} answer;

typedef struct {
    int place, argument; /* argument: of an integer or dtype */
    PyObject *name, *standard; /* standard: NULL where there is none */
} parameter;

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *prepare, *weak;
    int64_t code;
    uint64_t print; /* of the operation's name, on the board */
    answer answer;
    int64_t fold;
    int root; /* which integer is the root; -1: there is none */
    int count, positional;
    parameter parameters[MAX_PARAMETERS];
} ShortObject;

/* One call on its way. */
typedef struct {
    dtl_call call;
    PyObject *value, *out;       /* as the caller passed them */
    const array_type *generic; /* of a value that is a NumPy scalar */
    scalar input, result;
} trip;

/* short_vectorcall calls a Short. */
PyObject *short_vectorcall(PyObject *self, PyObject *const *args, size_t flagged, PyObject *words);

/* take_value describes the input. None is none. */
int take_value(trip *t);

/* type_of returns the type of the input. */
const array_type *type_of(const trip *t);

/* new_result makes an array for the result, with a first dimension of count more where count is not negative. */
PyObject *new_result(const trip *t, int64_t count);

/* scalar_result returns the result as a scalar like the input. */
PyObject *scalar_result(trip *t);

/* given_out makes the call with the caller's output, if there is one. */
PyObject *given_out(trip *t);

/* ---- header.c ---- */

enum { HEAD_ROOM = 8 + 8 * DTL_MAX_DIMS };

/* write_head describes the input, and returns how many bytes that takes. */
int write_head(char *head, const trip *t);

/* read_head describes what another rank wrote as the call's result, and says whether the elements are all there. */
int read_head(trip *t, const char *laid, int bytes);

/* write_offer turns what write_head wrote into that of elements that are offered under a number. */
void write_offer(char *head, int number);

/* read_offer says whether elements are offered, of which type, how many, and under which number. */
int read_offer(const char *laid, int64_t bytes, dtl_array *elements, uint32_t *number);

/* ---- fastpath_offers.c ---- */

/* offer_make offers elements to a rank, and returns the number; -1 where it cannot copy them, or too many are open. */
int offer_make(const dtl_board *b, int dest, const void *data, int64_t bytes);

/* offer_settled waits a moment for the elements to be copied, and says whether they were: then the offer is over. */
int offer_settled(const dtl_board *b, int number, int64_t bytes);

/* offer_collect copies what a rank offers to an output, and returns 1; 0 where there is no such offer, and -1 with an
 * exception where the copy fails, which ends the offer. */
int offer_collect(const RanksObject *ranks, int rank, uint32_t number, int tag, PyObject *out, const dtl_array *into);

/* ---- fastpath_rma.c ---- */

/* near_access accesses a window in this process's memory, or returns NotImplemented. */
PyObject *near_access(const ShortObject *s, trip *t, PyObject *owner);

/* ---- fastpath_meeting.c ---- */

/* Where it is not 0, each call goes on with what is under way first. */
extern const int32_t *polls;

/* ---- fastpath_collectives.c, fastpath_messages.c ---- */

/* near_barrier is a barrier by the board alone, or returns NotImplemented. */
PyObject *near_barrier(const ShortObject *s, const RanksObject *ranks);

/* near_send sends a short message straight away, and near_receive receives one that comes at once; or they return
 * NotImplemented. */
PyObject *near_send(trip *t, const RanksObject *ranks);
PyObject *near_receive(trip *t, const RanksObject *ranks);

/* near_call makes a call by the board alone, or returns NotImplemented. here says whether this rank is the root, if there
 * is one. */
PyObject *near_call(const ShortObject *s, trip *t, const RanksObject *ranks, int here);

#pragma GCC visibility pop

#endif
