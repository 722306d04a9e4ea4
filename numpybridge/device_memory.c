//go:build cpython

/* Elements on a device, as other libraries take them. */
#include "device_memory.h"
#include "errors.h"
#include "state.h"

/* DLPack's structures, of its versions 0 and 1. https://dmlc.github.io/dlpack/latest/c_api.html */
typedef struct {
    int32_t type, id;
} dl_device;

typedef struct {
    uint8_t code, bits;
    uint16_t lanes;
} dl_type;

typedef struct {
    void *data;
    dl_device device;
    int32_t ndim;
    dl_type type;
    int64_t *shape, *strides; /* in elements */
    uint64_t byte_offset;
} dl_tensor;

typedef struct dl_managed {
    dl_tensor tensor;
    void *context;
    void (*deleter)(struct dl_managed *);
} dl_managed;

typedef struct dl_versioned {
    uint32_t major, minor;
    void *context;
    void (*deleter)(struct dl_versioned *);
    uint64_t flags;
    dl_tensor tensor;
} dl_versioned;

typedef struct {
    PyObject_HEAD
    uintptr_t storage;
    unsigned long long address, stream;
    int device, managed, ndim;
    Py_ssize_t count, itemsize;
    int64_t shape[DTL_MAX_DIMS], strides[DTL_MAX_DIMS]; /* in elements */
    PyObject *owner; /* of another library's memory; else NULL */
} DeviceMemoryObject;

static PyObject *failed_or_none(char *error) {
    if (error != NULL)
        return fail_alone(error);
    Py_RETURN_NONE;
}

typedef char *copier(uintptr_t storage, void *buffer, const dtl_box *box);

/* box_of says which elements are as many bytes as a buffer has: all, or rows from an index of the leading dimensions on. */
static int box_of(const DeviceMemoryObject *d, PyObject *index, Py_ssize_t bytes, dtl_box *box) {
    box->ndim = index == NULL ? 0 : (int)PyTuple_GET_SIZE(index);
    if (box->ndim > d->ndim) {
        PyErr_Format(PyExc_ValueError, "an index of %d dimensions for %d", box->ndim, d->ndim);
        return -1;
    }
    Py_ssize_t row = d->itemsize, rows = 1;
    for (int i = box->ndim; i < d->ndim; i++)
        row *= (Py_ssize_t)d->shape[i];
    for (int i = 0; i < box->ndim; i++) {
        box->at[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(index, i));
        if (box->at[i] == -1 && PyErr_Occurred())
            return -1;
        rows = (Py_ssize_t)(d->shape[i] - box->at[i]);
        if (box->at[i] < 0 || rows < 0) {
            PyErr_Format(PyExc_IndexError, "index %lld outside [0, %lld]", (long long)box->at[i], (long long)d->shape[i]);
            return -1;
        }
    }
    box->rows = row ? bytes / row : 0;
    if (box->rows * row != bytes || box->rows > rows || (box->ndim == 0 && bytes != row)) {
        PyErr_Format(PyExc_ValueError, "a buffer of %zd bytes for %zd", bytes, rows * row);
        return -1;
    }
    return 0;
}

/* copy copies between the elements, or some of them, and a buffer of the host. */
static PyObject *copy(PyObject *self, PyObject *args, int flags, copier *by) {
    DeviceMemoryObject *d = (DeviceMemoryObject *)self;
    PyObject *buffer, *index = NULL;
    if (!PyArg_ParseTuple(args, "O|O!", &buffer, &PyTuple_Type, &index))
        return NULL;
    if (state.forked)
        return fail_forked();
    Py_buffer view;
    if (PyObject_GetBuffer(buffer, &view, PyBUF_C_CONTIGUOUS | flags) < 0)
        return NULL;
    dtl_box box;
    if (box_of(d, index, view.len, &box) < 0) {
        PyBuffer_Release(&view);
        return NULL;
    }
    char *error;
    Py_BEGIN_ALLOW_THREADS
    error = by(d->storage, view.buf, &box);
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&view);
    return failed_or_none(error);
}

static PyObject *device_read(PyObject *self, PyObject *args) { return copy(self, args, PyBUF_WRITABLE, (copier *)dtl_device_read); }

static PyObject *device_write(PyObject *self, PyObject *args) { return copy(self, args, 0, (copier *)dtl_device_write); }

static PyObject *device_copy(PyObject *self, PyObject *args) {
    PyObject *source;
    int wait;
    if (!PyArg_ParseTuple(args, "O!p:copy", &DeviceMemoryType, &source, &wait))
        return NULL;
    if (state.forked)
        return fail_forked();
    DeviceMemoryObject *to = (DeviceMemoryObject *)self, *from = (DeviceMemoryObject *)source;
    if (to->count * to->itemsize != from->count * from->itemsize)
        return PyErr_Format(PyExc_ValueError, "%zd bytes for %zd", from->count * from->itemsize, to->count * to->itemsize);
    char *error;
    Py_BEGIN_ALLOW_THREADS
    error = dtl_device_copy(to->storage, from->storage, wait);
    Py_END_ALLOW_THREADS
    return failed_or_none(error);
}

static PyObject *device_order(PyObject *self, PyObject *args) {
    DeviceMemoryObject *d = (DeviceMemoryObject *)self;
    unsigned long long stream;
    int back;
    if (!PyArg_ParseTuple(args, "Kp:order", &stream, &back))
        return NULL;
    if (state.forked)
        return fail_forked();
    char *error;
    Py_BEGIN_ALLOW_THREADS
    error = dtl_device_order(d->storage, (uintptr_t)stream, back);
    Py_END_ALLOW_THREADS
    return failed_or_none(error);
}

static PyObject *device_synchronize(PyObject *self, PyObject *unused) {
    DeviceMemoryObject *d = (DeviceMemoryObject *)self;
    if (state.forked)
        return fail_forked();
    char *error;
    Py_BEGIN_ALLOW_THREADS
    error = dtl_device_wait(d->storage);
    Py_END_ALLOW_THREADS
    return failed_or_none(error);
}

static void release_owner(void *context) {
    if (Py_IsInitialized()) {
        PyGILState_STATE gil = PyGILState_Ensure();
        Py_DECREF((PyObject *)context);
        PyGILState_Release(gil);
    }
}

static void delete_managed(dl_managed *m) {
    release_owner(m->context);
    free(m);
}

static void delete_versioned(dl_versioned *m) {
    release_owner(m->context);
    free(m);
}

/* A capsule that nobody took is renamed by nobody. */
static void end_managed(PyObject *capsule) {
    dl_managed *m = PyCapsule_IsValid(capsule, "dltensor") ? PyCapsule_GetPointer(capsule, "dltensor") : NULL;
    if (m != NULL)
        m->deleter(m);
}

static void end_versioned(PyObject *capsule) {
    static const char name[] = "dltensor_versioned";
    dl_versioned *m = PyCapsule_IsValid(capsule, name) ? PyCapsule_GetPointer(capsule, name) : NULL;
    if (m != NULL)
        m->deleter(m);
}

static PyObject *device_share(PyObject *self, PyObject *unused) {
    return state.forked ? fail_forked() : failed_or_none(dtl_device_share(((DeviceMemoryObject *)self)->storage));
}

static PyObject *device_dlpack(PyObject *self, PyObject *args) {
    DeviceMemoryObject *d = (DeviceMemoryObject *)self;
    unsigned char code, bits;
    int device_type, versioned;
    if (!PyArg_ParseTuple(args, "bbip:dlpack", &code, &bits, &device_type, &versioned))
        return NULL;
    PyObject *shared = device_share(self, NULL);
    if (shared == NULL)
        return NULL;
    Py_DECREF(shared);
    dl_tensor tensor = {
        .data = (void *)(uintptr_t)d->address, .device = {device_type, d->device}, .ndim = d->ndim, .type = {code, bits, 1},
        .shape = d->shape, .strides = d->strides,
    };
    PyObject *capsule;
    if (versioned) {
        dl_versioned *m = malloc(sizeof *m);
        if (m == NULL)
            return PyErr_NoMemory();
        *m = (dl_versioned){1, 0, Py_NewRef(self), delete_versioned, 0, tensor};
        capsule = PyCapsule_New(m, "dltensor_versioned", end_versioned);
        if (capsule == NULL)
            delete_versioned(m);
    } else {
        dl_managed *m = malloc(sizeof *m);
        if (m == NULL)
            return PyErr_NoMemory();
        *m = (dl_managed){tensor, Py_NewRef(self), delete_managed};
        capsule = PyCapsule_New(m, "dltensor", end_managed);
        if (capsule == NULL)
            delete_managed(m);
    }
    return capsule;
}

static PyObject *numbers(const int64_t *given, int count) {
    PyObject *made = PyTuple_New(count);
    for (int i = 0; made != NULL && i < count; i++) {
        PyObject *n = PyLong_FromLongLong(given[i]);
        if (n == NULL)
            Py_CLEAR(made);
        else
            PyTuple_SET_ITEM(made, i, n);
    }
    return made;
}

static PyObject *device_shape(PyObject *self, void *unused) {
    DeviceMemoryObject *d = (DeviceMemoryObject *)self;
    return numbers(d->shape, d->ndim);
}

static PyObject *device_strides(PyObject *self, void *unused) {
    DeviceMemoryObject *d = (DeviceMemoryObject *)self;
    return numbers(d->strides, d->ndim);
}

static void device_dealloc(PyObject *self) {
    if (!state.forked)
        dtl_release(((DeviceMemoryObject *)self)->storage);
    Py_XDECREF(((DeviceMemoryObject *)self)->owner);
    Py_TYPE(self)->tp_free(self);
}

static PyMethodDef device_methods[] = {
    {"read", device_read, METH_VARARGS,
     PyDoc_STR("read($self, out, at=(), /)\n--\n\nCopy the elements to a buffer of the host, or as many rows as it has room "
               "for, from an index of the leading dimensions on.")},
    {"write", device_write, METH_VARARGS,
     PyDoc_STR("write($self, values, at=(), /)\n--\n\nCopy a buffer of the host to the elements, or to as many rows as it "
               "has, from an index of the leading dimensions on.")},
    {"copy", device_copy, METH_VARARGS,
     PyDoc_STR("copy($self, source, wait, /)\n--\n\nCopy the elements of another DeviceMemory to these. Without wait, it is only "
               "queued, before whatever is queued on either later.")},
    {"order", device_order, METH_VARARGS,
     PyDoc_STR("order($self, stream, back, /)\n--\n\nHave a stream of the driver wait for what is queued here, or the reverse.")},
    {"synchronize", device_synchronize, METH_NOARGS,
     PyDoc_STR("synchronize($self, /)\n--\n\nReturn when all is done that is queued here.")},
    {"share", device_share, METH_NOARGS,
     PyDoc_STR("share($self, /)\n--\n\nSay that other libraries get the elements. Their memory is used for others only when the "
               "device has done all that was queued on any stream when it was freed.")},
    {"dlpack", device_dlpack, METH_VARARGS,
     PyDoc_STR("dlpack($self, code, bits, device_type, versioned, /)\n--\n\nReturn a capsule of DLPack.")},
    {NULL},
};

static PyMemberDef device_members[] = {
    {"storage", T_ULONGLONG, offsetof(DeviceMemoryObject, storage), READONLY, "the number by which calls know the elements"},
    {"address", T_ULONGLONG, offsetof(DeviceMemoryObject, address), READONLY, "of the first element, on the device"},
    {"stream", T_ULONGLONG, offsetof(DeviceMemoryObject, stream), READONLY, "the driver's stream that works on them"},
    {"device", T_INT, offsetof(DeviceMemoryObject, device), READONLY, "the device's number"},
    {"managed", T_INT, offsetof(DeviceMemoryObject, managed), READONLY, "whether the host reaches them, too"},
    {NULL},
};

static PyGetSetDef device_getters[] = {
    {"shape", device_shape, NULL, "the extents", NULL},
    {"strides", device_strides, NULL, "the elements from one index to the next along each dimension", NULL},
    {NULL},
};

PyTypeObject DeviceMemoryType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "dtl._native._bridge.DeviceMemory",
    .tp_basicsize = sizeof(DeviceMemoryObject),
    .tp_dealloc = device_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Elements on a device. The memory lives as long as anything that looks at it.",
    .tp_methods = device_methods,
    .tp_members = device_members,
    .tp_getset = device_getters,
};

PyObject *device_memory_new(const dtl_call *call) {
    const dtl_array *r = &call->result;
    DeviceMemoryObject *d = PyObject_New(DeviceMemoryObject, &DeviceMemoryType);
    if (d == NULL) {
        dtl_release(call->storage);
        return NULL;
    }
    d->owner = NULL;
    d->storage = call->storage;
    d->address = (uintptr_t)r->data;
    d->stream = call->stream;
    d->managed = r->place < 0;
    d->device = (r->place < 0 ? -r->place : r->place) - 1;
    d->ndim = r->ndim;
    d->count = r->count;
    d->itemsize = r->itemsize;
    int64_t stride = 1;
    for (int i = r->ndim - 1; i >= 0; i--) {
        d->shape[i] = r->shape[i];
        d->strides[i] = r->strides != NULL ? r->strides[i] / r->itemsize : stride;
        stride *= r->shape[i] > 1 ? r->shape[i] : 1;
    }
    return (PyObject *)d;
}

const char device_lend_doc[] = PyDoc_STR("device_lend($module, address, type, shape, strides, owner, /)\n--\n\n"
                                         "Return the DeviceMemory of memory that another object owns. Strides count elements; "
                                         "None is C order.");

/* integers copies those of a tuple to an array, and says whether they are such. */
static int integers(PyObject *tuple, int64_t *to) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); i++) {
        to[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(tuple, i));
        if (to[i] == -1 && PyErr_Occurred())
            return 0;
    }
    return 1;
}

PyObject *bridge_device_lend(PyObject *module, PyObject *args) {
    unsigned long long address;
    int type;
    PyObject *extents, *strides, *owner;
    if (!PyArg_ParseTuple(args, "KiO!OO:device_lend", &address, &type, &PyTuple_Type, &extents, &strides, &owner))
        return NULL;
    if (state.forked)
        return fail_forked();
    dtl_call call = {0};
    if (PyTuple_GET_SIZE(extents) > DTL_MAX_DIMS)
        return PyErr_Format(PyExc_ValueError, "%zd dimensions, at most %d", PyTuple_GET_SIZE(extents), DTL_MAX_DIMS);
    call.result.ndim = (int32_t)PyTuple_GET_SIZE(extents);
    call.result.shape = call.shape;
    call.result.strides = strides == Py_None ? NULL : call.strides;
    if (!integers(extents, call.shape))
        return NULL;
    if (strides != Py_None) {
        if (!PyTuple_Check(strides) || PyTuple_GET_SIZE(strides) != call.result.ndim)
            return PyErr_Format(PyExc_ValueError, "strides %R for %d dimensions", strides, call.result.ndim);
        if (!integers(strides, call.strides))
            return NULL;
    }
    char *error;
    Py_BEGIN_ALLOW_THREADS
    error = dtl_device_lend((uintptr_t)address, type, &call);
    Py_END_ALLOW_THREADS
    if (error != NULL)
        return fail_alone(error);
    PyObject *made = device_memory_new(&call);
    if (made != NULL)
        ((DeviceMemoryObject *)made)->owner = Py_NewRef(owner);
    return made;
}

const char device_stream_doc[] = PyDoc_STR("device_stream($module, device, /)\n--\n\n"
                                           "Return the driver's stream that works on other libraries' memory on a device.");

PyObject *bridge_device_stream(PyObject *module, PyObject *device) {
    uintptr_t stream = 0;
    long number = PyLong_AsLong(device);
    if (number == -1 && PyErr_Occurred())
        return NULL;
    if (state.forked)
        return fail_forked();
    char *error;
    Py_BEGIN_ALLOW_THREADS
    error = dtl_device_stream((int)number, &stream);
    Py_END_ALLOW_THREADS
    if (error != NULL)
        return fail_alone(error);
    return PyLong_FromUnsignedLongLong(stream);
}

static const char tensor_name[] = "dtl tensor";

static void end_taken(PyObject *capsule) {
    dl_managed *m = PyCapsule_GetPointer(capsule, tensor_name);
    if (m != NULL && m->deleter != NULL)
        m->deleter(m);
}

static void end_taken_versioned(PyObject *capsule) {
    dl_versioned *m = PyCapsule_GetPointer(capsule, tensor_name);
    if (m != NULL && m->deleter != NULL)
        m->deleter(m);
}

/* in_c_order reports whether the elements lie side by side. */
static int in_c_order(const dl_tensor *t) {
    int64_t stride = 1;
    for (int i = t->ndim - 1; t->strides != NULL && i >= 0; i--) {
        if (t->shape[i] == 0)
            return 1;
        if (t->shape[i] > 1 && t->strides[i] != stride)
            return 0;
        stride *= t->shape[i];
    }
    return 1;
}

const char take_dlpack_doc[] = PyDoc_STR(
    "take_dlpack($module, capsule, /)\n--\n\n"
    "Take a tensor out of a capsule: address, kind of device, its number, code, bits, lanes, shape, strides in elements, or None in C\n"
    "order, whether it may be written, and its owner.");

PyObject *bridge_take_dlpack(PyObject *module, PyObject *capsule) {
    int versioned = PyCapsule_IsValid(capsule, "dltensor_versioned");
    if (!versioned && !PyCapsule_IsValid(capsule, "dltensor"))
        return PyErr_Format(PyExc_TypeError, "no capsule of DLPack that nobody has taken: %R", capsule);
    void *held = PyCapsule_GetPointer(capsule, versioned ? "dltensor_versioned" : "dltensor");
    const dl_versioned *v = versioned ? held : NULL;
    if (v != NULL && v->major != 1)
        return PyErr_Format(PyExc_ValueError, "version %u of DLPack; version 1 was asked for", v->major);
    const dl_tensor *t = v != NULL ? &v->tensor : &((dl_managed *)held)->tensor;
    PyObject *shape = numbers(t->shape, t->ndim);
    PyObject *strides = in_c_order(t) ? Py_NewRef(Py_None) : numbers(t->strides, t->ndim);
    if (shape == NULL || strides == NULL) {
        Py_XDECREF(shape);
        Py_XDECREF(strides);
        return NULL;
    }
    PyObject *owner = PyCapsule_New(held, tensor_name, versioned ? end_taken_versioned : end_taken);
    if (owner == NULL || PyCapsule_SetName(capsule, versioned ? "used_dltensor_versioned" : "used_dltensor") < 0) {
        Py_DECREF(shape);
        Py_DECREF(strides);
        Py_XDECREF(owner);
        return NULL;
    }
    return Py_BuildValue("KiiiiiNNiN", (unsigned long long)((uintptr_t)t->data + t->byte_offset), t->device.type, t->device.id,
                         t->type.code, t->type.bits, t->type.lanes, shape, strides, v == NULL || !(v->flags & 1), owner);
}
