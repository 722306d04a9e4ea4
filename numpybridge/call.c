//go:build cpython

/* The call that serves every operation. */
#include "arguments.h"
#include "call.h"
#include "device_memory.h"
#include "errors.h"
#include "interrupts.h"
#include "numpy.h"
#include "objects.h"
#include "state.h"
#include "trace.h"

int64_t operation_code(const char *name) {
    const char *key;
    for (int64_t code = 0; (key = dtl_operation(code)) != NULL; code++)
        if (strcmp(key, name) == 0)
            return code;
    return -1;
}

PyObject *perform(dtl_call *call) {
    if (tracing) {
        trace_perform(call);
    } else {
        Py_BEGIN_ALLOW_THREADS
        dtl_perform(call);
        Py_END_ALLOW_THREADS
    }
    if (call->error != NULL)
        return call->alone ? fail_alone(call->error) : fail_with(call->error);
    if (raise_interruption()) { /* it came too late to end the call */
        if (call->storage != 0)
            dtl_release(call->storage);
        return NULL;
    }
    if (call->unsuitable)
        Py_RETURN_NOTIMPLEMENTED;
    if (!call->result.given)
        Py_RETURN_NONE;
    if (call->result.format[0] == 'T') /* a record: only named types have such formats */
        return named_array(call);
    if (call->result.kind != DTL_PYTHON_SCALAR)
        return call->stream != 0 ? device_memory_new(call) : call->inline_result ? array_of(call) : buffer_new(call);
    PyObject *value = give_scalar(&call->result);
    if (call->storage != 0)
        dtl_release(call->storage);
    return value;
}

/* with_out borrows the output, if there is one, and makes the call. An operation that takes a pair of inputs has the
 * second one there. */
static PyObject *with_out(dtl_call *call, PyObject *out) {
    if (out == Py_None)
        return perform(call);
    Py_buffer view;
    int pair = dtl_takes_pair(call->code);
    if (take_buffer(out, &call->out, NULL, &view, pair ? 0 : PyBUF_WRITABLE) != TAKEN)
        Py_RETURN_NOTIMPLEMENTED;
    PyObject *answer = perform(call);
    if (!call->retained)
        PyBuffer_Release(&view);
    if (answer != Py_None || pair)
        return answer;
    Py_DECREF(answer);
    Py_INCREF(out);
    return out;
}

const char call_doc[] = PyDoc_STR(
"call($module, code, owner, value, out, a, b, c, d, /, *lists)\n--\n\n"
"Run operation code on owner's native object, with value as input and out as output (or second input), either of\n"
"which may be None, four integers, and up to two lists of integers, arrays of int64, tuples or None. Returns out, a\n"
"scalar, a Buffer, None, or NotImplemented where an argument has to be prepared first.");

void release_lists(const dtl_call *call, Py_buffer *views) {
    for (int32_t i = 0; i < call->list_count; i++)
        PyBuffer_Release(&views[i]);
}

taken add_list(dtl_call *call, PyObject *value, Py_buffer *views) {
    int32_t list = call->list_count++;
    views[list].obj = NULL;
    call->lists[list].given = 0;
    return value == Py_None ? TAKEN : take_list(value, &call->lists[list], &views[list]);
}

taken take_call(const char *name, PyObject *const *args, Py_ssize_t nargs, dtl_call *call, Py_buffer *views) {
    Py_ssize_t lists = nargs - 8;
    if (lists < 0 || lists > DTL_MAX_LISTS) {
        PyErr_Format(PyExc_TypeError, "%s takes 8 to %d arguments, not %zd", name, 8 + DTL_MAX_LISTS, nargs);
        return FAILED;
    }
    if (state.forked)
        return fail_forked(), FAILED;
    memset(call, 0, offsetof(dtl_call, shape));
    if (take_handle(args[1], &call->handle) != TAKEN)
        return FAILED;
    if (take_args(args, 1, &call->code) != TAKEN || take_args(args + 4, 4, call->args) != TAKEN)
        return UNSUITABLE;
    for (Py_ssize_t i = 0; i < lists; i++)
        if (add_list(call, args[8 + i], views) != TAKEN) {
            release_lists(call, views);
            return UNSUITABLE;
        }
    return TAKEN;
}

PyObject *with_value(dtl_call *call, PyObject *value, PyObject *out) {
    Py_buffer view;
    scalar input;
    if (value == Py_None || take_scalar(value, &call->in, &input) == TAKEN)
        return with_out(call, out);
    if (take_buffer(value, &call->in, call->in_shape, &view, 0) != TAKEN)
        Py_RETURN_NOTIMPLEMENTED;
    PyObject *answer = with_out(call, out);
    PyBuffer_Release(&view);
    return answer;
}

PyObject *bridge_call(PyObject *module, PyObject *const *args, Py_ssize_t nargs) {
    dtl_call call;
    Py_buffer views[DTL_MAX_LISTS];
    taken could = take_call("call", args, nargs, &call, views);
    if (could == FAILED)
        return NULL;
    if (could == UNSUITABLE)
        Py_RETURN_NOTIMPLEMENTED;
    PyObject *answer = with_value(&call, args[2], args[3]);
    release_lists(&call, views);
    return answer;
}
