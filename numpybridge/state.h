/* What the whole process knows. */
#ifndef DTL_STATE_H
#define DTL_STATE_H

#include "interpreter.h"

#pragma GCC visibility push(hidden)

/* Set once by setup(): the two NumPy types that tell kinds apart. */
extern PyObject *ndarray_type, *generic_type;

/* The type ContainerType, for the files that its definition uses. */
extern PyTypeObject *container_type;

static inline int is_container(PyObject *value) { return PyObject_TypeCheck(value, container_type); }

/* What C and Python both know of this process, in one place for both: Python sees it as _bridge.state. */
typedef struct {
    PyObject_HEAD
    char forked;   /* the Go runtime does not survive fork: in a child without exec no call may reach it */
    char keeps_places; /* the places at which containers are made are kept: the core hears of each at once */
    double least_queued; /* how many bytes the smallest part has of which expressions are queued */
    int numpy_loops; /* how many of NumPy's loops the core uses */
    int under_way; /* asynchronous calls: while there are some, Python says when a call on a container may begin */
} StateObject;

extern PyTypeObject StateType;
extern StateObject state;

#pragma GCC visibility pop

#endif
