//go:build cpython

/*
 * Operations that go on after the call that starts them.
 *
 * Such a call returns a PendingCall: the handle of the native request together with the buffers that it uses, so that they are not
 * resized or freed meanwhile. A PendingCall that is freed while its operation is under way does not release them, since the operation
 * may still write there; Python keeps it until the operation is over.
 */
#include "arguments.h"
#include "call.h"
#include "fastpath_ahead.h"
#include "numpy.h"
#include "objects.h"
#include "requests.h"
#include "state.h"
#include "trace.h"

typedef struct {
    HandleObject base;
    int64_t handle; /* of its own: Python may change the other */
    Py_buffer in, out;
    scalar input;
    dtl_request_peek *peek; /* where C may look at the request; NULL: nowhere, so far */
    unsigned looks;
} PendingCallObject;

static void held_dealloc(PyObject *self) {
    PendingCallObject *held = (PendingCallObject *)self;
    if (held->handle == 0 || (!state.forked && dtl_request_end(held->handle))) {
        PyBuffer_Release(&held->in);
        PyBuffer_Release(&held->out);
    }
    Py_TYPE(self)->tp_free(self);
}

PyTypeObject PendingCallType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "dtl._native._bridge.PendingCall",
    .tp_basicsize = sizeof(PendingCallObject),
    .tp_dealloc = held_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "An operation under way, and the buffers that it uses.",
};

/* hold borrows a buffer until the view is released, also where take_buffer does without one. */
static taken hold(PyObject *value, dtl_array *a, int64_t *shape, Py_buffer *view, int flags) {
    if (take_buffer(value, a, shape, view, flags) != TAKEN)
        return UNSUITABLE;
    if (view->obj == NULL && PyObject_GetBuffer(value, view, flags | PyBUF_C_CONTIGUOUS) < 0) {
        PyErr_Clear();
        return UNSUITABLE;
    }
    return TAKEN;
}

/* take_both holds the buffers of a call. */
static taken take_both(PendingCallObject *held, dtl_call *call, PyObject *value, PyObject *out) {
    if (value != Py_None && take_scalar(value, &call->in, &held->input) != TAKEN &&
        hold(value, &call->in, call->in_shape, &held->in, 0) != TAKEN)
        return UNSUITABLE;
    if (out != Py_None && hold(out, &call->out, NULL, &held->out, PyBUF_WRITABLE) != TAKEN)
        return UNSUITABLE;
    return TAKEN;
}

/* Every so many looks, Go is asked: a request may end for other reasons, and Go makes progress with other requests. */
enum { LOOKS_OF_GO = 32 };

const char pends_doc[] = PyDoc_STR(
"pends($module, request, /)\n--\n\n"
"Return True where it is certain, without much ado, that a PendingCall's operation is under way. Else call says.");

/* peek asks the library itself, unless another thread uses the request. It returns 1 where the operation is under way. */
static int peek(dtl_request_peek *s, int64_t handle) {
    uint32_t nobody = 0;
    int over = 1;
    if (!__atomic_compare_exchange_n(&s->turn, &nobody, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return 0;
    int asked = s->native != 0 && __atomic_load_n(&s->owner, __ATOMIC_RELAXED) == handle && s->test(s->native, &over) == 0;
    __atomic_store_n(&s->turn, 0, __ATOMIC_RELEASE);
    return asked && !over;
}

PyObject *bridge_pends(PyObject *module, PyObject *object) {
    PendingCallObject *held = (PendingCallObject *)object;
    int under_way = 0;
    if (Py_TYPE(object) != &PendingCallType || held->handle == 0 || tracing || state.forked || !ahead_confirmed(NULL))
        Py_RETURN_FALSE;
    unsigned look = held->looks++ % LOOKS_OF_GO;
    if (look == 0)
        Py_RETURN_FALSE;
    dtl_request_peek *at = held->peek;
    Py_BEGIN_ALLOW_THREADS /* what goes on meanwhile may need the lock */
    if (at == NULL && look == 1)
        at = dtl_fast_request(held->handle);
    if (at != NULL)
        under_way = peek(at, held->handle);
    Py_END_ALLOW_THREADS
    held->peek = at;
    return PyBool_FromLong(under_way);
}

const char start_doc[] = PyDoc_STR(
"start($module, code, owner, value, out, a, b, c, d, /, *lists)\n--\n\n"
"Start an operation that goes on after the call, with arguments as for call, and up to two lists of integers, arrays of\n"
"int64 or None. Returns a PendingCall, or NotImplemented where an argument has to be prepared first.");

PyObject *bridge_start(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    dtl_call call;
    Py_buffer views[DTL_MAX_LISTS];
    taken could = take_call("start", args, nargs, &call, views);
    if (could == FAILED)
        return NULL;
    if (could == UNSUITABLE)
        Py_RETURN_NOTIMPLEMENTED;
    PendingCallObject *held = (PendingCallObject *)PendingCallType.tp_alloc(&PendingCallType, 0);
    PyObject *answer = NULL;
    if (held != NULL) {
        call.held = 1;
        answer = take_both(held, &call, args[2], args[3]) == TAKEN ? perform(&call) : Py_NewRef(Py_NotImplemented);
    }
    release_lists(&call, views);
    if (answer == NULL || !PyLong_Check(answer)) {
        Py_XDECREF(held);
        return answer;
    }
    held->base.handle = held->handle = PyLong_AsLongLong(answer);
    Py_DECREF(answer);
    return (PyObject *)held;
}
