/* Who records calls. */
#ifndef DTL_TRACE_H
#define DTL_TRACE_H

#include "interpreter.h"

#pragma GCC visibility push(hidden)

/* Whether anybody records. */
extern int tracing;

/* trace_perform is perform's call into Go for those who record. */
void trace_perform(dtl_call *call);

extern PyTypeObject RecorderType;

extern const char outside_doc[], clock_doc[], note_doc[];
PyObject *bridge_outside(PyObject *module, PyObject *beginnings);
PyObject *bridge_clock(PyObject *module, PyObject *unused);
PyObject *bridge_note(PyObject *module, PyObject *args);

#pragma GCC visibility pop

#endif
