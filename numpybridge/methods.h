/* The operations as functions of the module. */
#ifndef DTL_METHODS_H
#define DTL_METHODS_H

#include "interpreter.h"

#pragma GCC visibility push(hidden)

/* add_methods gives the module a function for each operation that has parameters. */
int add_methods(PyObject *module);

#pragma GCC visibility pop

#endif
