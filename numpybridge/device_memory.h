/* Memory of devices. */
#ifndef DTL_DEVICE_MEMORY_H
#define DTL_DEVICE_MEMORY_H

#include "interpreter.h"

#pragma GCC visibility push(hidden)

extern PyTypeObject DeviceMemoryType;

/* device_memory_new makes a DeviceMemory of a call's result. It takes over the storage, also when it fails. */
PyObject *device_memory_new(const dtl_call *call);

extern const char device_lend_doc[], device_stream_doc[], take_dlpack_doc[];
PyObject *bridge_device_lend(PyObject *module, PyObject *args);
PyObject *bridge_device_stream(PyObject *module, PyObject *device);
PyObject *bridge_take_dlpack(PyObject *module, PyObject *capsule);

#pragma GCC visibility pop

#endif
