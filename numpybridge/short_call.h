/* A ShortCall: which of a function's parameters is what of a call, and what comes back. */
#ifndef DTL_SHORT_CALL_H
#define DTL_SHORT_CALL_H

#include "interpreter.h"

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
    SCATTERED, /* what the call returns; the input is root's, and ignored elsewhere */
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

#pragma GCC visibility pop

#endif
