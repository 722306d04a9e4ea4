/* Subscripts of containers that several ranks have. */
#ifndef DTL_SELECTIONS_H
#define DTL_SELECTIONS_H

#include "interpreter.h"
#include "objects.h"

#pragma GCC visibility push(hidden)

/* selections_learn takes what Python knows of containers that a subscript makes. */
void selections_learn(PyObject *block, PyObject *collective, PyObject *spec_end, PyObject *windows, PyObject *words);

/* selections_get returns what a subscript selects of a container of several ranks. NULL without an exception: only the long way does. */
PyObject *selections_get(ContainerObject *c, PyObject *key);

#pragma GCC visibility pop

#endif
