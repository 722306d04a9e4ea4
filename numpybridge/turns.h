/* Turns of threads. */
#ifndef DTL_TURNS_H
#define DTL_TURNS_H

#include "interpreter.h"

#pragma GCC visibility push(hidden)

extern const char take_turn_doc[], end_turn_doc[];
PyObject *bridge_take_turn(PyObject *module, PyObject *args);
PyObject *bridge_end_turn(PyObject *module, PyObject *number);

#pragma GCC visibility pop

#endif
