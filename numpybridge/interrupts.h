/* Signals that come while a call waits. */
#ifndef DTL_INTERRUPTS_H
#define DTL_INTERRUPTS_H

#include "interpreter.h"

#pragma GCC visibility push(hidden)

/* interrupts_setup takes Python's functions that name the place the calling thread is at, and that of code and a line. */
void interrupts_setup(PyObject *where, PyObject *name);

/* raise_interruption raises what a signal's handler raised while the call of this thread waited, and says whether one did. */
int raise_interruption(void);

extern const char end_doc[];
PyObject *bridge_end(PyObject *module, PyObject *unused);

extern const char interruption_doc[];
PyObject *bridge_interruption(PyObject *module, PyObject *unused);

extern const char use_alternate_stack_doc[];
PyObject *bridge_use_alternate_stack(PyObject *module, PyObject *number);

extern const char waits_doc[];
PyObject *bridge_waits(PyObject *module, PyObject *unused);

#pragma GCC visibility pop

#endif
