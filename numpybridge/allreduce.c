//go:build cpython

/* allreduce, without the detour through Python. */
#include "module.h"
#include "ndarray.h"

/* The parameters by keyword, interned: a caller's keywords are the same objects. */
static PyObject *word_op, *word_out;

int allreduce_words(void) {
    if (word_op == NULL)
        word_op = PyUnicode_InternFromString("op");
    if (word_out == NULL)
        word_out = PyUnicode_InternFromString("out");
    return word_op == NULL || word_out == NULL ? -1 : 0;
}

/* take_keywords reads op and out; it says no to any other keyword, and to a second op. */
static int take_keywords(PyObject *const *values, PyObject *words, PyObject **op, PyObject **out) {
    Py_ssize_t n = words == NULL ? 0 : PyTuple_GET_SIZE(words);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *word = PyTuple_GET_ITEM(words, i);
        if (word == word_out)
            *out = values[i];
        else if (word == word_op && *op == NULL)
            *op = values[i];
        else
            return 0;
    }
    return 1;
}

/* try_allreduce makes the call if its arguments need no preparing, else returns NotImplemented. */
static PyObject *try_allreduce(PyObject *ctx, PyObject *value, PyObject *op, PyObject *out) {
    dtl_call call;
    scalar input, result;
    memset(&call, 0, offsetof(dtl_call, shape));
    call.code = DTL_ALLREDUCE;
    if (disabled || !PyObject_TypeCheck(ctx, &HandleType) || (op != NULL && take_args(&op, 1, call.args) != TAKEN))
        Py_RETURN_NOTIMPLEMENTED;
    call.handle = ((HandleObject *)ctx)->handle;
    if (out == NULL)
        return take_scalar(value, &call.in, &input) == TAKEN ? reduce_scalar(&call, &result) : Py_NewRef(Py_NotImplemented);
    if (!ndarray_take(value, &call.in, NULL, 0) || !ndarray_take(out, &call.out, NULL, 1))
        Py_RETURN_NOTIMPLEMENTED;
    PyObject *answer = perform(&call);
    if (answer != Py_None)
        return answer;
    Py_DECREF(answer);
    return Py_NewRef(out);
}

/* fast_allreduce is dtl.allreduce. self is the function in Python that prepares arguments. */
static PyObject *fast_allreduce(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *words) {
    PyObject *op = nargs == 3 ? args[2] : NULL, *out = NULL;
    if ((nargs == 2 || nargs == 3) && take_keywords(args + nargs, words, &op, &out)) {
        PyObject *answer = try_allreduce(args[0], args[1], op, out);
        if (answer != Py_NotImplemented)
            return answer;
        Py_DECREF(answer);
    }
    return PyObject_Vectorcall(self, args, (size_t)nargs, words);
}

const char fast_doc[] = PyDoc_STR(
"fast_allreduce($module, prepare, signature, /)\n--\n\n"
"Return allreduce(ctx, value, op=0, *, out=None), which calls prepare where arguments need preparing, with the\n"
"text of its signature and prepare's documentation.");

PyObject *bridge_fast(PyObject *module, PyObject *args) {
    static PyMethodDef method = {"allreduce", (PyCFunction)(void (*)(void))fast_allreduce, METH_FASTCALL | METH_KEYWORDS, NULL};
    PyObject *prepare, *name, *answer;
    const char *doc;
    if (!PyArg_ParseTuple(args, "Os:fast_allreduce", &prepare, &doc))
        return NULL;
    if ((name = PyObject_GetAttrString(prepare, "__module__")) == NULL)
        return NULL;
    method.ml_doc = strdup(doc); /* for good: the function may live as long as the process */
    if (method.ml_doc == NULL) {
        Py_DECREF(name);
        return PyErr_NoMemory();
    }
    answer = PyCFunction_NewEx(&method, prepare, name);
    Py_DECREF(name);
    return answer;
}
