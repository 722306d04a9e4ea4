//go:build cpython

/* The type ShortCall. To all who look at one it is the function behind it. */
#include "fastpath.h"
#include "fastpath_function.h"
#include "short_call.h"

/* The words for what comes back. */
static const char *const answers[] = {"received", "sent",  "exchanged", "shared", "scattered",   "like",    "stacked", "met",
                                      "folded",   "written", "read",    "added",  "counted", "flushed", NULL};

/* learn_place reads the word that says what a parameter is, and returns what follows it; NULL for no such word. */
static const char *learn_place(ShortCallObject *s, parameter *p, const char *word) {
    static const struct {
        const char *word;
        int place, numbered;
    } known[] = {{"owner", IS_OWNER, 0}, {"in", IS_IN, 0},       {"out", IS_OUT, 0},     {"none", IS_NONE, 0},   {"false", IS_FALSE, 0},
                 {"dtype", IS_DTYPE, 1}, {"size", IS_SIZE, 1},   {"root", IS_INTEGER, 1}, {"", IS_INTEGER, 1}};
    size_t length = strcspn(word, " "), letters = strcspn(word, " 0123");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strlen(known[i].word) != letters || strncmp(known[i].word, word, letters) != 0 ||
            length != letters + (size_t)known[i].numbered)
            continue;
        p->place = known[i].place;
        p->argument = known[i].numbered ? word[letters] - '0' : 0;
        if (p->place == IS_INTEGER && letters > 0)
            s->root = p->argument;
        return word + length + strspn(word + length, " ");
    }
    return NULL;
}

/* learn_parameters reads the names and defaults of the function's parameters, and their places. */
static int learn_parameters(ShortCallObject *s, PyObject *code, const char *places) {
    int fits = 0;
    PyObject *names = PyObject_GetAttrString(code, "co_varnames"), *positional = PyObject_GetAttrString(code, "co_argcount"),
             *words = PyObject_GetAttrString(code, "co_kwonlyargcount"), *last = PyObject_GetAttrString(s->prepare, "__defaults__"),
             *others = PyObject_GetAttrString(s->prepare, "__kwdefaults__");
    if (names == NULL || positional == NULL || words == NULL || last == NULL || others == NULL)
        goto done;
    s->positional = (int)PyLong_AsLong(positional);
    int count = s->positional + (int)PyLong_AsLong(words), first = s->positional;
    if (PyErr_Occurred() || !PyTuple_Check(names) || count < 1 || count > MAX_PARAMETERS || count > PyTuple_GET_SIZE(names))
        goto done;
    if (PyTuple_Check(last))
        first -= (int)PyTuple_GET_SIZE(last);
    for (; s->count < count && places != NULL; s->count++) {
        parameter *p = &s->parameters[s->count];
        p->name = Py_NewRef(PyTuple_GET_ITEM(names, s->count));
        if (s->count >= first && s->count < s->positional)
            p->standard = PyTuple_GET_ITEM(last, s->count - first);
        else if (s->count >= s->positional && PyDict_Check(others))
            p->standard = PyDict_GetItem(others, p->name);
        Py_XINCREF(p->standard);
        places = learn_place(s, p, places);
    }
    fits = places != NULL && *places == 0 && s->parameters[0].place == IS_OWNER;
done:
    if (!fits && !PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "the places are not those of the function's parameters, the owner first");
    Py_XDECREF(names);
    Py_XDECREF(positional);
    Py_XDECREF(words);
    Py_XDECREF(last);
    Py_XDECREF(others);
    return fits ? 0 : -1;
}

static PyObject *short_new(PyTypeObject *type, PyObject *args, PyObject *words) {
    PyObject *prepare, *code;
    long long number, fold = 0;
    const char *places, *result;
    int answer = 0;
    if (words != NULL && PyDict_GET_SIZE(words) > 0)
        return PyErr_SetString(PyExc_TypeError, "ShortCall takes no keywords"), NULL;
    if (!PyArg_ParseTuple(args, "OLss|L:ShortCall", &prepare, &number, &places, &result, &fold))
        return NULL;
    while (answers[answer] != NULL && strcmp(answers[answer], result) != 0)
        answer++;
    if (answers[answer] == NULL)
        return PyErr_Format(PyExc_ValueError, "unknown answer %s", result);
    ShortCallObject *s = (ShortCallObject *)type->tp_alloc(type, 0);
    if (s == NULL)
        return NULL;
    s->vectorcall = short_vectorcall;
    s->prepare = Py_NewRef(prepare);
    s->code = number;
    s->print = dtl_hash(number, 0);
    s->answer = answer;
    s->fold = fold;
    s->root = -1;
    if ((code = PyObject_GetAttrString(prepare, "__code__")) == NULL || learn_parameters(s, code, places) < 0)
        Py_CLEAR(s);
    Py_XDECREF(code);
    return (PyObject *)s;
}

static int short_traverse(PyObject *self, visitproc visit, void *arg) {
    ShortCallObject *s = (ShortCallObject *)self;
    for (int i = 0; i < s->count; i++)
        Py_VISIT(s->parameters[i].standard);
    Py_VISIT(s->prepare);
    return 0;
}

static void short_dealloc(PyObject *self) {
    ShortCallObject *s = (ShortCallObject *)self;
    PyObject_GC_UnTrack(self);
    if (s->weak != NULL)
        PyObject_ClearWeakRefs(self);
    for (int i = 0; i < MAX_PARAMETERS; i++) {
        Py_XDECREF(s->parameters[i].name);
        Py_XDECREF(s->parameters[i].standard);
    }
    Py_XDECREF(s->prepare);
    Py_TYPE(self)->tp_free(self);
}

/* As a method it is bound like a function. */
static PyObject *short_bind(PyObject *self, PyObject *object, PyObject *type) {
    return object == NULL || object == Py_None ? Py_NewRef(self) : PyMethod_New(self, object);
}

/* The function's name is what pickle finds it by. */
static PyObject *short_reduce(PyObject *self, PyObject *unused) {
    return PyObject_GetAttrString(((ShortCallObject *)self)->prepare, "__qualname__");
}

static PyObject *short_repr(PyObject *self) {
    PyObject *name = short_reduce(self, NULL);
    PyObject *text = name == NULL ? NULL : PyUnicode_FromFormat("<function %U at %p>", name, self);
    Py_XDECREF(name);
    return text;
}

/* What a function says of itself, its own or the function's behind it. */
static PyObject *short_get(PyObject *self, void *name) {
    return PyObject_GetAttrString(((ShortCallObject *)self)->prepare, name);
}

static PyGetSetDef short_attributes[] = {
    {"__name__", short_get, NULL, NULL, "__name__"},
    {"__qualname__", short_get, NULL, NULL, "__qualname__"},
    {"__module__", short_get, NULL, NULL, "__module__"},
    {"__doc__", short_get, NULL, NULL, "__doc__"},
    {"__annotations__", short_get, NULL, NULL, "__annotations__"},
    {NULL},
};

static PyMemberDef short_members[] = {
    {"__wrapped__", T_OBJECT, offsetof(ShortCallObject, prepare), READONLY, "the function that prepares arguments"},
    {NULL},
};

static PyMethodDef short_methods[] = {
    {"__reduce__", short_reduce, METH_NOARGS, NULL},
    {NULL},
};

PyTypeObject ShortCallType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "dtl._native._bridge.ShortCall",
    .tp_basicsize = sizeof(ShortCallObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR,
    .tp_doc = PyDoc_STR(
"ShortCall(prepare, code, places, answer, fold=0, /)\n--\n\n"
"The short way to an operation, in front of the function in Python that prepares arguments for it. Places has a word\n"
"for each parameter: owner, in, out, a digit for an integer of the call, which may follow root, size or dtype, or none\n"
"or false for what has to be None or False. Answer says what comes back: received, sent, exchanged, shared, scattered,\n"
"like, stacked, met or folded, by that fold; and of windows written, read, added, counted or flushed."),
    .tp_new = short_new,
    .tp_dealloc = short_dealloc,
    .tp_traverse = short_traverse,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(ShortCallObject, vectorcall),
    .tp_weaklistoffset = offsetof(ShortCallObject, weak),
    .tp_descr_get = short_bind,
    .tp_repr = short_repr,
    .tp_getset = short_attributes,
    .tp_members = short_members,
    .tp_methods = short_methods,
};
