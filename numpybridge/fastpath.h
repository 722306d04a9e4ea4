/* A ShortCall: which of a function's parameters is what of a call, and what comes back. */
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
} ShortCallObject;

/* One call on its way. */
typedef struct {
    dtl_call call;
    PyObject *value, *out;       /* as the caller passed them */
    const array_type *generic; /* of a value that is a NumPy scalar */
    scalar input, result;
} fast_call;

/* ---- fastpath_call.c ---- */

/* take_value describes the input. None is none. */
int take_value(fast_call *t);

/* type_of returns the type of the input. */
const array_type *type_of(const fast_call *t);

/* new_result makes an array for the result, with a first dimension of count more where count is not negative. */
PyObject *new_result(const fast_call *t, int64_t count);

/* scalar_result returns the result as a scalar like the input. */
PyObject *scalar_result(fast_call *t);

/* like_scalar makes a call whose result is a scalar like the value. */
PyObject *like_scalar(fast_call *t);

/* made_out makes the call with an output made here, of count entries or like the input. */
PyObject *made_out(fast_call *t, int64_t count);

/* given_out makes the call with the caller's output, if there is one. */
PyObject *given_out(fast_call *t);

/* ---- header.c ---- */

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

/* ---- fastpath_ahead.c ---- */

/* Of which ranks this process is ahead. */
extern dtl_ahead *ahead;

/* ahead_prepare finds the memory that ahead points to. */
void ahead_prepare(void);

/* ahead_claim says whether a rank may go on from a call on a board. */
int ahead_claim(const dtl_board *board, int rank, int size);

/* ahead_claim_place says whether a rank may go on from a call where ranks of several nodes meet, a place that is known by a number. */
int ahead_claim_place(uint64_t place, int rank, int size);

/* ahead_end says that this process is not ahead on a board any more. */
static inline void ahead_end(const dtl_board *board) { dtl_ahead_end(ahead, board); }

/* ahead_confirm waits a moment until this process is ahead no more, and says whether it is not. Else Go makes the call. */
int ahead_confirm(void);

/* ahead_confirmed says the same without waiting where this process is not ahead, or only on the board on which it calls now; NULL: on none. */
static inline int ahead_confirmed(const dtl_board *board) {
    uint64_t on = __atomic_load_n(&ahead->board, __ATOMIC_RELAXED);
    return on == 0 || on == (uint64_t)board || ahead_confirm();
}

/* ---- fastpath_meeting.c ---- */

/* A meeting of all ranks for one call, in the memory that they share, or of several nodes. */
typedef struct {
    dtl_board *board; /* NULL: the ranks are on several nodes */
    dtl_nodes *nodes;
    dtl_signature signature;
    uint64_t print; /* of the operation's name */
    int rank, size;
    void *into; /* where the elements that come are to go, if that is known */
    int64_t into_bytes;
    int deals; /* 1: root's elements are dealt out */
    int lends; /* 1: the elements may be sent from where they are */
    int kept;  /* what of both an operation still uses, of a call that not all made: nodes.h */
} meeting;

/* meeting_prepare learns the operators' fingerprints. */
void meeting_prepare(void);

/* meeting_may_go_on says whether this rank may go on from a call in which it needs no other. */
int meeting_may_go_on(const meeting *m);

/* meeting_begin takes this rank's turn on the board for a call, and says whether it could; else Go makes the call. */
int meeting_begin(meeting *m, const RanksObject *ranks, int64_t code, uint64_t print);

/* meeting_room returns how many bytes a rank may lay down, which are combined where reduces says so, and go to one rank or to all. */
int64_t meeting_room(const RanksObject *ranks, int reduces, int to_one);

/* meeting_room_of_root returns how many bytes root may lay down, whose elements go to the others. */
int64_t meeting_room_of_root(const RanksObject *ranks);

/* meeting_join lays down up to two pieces, waits for whom the call waits, and returns 1. It returns -1 with an exception set
 * where the ranks do not agree, and 0 where there is no room yet, so that Go has to make the call; then the turn is over. */
int meeting_join(meeting *m, const void *head, int head_bytes, const void *elements, int bytes);

/* meeting_payload returns what a rank laid down, and its length, until meeting_end. */
const char *meeting_payload(const meeting *m, int rank, int *bytes);

/* meeting_end ends the turn. */
void meeting_end(meeting *m);

/* meeting_reduces says whether meeting_reduce has an operator for a type. */
int meeting_reduces(int64_t op, int64_t type);

/* meeting_reduce combines what all ranks laid down in into, in rank order. */
void meeting_reduce(const meeting *m, void *into);

/* meeting_in_slices says whether ranks combine so many bytes of each, which they may lay down, by meeting_reduce_in_slices. That is
 * meeting_reduce for a call in which all get the result, by a second meeting. It returns what meeting_join does, but never 0. */
int meeting_in_slices(const RanksObject *ranks, int64_t bytes);
int meeting_reduce_in_slices(meeting *m, void *into);

/* ---- fastpath_nodes.c ---- */

/* nodes_place returns what core/comm.Ahead knows ranks on several nodes by: odd, unlike a board. */
static inline uint64_t nodes_place(const dtl_nodes *n) { return (uint64_t)(uintptr_t)n | 1; }

/* The same of ranks on several nodes: what the functions above do where there is no board. nodes_come says whether this rank soon has
 * what it waits for, and agrees, and nodes_may_join whether it may be called: if this rank goes on, somebody has to tell the others of it. */
int nodes_begin(meeting *m, const RanksObject *ranks, int64_t code, uint64_t print);
void nodes_end(meeting *m);
int nodes_come(meeting *m, uint64_t fingerprint, uint64_t operator, const void *head, int head_bytes, const void *elements, int bytes);
int nodes_may_join(const meeting *m);

/* ---- fastpath_collectives.c ---- */

/* fast_barrier is a barrier by the board alone, or returns NotImplemented. */
PyObject *fast_barrier(const ShortCallObject *s, const RanksObject *ranks);

/* fast_collective makes a call by the board alone, or returns NotImplemented. here says whether this rank is the root, if
 * there is one. */
PyObject *fast_collective(const ShortCallObject *s, fast_call *t, const RanksObject *ranks, int here);

/* ---- fastpath_offers.c ---- */

/* offer_make offers elements to a rank, and returns the number; -1 where it cannot copy them, or too many are open. */
int offer_make(const RanksObject *ranks, int dest, const void *data, int64_t bytes);

/* offer_settled waits a moment for the elements to be copied, and says whether they were: then the offer is over. */
int offer_settled(const RanksObject *ranks, int number, int64_t bytes);

/* offer_collect copies what a rank offers to an output, and returns 1; 0 where there is no such offer, and -1 with an
 * exception where the copy fails, which ends the offer. */
int offer_collect(const RanksObject *ranks, int rank, uint32_t number, int tag, PyObject *out, const dtl_array *into);

/* ---- fastpath_messages.c ---- */

/* fast_send sends a short message straight away, and fast_receive receives one that comes at once; or they return
 * NotImplemented. */
PyObject *fast_send(fast_call *t, const RanksObject *ranks);
PyObject *fast_receive(fast_call *t, const RanksObject *ranks);

/* ---- fastpath_rma.c ---- */

/* fast_access accesses a window in this process's memory, or returns NotImplemented. */
PyObject *fast_access(const ShortCallObject *s, fast_call *t, PyObject *owner);

/* ---- fastpath.c ---- */

/* fastpath_prepare learns what the core says once. */
void fastpath_prepare(void);

/* short_vectorcall calls a ShortCall. */
PyObject *short_vectorcall(PyObject *self, PyObject *const *args, size_t flagged, PyObject *words);

/* ---- fastpath_function.c ---- */

extern PyTypeObject ShortCallType;

#pragma GCC visibility pop

#endif
