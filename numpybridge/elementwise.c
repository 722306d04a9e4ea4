//go:build cpython

/*
 * NumPy's operators and ufuncs on containers: the short way of small numbers on the host, whose containers are laid out alike.
 * NumPy computes with the arrays of the parts. Everything else goes the long way, by Python's _array_ufunc.
 */
#include "elementwise.h"
#include "numpy.h"
#include "objects.h"
#include "part.h"
#include "state.h"
#include "trace.h"

/* The ufuncs of the operators. */
enum {
    ADD, SUBTRACT, MULTIPLY, MATMUL, TRUE_DIVIDE, FLOOR_DIVIDE, REMAINDER, DIVMOD, POWER, LEFT_SHIFT, RIGHT_SHIFT, AND, XOR, OR,
    NEGATIVE, POSITIVE, ABSOLUTE, INVERT, LESS, LESS_EQUAL, EQUAL, NOT_EQUAL, GREATER, GREATER_EQUAL, OPERATORS
};

static const char *const names[OPERATORS] = {
    "add", "subtract", "multiply", "matmul", "true_divide", "floor_divide", "remainder", "divmod", "power", "left_shift", "right_shift",
    "bitwise_and", "bitwise_xor", "bitwise_or", "negative", "positive", "absolute", "invert", "less", "less_equal", "equal", "not_equal",
    "greater", "greater_equal",
};

static PyObject *ufuncs[OPERATORS];

/* What Python knows: the dtypes of results, the numbers whose value does not matter to them, and how long ways go. */
static struct {
    PyObject *dtypes; /* a list by ufunc and the dtypes or classes of its operands */
    PyObject *weak;   /* the classes of those numbers, in a tuple */
    long least;       /* up to which number integers are among them */
    PyObject *by_user;
} known;

static PyObject *call_name, *out_name, *array_ufunc_name, *long_way_name, *module_name, *out_words;

const char learn_ufuncs_doc[] = PyDoc_STR(
"learn_ufuncs($module, numpy, dtypes, weak, least, by_user, /)\n--\n\n"
"Learn the ufuncs of NumPy's operators; the dictionary of results' dtypes by ufunc and kinds of operands; the classes of\n"
"numbers whose value has no effect on them, and up to which number integers have none; and the function that calls a\n"
"ufunc as if the user's code did.");

PyObject *bridge_learn_ufuncs(PyObject *module, PyObject *args) {
    PyObject *numpy;
    if (!PyArg_ParseTuple(args, "OO!O!lO", &numpy, &PyDict_Type, &known.dtypes, &PyTuple_Type, &known.weak, &known.least, &known.by_user))
        return NULL;
    for (int i = 0; i < OPERATORS; i++)
        if ((ufuncs[i] = PyObject_GetAttrString(numpy, names[i])) == NULL)
            return NULL;
    call_name = PyUnicode_InternFromString("__call__");
    out_name = PyUnicode_InternFromString("out");
    array_ufunc_name = PyUnicode_InternFromString("__array_ufunc__");
    long_way_name = PyUnicode_InternFromString("_array_ufunc");
    module_name = PyUnicode_InternFromString("__name__");
    if ((out_words = PyTuple_Pack(1, out_name)) == NULL)
        return NULL;
    Py_INCREF(known.dtypes);
    Py_INCREF(known.weak);
    Py_INCREF(known.by_user);
    Py_RETURN_NONE;
}

/* ---- The dtype of a result ---- */

enum { MOST_OPERANDS = 4, RESULTS = 512, OF_NUMBERS = 64 };

/* Results that were looked up, by ufunc and kinds. They stay: there are few. */
static struct {
    PyObject *ufunc;
    uint32_t kinds;
    PyObject *dtype;
} results[RESULTS];

/* kind_of returns the number of what a result's dtype depends on of an operand, and has the object that stands for it; 0 where the
 * value matters, or another container is divided otherwise than first, which is the first if it is not set. */
static uint32_t kind_of(PyObject *value, ContainerObject **first, PyObject **stands) {
    PyTypeObject *type = Py_TYPE(value);
    if (is_container(value)) {
        ContainerObject *c = (ContainerObject *)value;
        if (!c->quick || (*first != NULL && c->layout != (*first)->layout))
            return 0;
        *first = *first == NULL ? c : *first;
        *stands = c->dtype;
        return 1 + (uint32_t)((const ndarray_descr *)c->dtype)->type_num;
    }
    *stands = (PyObject *)type;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(known.weak); i++)
        if (PyTuple_GET_ITEM(known.weak, i) == (PyObject *)type)
            return OF_NUMBERS + (uint32_t)i;
    if (type != &PyLong_Type)
        return 0;
    int over;
    long number = PyLong_AsLongAndOverflow(value, &over);
    return over == 0 && 0 <= number && number <= known.least ? OF_NUMBERS + (uint32_t)PyTuple_GET_SIZE(known.weak) : 0;
}

/* look_up returns the dtype of a result that Python knows; NULL without an exception if it does not, or there are several. */
static PyObject *look_up(PyObject *ufunc, PyObject *const *stands, int count) {
    PyObject *key = PyTuple_New(count + 1), *dtypes = NULL;
    if (key != NULL) {
        PyTuple_SET_ITEM(key, 0, Py_NewRef(ufunc));
        for (int i = 0; i < count; i++)
            PyTuple_SET_ITEM(key, i + 1, Py_NewRef(stands[i]));
        dtypes = PyDict_GetItemWithError(known.dtypes, key);
        Py_DECREF(key);
    }
    PyErr_Clear();
    if (dtypes == NULL || !PyList_Check(dtypes) || PyList_GET_SIZE(dtypes) != 1)
        return NULL;
    PyObject *dtype = PyList_GET_ITEM(dtypes, 0);
    return dtype_take(dtype) > 0 ? dtype : NULL;
}

/* result_of returns the dtype of a ufunc's result, borrowed; NULL without an exception if there is no short way. */
static PyObject *result_of(PyObject *ufunc, uint32_t kinds, PyObject *const *stands, int count) {
    size_t at = (((uintptr_t)ufunc >> 4) * 31 + kinds * 2654435761u) % RESULTS;
    if (results[at].ufunc != ufunc || results[at].kinds != kinds) {
        PyObject *dtype = look_up(ufunc, stands, count);
        if (dtype == NULL)
            return NULL;
        PyObject *old = results[at].ufunc, *other = results[at].dtype;
        results[at].ufunc = Py_NewRef(ufunc);
        results[at].kinds = kinds;
        results[at].dtype = Py_NewRef(dtype);
        Py_XDECREF(old);
        Py_XDECREF(other);
        return dtype;
    }
    return results[at].dtype;
}

/* ---- The short way ---- */

/* is_users says whether the code that runs is the user's, so that NumPy's warnings name a line of it. */
static int is_users(void) {
    PyObject *globals = PyEval_GetGlobals();
    PyObject *name = globals == NULL ? NULL : PyDict_GetItemWithError(globals, module_name);
    PyErr_Clear();
    const char *text = name != NULL && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    return text == NULL || !(strncmp(text, "dtl", 3) == 0 || strncmp(text, "numpy", 5) == 0);
}

/* called calls a ufunc with arrays and numbers, behind which there is the array that gets the result. */
static PyObject *called(PyObject *ufunc, PyObject *const *arrays, int count) {
    if (is_users())
        return PyObject_Vectorcall(ufunc, arrays, (size_t)count, out_words);
    PyObject *given = PyTuple_New(count), *made = NULL, *options = PyDict_New();
    for (int i = 0; given != NULL && i < count; i++)
        PyTuple_SET_ITEM(given, i, Py_NewRef(arrays[i]));
    if (given != NULL && options != NULL && PyDict_SetItem(options, out_name, arrays[count]) == 0)
        made = PyObject_CallFunctionObjArgs(known.by_user, ufunc, given, options, NULL);
    Py_XDECREF(given);
    Py_XDECREF(options);
    return made;
}

/* short_way returns a container of a ufunc's values, out if that is given. NULL without an exception: only the long way computes
 * them. */
static PyObject *short_way(PyObject *ufunc, PyObject *const *in, int count, PyObject *out) {
    ContainerObject *first = NULL, *made = NULL;
    PyObject *stands[MOST_OPERANDS + 1], *arrays[MOST_OPERANDS + 1], *dtype, *answer = NULL;
    uint32_t kinds = 0, kind;
    if (state.under_way || state.forked || tracing || !numpy_known || known.dtypes == NULL || count > MOST_OPERANDS - 1)
        return NULL;
    int all = count + (out != NULL);
    for (int i = 0; i < all; i++) {
        if ((kind = kind_of(i < count ? in[i] : out, &first, &stands[i])) == 0 || (i == count && kind >= OF_NUMBERS))
            return NULL;
        kinds = kinds << 8 | kind;
    }
    kinds |= out != NULL ? 0x80u << 24 : 0; /* which no kind of an operand sets */
    if (first == NULL || (dtype = result_of(ufunc, kinds, stands, all)) == NULL)
        return NULL;
    LayoutObject *layout = (LayoutObject *)first->layout;
    double size = array_types[((const ndarray_descr *)dtype)->type_num].size;
    if (layout->count * size >= state.least_queued)
        return NULL;
    int held = 0;
    for (; held < all; held++) {
        PyObject *value = held < count ? in[held] : out;
        arrays[held] = is_container(value) ? part_of((ContainerObject *)value) : Py_NewRef(value);
        if (arrays[held] == NULL)
            goto done;
    }
    const ndarray *part = (const ndarray *)first->part;
    if (part == NULL)
        goto done;
    double elements = elements_of(part);
    layout->count = elements;
    if (elements == 0 || elements * size >= state.least_queued)
        goto done;
    if (out == NULL) {
        if ((made = container_quick(first, dtype)) == NULL)
            goto done;
        arrays[held++] = Py_NewRef(made->part);
    }
    PyObject *written = called(ufunc, arrays, count);
    if (written != NULL)
        answer = made != NULL ? Py_NewRef((PyObject *)made) : Py_NewRef(out);
    Py_XDECREF(written);
done:
    while (held > 0)
        Py_DECREF(arrays[--held]);
    Py_XDECREF((PyObject *)made);
    return answer;
}

/* ---- NumPy's protocol ---- */

/* only_out returns the container in out=(container,) if there are no other keywords; NULL in *given where there is none at all. */
static int only_out(PyObject *words, PyObject *const *values, PyObject **given) {
    *given = NULL;
    if (words == NULL || PyTuple_GET_SIZE(words) == 0)
        return 1;
    if (PyTuple_GET_SIZE(words) != 1 || PyUnicode_Compare(PyTuple_GET_ITEM(words, 0), out_name) != 0 || !PyTuple_CheckExact(values[0]) ||
        PyTuple_GET_SIZE(values[0]) != 1)
        return 0;
    *given = PyTuple_GET_ITEM(values[0], 0);
    if (*given == Py_None)
        *given = NULL;
    return 1;
}

PyObject *elementwise_ufunc(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *words) {
    PyObject *out;
    if (nargs < 3)
        return PyErr_Format(PyExc_TypeError, "__array_ufunc__ takes a ufunc, a method and operands, not %zd arguments", nargs);
    int is_call = args[1] == call_name || (PyUnicode_Check(args[1]) && call_name != NULL && PyUnicode_Compare(args[1], call_name) == 0);
    if (is_call && only_out(words, args + nargs, &out)) {
        PyObject *made = short_way(args[0], args + 2, (int)(nargs - 2), out);
        if (made != NULL || PyErr_Occurred())
            return made;
    }
    PyObject *long_way = PyObject_GetAttr(self, long_way_name);
    PyObject *made = long_way == NULL ? NULL : PyObject_Vectorcall(long_way, args, (size_t)nargs, words);
    Py_XDECREF(long_way);
    return made;
}

/* refuses says whether another operand wants operators to leave it alone. */
static int refuses(PyObject *other) {
    PyObject *type = (PyObject *)Py_TYPE(other);
    if (is_container(other) || PyFloat_CheckExact(other) || PyLong_CheckExact(other))
        return 0;
    PyObject *its = PyObject_GetAttr(type, array_ufunc_name);
    PyErr_Clear();
    Py_XDECREF(its);
    return its == Py_None;
}

static PyObject *two(int of, PyObject *one, PyObject *other) {
    PyObject *const operands[] = {one, other};
    if (ufuncs[of] == NULL || refuses(is_container(one) ? other : one))
        Py_RETURN_NOTIMPLEMENTED;
    PyObject *made = short_way(ufuncs[of], operands, 2, NULL);
    return made != NULL || PyErr_Occurred() ? made : PyObject_Vectorcall(ufuncs[of], operands, 2, NULL);
}

static PyObject *in_place(int of, PyObject *one, PyObject *other) {
    PyObject *const operands[] = {one, other};
    if (ufuncs[of] == NULL)
        Py_RETURN_NOTIMPLEMENTED;
    PyObject *made = short_way(ufuncs[of], operands, 2, one);
    if (made != NULL || PyErr_Occurred())
        return made;
    PyObject *out = PyTuple_Pack(1, one);
    PyObject *const given[] = {one, other, out};
    if (out != NULL)
        made = PyObject_Vectorcall(ufuncs[of], given, 2, out_words);
    Py_XDECREF(out);
    return made;
}

static PyObject *alone(int of, PyObject *operand) {
    if (ufuncs[of] == NULL)
        return PyErr_Format(PyExc_TypeError, "%s: NumPy is not known yet", names[of]);
    PyObject *made = short_way(ufuncs[of], &operand, 1, NULL);
    return made != NULL || PyErr_Occurred() ? made : PyObject_Vectorcall(ufuncs[of], &operand, 1, NULL);
}

PyObject *elementwise_compare(PyObject *one, PyObject *other, int how) {
    static const int of[] = {[Py_LT] = LESS, [Py_LE] = LESS_EQUAL, [Py_EQ] = EQUAL, [Py_NE] = NOT_EQUAL, [Py_GT] = GREATER,
                             [Py_GE] = GREATER_EQUAL};
    return two(of[how], one, other);
}

#define TWO(function, of)                                                                                                                  \
    static PyObject *function(PyObject *one, PyObject *other) { return two(of, one, other); }                                              \
    static PyObject *function##_in_place(PyObject *one, PyObject *other) { return in_place(of, one, other); }

TWO(add, ADD)
TWO(subtract, SUBTRACT)
TWO(multiply, MULTIPLY)
TWO(multiply_matrices, MATMUL)
TWO(divide, TRUE_DIVIDE)
TWO(floor_divide, FLOOR_DIVIDE)
TWO(remainder_of, REMAINDER)
TWO(shift_left, LEFT_SHIFT)
TWO(shift_right, RIGHT_SHIFT)
TWO(bits_and, AND)
TWO(bits_xor, XOR)
TWO(bits_or, OR)

static PyObject *divide_whole(PyObject *one, PyObject *other) { return two(DIVMOD, one, other); }

static PyObject *raise_power(PyObject *one, PyObject *other, PyObject *modulus) {
    if (modulus != Py_None)
        Py_RETURN_NOTIMPLEMENTED;
    return two(POWER, one, other);
}

static PyObject *power_in_place(PyObject *one, PyObject *other, PyObject *modulus) { return in_place(POWER, one, other); }

static PyObject *negative(PyObject *operand) { return alone(NEGATIVE, operand); }
static PyObject *positive(PyObject *operand) { return alone(POSITIVE, operand); }
static PyObject *absolute(PyObject *operand) { return alone(ABSOLUTE, operand); }
static PyObject *invert(PyObject *operand) { return alone(INVERT, operand); }

PyNumberMethods elementwise_operators = {
    .nb_add = add, .nb_inplace_add = add_in_place,
    .nb_subtract = subtract, .nb_inplace_subtract = subtract_in_place,
    .nb_multiply = multiply, .nb_inplace_multiply = multiply_in_place,
    .nb_matrix_multiply = multiply_matrices, .nb_inplace_matrix_multiply = multiply_matrices_in_place,
    .nb_true_divide = divide, .nb_inplace_true_divide = divide_in_place,
    .nb_floor_divide = floor_divide, .nb_inplace_floor_divide = floor_divide_in_place,
    .nb_remainder = remainder_of, .nb_inplace_remainder = remainder_of_in_place,
    .nb_divmod = divide_whole,
    .nb_power = raise_power, .nb_inplace_power = power_in_place,
    .nb_lshift = shift_left, .nb_inplace_lshift = shift_left_in_place,
    .nb_rshift = shift_right, .nb_inplace_rshift = shift_right_in_place,
    .nb_and = bits_and, .nb_inplace_and = bits_and_in_place,
    .nb_xor = bits_xor, .nb_inplace_xor = bits_xor_in_place,
    .nb_or = bits_or, .nb_inplace_or = bits_or_in_place,
    .nb_negative = negative, .nb_positive = positive, .nb_absolute = absolute, .nb_invert = invert,
};
