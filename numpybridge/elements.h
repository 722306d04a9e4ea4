/* Loops over elements of any type: blend by a mask, pack what a mask chooses, repeat. */
#ifndef DTL_ELEMENTS_H
#define DTL_ELEMENTS_H

#include "interpreter.h"

#pragma GCC visibility push(hidden)

extern const char blend_doc[], pack_doc[], repeat_doc[];
PyObject *bridge_blend(PyObject *module, PyObject *args);
PyObject *bridge_pack(PyObject *module, PyObject *args);
PyObject *bridge_repeat(PyObject *module, PyObject *args);

#pragma GCC visibility pop

#endif
