/* A Short: which of a function's parameters is what of a call, and what comes back. */
#ifndef DTL_SHORT_H
#define DTL_SHORT_H

#include "module.h"

#pragma GCC visibility push(hidden)

enum { MAX_PARAMETERS = 10 };

/* What a parameter is. Integers are the places from 0 on. */
enum { IS_INTEGER, IS_OWNER = -10, IS_IN, IS_OUT, IS_NONE, IS_DTYPE };

/* What comes back. */
typedef enum {
    RECEIVED, /* what the call returns */
    SHARED,   /* on root the value, elsewhere what the call returns; the input is root's, elsewhere an array is a template */
    DEALT,    /* what the call returns; the input is root's, and ignored elsewhere */
    LIKE,     /* an array or scalar like the input; where there is a root, only there */
    STACKED,  /* an array with an entry like the input for each rank; where there is a root, only there */
    MET,      /* nothing: the call is a barrier */
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
    answer answer;
    int root; /* which integer is the root; -1: there is none */
    int count, positional;
    parameter parameters[MAX_PARAMETERS];
} ShortObject;

/* short_vectorcall calls a Short. */
PyObject *short_vectorcall(PyObject *self, PyObject *const *args, size_t flagged, PyObject *words);

#pragma GCC visibility pop

#endif
