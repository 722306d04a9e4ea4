/* Running sums of lines of numbers that lie one behind the other. */
#ifndef DTL_LINE_SCANS_H
#define DTL_LINE_SCANS_H

#include "interpreter.h"

#pragma GCC visibility push(hidden)

extern const char scan_lines_doc[];
PyObject *bridge_scan_lines(PyObject *module, PyObject *args);

#pragma GCC visibility pop

#endif
