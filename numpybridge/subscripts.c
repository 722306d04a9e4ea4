//go:build cpython

/*
 * Subscripts of containers, and NumPy's functions that only move elements: the short way of small numbers on one rank that has
 * them all. NumPy reads the subscript, and the result is a copy. Everything else goes the long way, by Python's _getitem and
 * _array_function, which also say what is wrong with a subscript.
 */
#include "collective.h"
#include "numpy.h"
#include "objects.h"
#include "part.h"
#include "selections.h"
#include "state.h"
#include "subscripts.h"
#include "trace.h"

/* What Python knows: how a container is divided by blocks, and the functions of NumPy that have a short way. */
static struct {
    PyObject *block, *functions, *elementwise;
} known;

static PyObject *getitem_name, *setitem_name, *function_name, *transpose_name, *t_name, *tensor_name;

const char learn_subscripts_doc[] = PyDoc_STR(
"learn_subscripts($module, block, functions, elementwise, collective, spec_end, windows, words, /)\n--\n\n"
"Learn how a container is divided by blocks; the set of NumPy's functions of containers of one shape, numbers and lists of\n"
"containers, whose results are what they are of arrays; those of them that compute each element by itself; the collective that reads every subscript; what is said of a new container\n"
"behind its shape; the windows of containers, by context; and the function that returns what the ranks agree on, of a mask that is an\n"
"array, or of None for one that is a container.");

PyObject *bridge_learn_subscripts(PyObject *module, PyObject *args) {
    PyObject *collective, *spec_end, *windows, *words;
    if (!PyArg_ParseTuple(args, "OO!O!O!O!O!O", &known.block, &PySet_Type, &known.functions, &PySet_Type, &known.elementwise, &CollectiveType, &collective, &PyTuple_Type,
                          &spec_end, &PyDict_Type, &windows, &words))
        return NULL;
    selections_learn(known.block, collective, spec_end, windows, words);
    Py_INCREF(known.block);
    Py_INCREF(known.functions);
    Py_INCREF(known.elementwise);
    getitem_name = PyUnicode_InternFromString("_getitem");
    setitem_name = PyUnicode_InternFromString("_setitem");
    function_name = PyUnicode_InternFromString("_array_function");
    transpose_name = PyUnicode_InternFromString("_transpose");
    tensor_name = PyUnicode_InternFromString("_tensor_class");
    t_name = PyUnicode_InternFromString("T");
    Py_RETURN_NONE;
}

/* part_alone returns a new reference to the part of a container that this rank has all of; NULL without an exception for another. */
static PyObject *part_alone(ContainerObject *c) {
    if (!c->quick || c->division != known.block || (c->meaning != NULL && c->meaning != Py_None) || !is_alone(c))
        return NULL;
    return part_of(c);
}

static int short_ways(void) { return numpy_known && known.block != NULL && !state.under_way && !state.forked && !tracing; }

/* made_of returns a container of elements, of the class of another one or, where the dimensions differ, of tensors. It takes over the
 * reference. */
static PyObject *made_of(ContainerObject *like, PyObject *elements) {
    PyObject *made = NULL;
    if (elements != NULL && Py_TYPE(elements) == ndarray_known) {
        PyObject *type = ((const ndarray *)elements)->nd == 1 ? Py_NewRef((PyObject *)Py_TYPE(like))
                                                              : PyObject_GetAttr((PyObject *)like, tensor_name);
        if (type != NULL && PyType_Check(type))
            made = (PyObject *)container_with((PyTypeObject *)type, like, elements);
        Py_XDECREF(type);
    }
    Py_XDECREF(elements);
    PyErr_Clear();
    return made;
}

/* ---- Subscripts ---- */

static int is_simple(PyObject *key) { return PyLong_CheckExact(key) || PySlice_Check(key) || key == Py_None || key == Py_Ellipsis; }

/* key_of returns what NumPy reads as the subscript of an array, a new reference; NULL without an exception where Python reads it. */
static PyObject *key_of(PyObject *key, const ndarray *part) {
    if (is_container(key)) {
        PyObject *mask = part_alone((ContainerObject *)key);
        if (mask == NULL)
            return NULL;
        key = mask;
    } else if (is_simple(key)) {
        return Py_NewRef(key);
    } else if (PyTuple_CheckExact(key)) {
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); i++)
            if (!is_simple(PyTuple_GET_ITEM(key, i)))
                return NULL;
        return Py_NewRef(key);
    } else if (Py_TYPE(key) != ndarray_known) {
        return NULL;
    } else {
        Py_INCREF(key);
    }
    const ndarray *mask = (const ndarray *)key;
    if (mask->descr->type_num == NDARRAY_BOOL && mask->nd == part->nd && is_small(part) &&
        memcmp(mask->dimensions, part->dimensions, (size_t)part->nd * sizeof *part->dimensions) == 0)
        return key;
    Py_DECREF(key);
    return NULL;
}

/* selected returns what a subscript selects on one rank; NULL without an exception for the long way. */
static PyObject *selected(ContainerObject *c, PyObject *key) {
    PyObject *part = short_ways() ? part_alone(c) : NULL;
    PyObject *read = part == NULL ? NULL : key_of(key, (const ndarray *)part);
    PyObject *found = read == NULL ? NULL : PyObject_GetItem(part, read), *made = found;
    if (found != NULL && Py_TYPE(found) == ndarray_known)
        made = made_of(c, found);
    Py_XDECREF(read);
    Py_XDECREF(part);
    PyErr_Clear();
    return made;
}

static PyObject *subscripts_get(PyObject *self, PyObject *key) {
    PyObject *made = selected((ContainerObject *)self, key);
    if (made == NULL && short_ways())
        made = selections_get((ContainerObject *)self, key);
    return made != NULL || PyErr_Occurred() ? made : PyObject_CallMethodObjArgs(self, getitem_name, key, NULL);
}

/* written_as returns what NumPy writes to float64 or integers as the long way does, a new reference: a number, or elements of the same
 * dtype. NULL without an exception for another value. */
static PyObject *written_as(ContainerObject *c, const ndarray *part, PyObject *value) {
    int type = part->descr->type_num;
    if (is_container(value) && ((ContainerObject *)value)->context == c->context) {
        PyObject *elements = part_alone((ContainerObject *)value);
        if (elements != NULL && ((const ndarray *)elements)->descr->type_num == type)
            return elements;
        Py_XDECREF(elements);
        return NULL;
    }
    int fits = type == NDARRAY_DOUBLE ? PyFloat_CheckExact(value) : type == NDARRAY_LONG && PyLong_CheckExact(value);
    if (Py_TYPE(value) == ndarray_known)
        fits = ((const ndarray *)value)->descr == part->descr;
    return fits && (type == NDARRAY_DOUBLE || type == NDARRAY_LONG) ? Py_NewRef(value) : NULL;
}

/* written assigns to what a subscript selects, and says whether it did; -1 with an exception where the program is interrupted. */
static int written(ContainerObject *c, PyObject *key, PyObject *value) {
    PyObject *part = short_ways() ? part_alone(c) : NULL, *given = NULL, *read = NULL;
    int done = 0;
    if (part != NULL && is_small((const ndarray *)part) && (given = written_as(c, (const ndarray *)part, value)) != NULL &&
        (read = key_of(key, (const ndarray *)part)) != NULL)
        done = PyObject_SetItem(part, read, given) == 0;
    Py_XDECREF(read);
    Py_XDECREF(given);
    Py_XDECREF(part);
    if (!done && PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception))
        return -1;
    PyErr_Clear();
    return done;
}

static int subscripts_set(PyObject *self, PyObject *key, PyObject *value) {
    if (value == NULL) {
        PyErr_Format(PyExc_TypeError, "'%s' object doesn't support item deletion", Py_TYPE(self)->tp_name);
        return -1;
    }
    int is_done = written((ContainerObject *)self, key, value);
    if (is_done != 0)
        return is_done < 0 ? -1 : 0;
    PyObject *done = PyObject_CallMethodObjArgs(self, setitem_name, key, value, NULL);
    Py_XDECREF(done);
    return done == NULL ? -1 : 0;
}

PyMappingMethods subscripts_mapping = {.mp_subscript = subscripts_get, .mp_ass_subscript = subscripts_set};

static PyObject *subscripts_item(PyObject *self, Py_ssize_t index) {
    PyObject *key = PyLong_FromSsize_t(index), *made = key == NULL ? NULL : subscripts_get(self, key);
    Py_XDECREF(key);
    return made;
}

PySequenceMethods subscripts_sequence = {.sq_item = subscripts_item};

PyObject *subscripts_transpose(PyObject *self, void *unused) {
    ContainerObject *c = (ContainerObject *)self;
    PyObject *part = short_ways() ? part_alone(c) : NULL, *made = NULL;
    if (part != NULL) {
        made = ((const ndarray *)part)->nd == 2 ? made_of(c, PyObject_GetAttr(part, t_name)) : NULL;
        Py_DECREF(part);
        PyErr_Clear();
    }
    return made != NULL ? made : PyObject_CallMethodObjArgs(self, transpose_name, NULL);
}

/* ---- NumPy's functions ---- */

/* given_to returns what stands for an argument in a call with arrays, a new reference; NULL without an exception for the long way.
 * The first container is first, and all others are of its class, dtype and shape, but for masks, which are of its shape. */
static PyObject *given_to(PyObject *value, ContainerObject **first, int nested) {
    if (is_container(value)) {
        ContainerObject *c = (ContainerObject *)value;
        PyObject *part = part_alone(c);
        if (part == NULL)
            return NULL;
        const ndarray *array = (const ndarray *)part;
        if (!is_small(array) || (nested && array->descr->type_num == NDARRAY_BOOL)) {
            Py_DECREF(part);
            return NULL;
        }
        if (array->descr->type_num != NDARRAY_BOOL && (*first == NULL || ((const ndarray *)(*first)->part)->descr->type_num == NDARRAY_BOOL))
            *first = *first == NULL || Py_TYPE(*first) == Py_TYPE(c) ? c : *first;
        *first = *first == NULL ? c : *first;
        const ndarray *other = (const ndarray *)(*first)->part;
        int alike = Py_TYPE(*first) == Py_TYPE(c) && array->nd == other->nd &&
                    (array->descr == other->descr || array->descr->type_num == NDARRAY_BOOL) &&
                    memcmp(array->dimensions, other->dimensions, (size_t)array->nd * sizeof *array->dimensions) == 0;
        if (alike)
            return part;
        Py_DECREF(part);
        return NULL;
    }
    if (PyFloat_CheckExact(value) && !nested)
        return Py_NewRef(value);
    if (nested || !(PyList_CheckExact(value) || PyTuple_CheckExact(value)) || PySequence_Fast_GET_SIZE(value) == 0)
        return NULL;
    Py_ssize_t count = PySequence_Fast_GET_SIZE(value);
    PyObject *all = PyTuple_New(count);
    for (Py_ssize_t i = 0; all != NULL && i < count; i++) {
        PyObject *each = given_to(PySequence_Fast_GET_ITEM(value, i), first, 1);
        if (each == NULL)
            Py_CLEAR(all);
        else
            PyTuple_SET_ITEM(all, i, each);
    }
    return all;
}

/* of_arrays returns what a function makes of containers, by the parts; NULL without an exception for the long way, and with one where
 * the program is interrupted. */
static PyObject *of_arrays(PyObject *function, PyObject *args) {
    ContainerObject *first = NULL;
    Py_ssize_t count = PyTuple_GET_SIZE(args);
    PyObject *given = PyTuple_New(count), *made = NULL;
    for (Py_ssize_t i = 0; given != NULL && i < count; i++) {
        PyObject *each = given_to(PyTuple_GET_ITEM(args, i), &first, 0);
        if (each == NULL)
            Py_CLEAR(given);
        else
            PyTuple_SET_ITEM(given, i, each);
    }
    PyObject *result = NULL;
    if (given != NULL && first != NULL && ((const ndarray *)first->part)->descr->type_num == NDARRAY_DOUBLE)
        result = PyObject_Call(function, given, NULL);
    Py_XDECREF(given);
    if (result != NULL)
        made = made_of(first, result);
    else if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_Exception)) /* an interrupt goes to the program */
        PyErr_Clear();
    return made;
}

/* own_of returns what stands for an argument in a call with the parts of containers that several ranks have: all are laid out as the first. */
static PyObject *own_of(PyObject *value, ContainerObject **first) {
    if (PyFloat_CheckExact(value))
        return Py_NewRef(value);
    ContainerObject *c = (ContainerObject *)value;
    if (!is_container(value) || !c->quick || c->division != known.block || (c->meaning != NULL && c->meaning != Py_None) || is_alone(c) ||
        (*first != NULL && (Py_TYPE(*first) != Py_TYPE(c) || (*first)->layout != c->layout || (*first)->context != c->context)))
        return NULL;
    PyObject *part = part_of(c);
    const ndarray *array = (const ndarray *)part;
    if (part == NULL || !is_small(array) || elements_of(array) == 0 ||
        (array->descr->type_num != NDARRAY_BOOL && array->descr->type_num != NDARRAY_DOUBLE)) {
        Py_XDECREF(part);
        return NULL;
    }
    *first = *first == NULL || ((const ndarray *)(*first)->part)->descr->type_num == NDARRAY_BOOL ? c : *first;
    return part;
}

/* of_own_parts is of_arrays of what several ranks have: as with a ufunc, each computes its part, and they do not meet. */
static PyObject *of_own_parts(PyObject *function, PyObject *args) {
    ContainerObject *first = NULL, *made = NULL;
    Py_ssize_t count = PyTuple_GET_SIZE(args);
    PyObject *given = PyTuple_New(count), *result = NULL;
    for (Py_ssize_t i = 0; given != NULL && i < count; i++) {
        PyObject *each = own_of(PyTuple_GET_ITEM(args, i), &first);
        if (each == NULL)
            Py_CLEAR(given);
        else
            PyTuple_SET_ITEM(given, i, each);
    }
    if (given != NULL && first != NULL && ((const ndarray *)first->part)->descr->type_num == NDARRAY_DOUBLE)
        result = PyObject_Call(function, given, NULL);
    if (result != NULL && Py_TYPE(result) == ndarray_known) {
        const ndarray *array = (const ndarray *)result, *part = (const ndarray *)first->part;
        if (part != NULL && array->nd == part->nd && memcmp(array->dimensions, part->dimensions, (size_t)part->nd * sizeof *part->dimensions) == 0)
            made = container_quick(first, (PyObject *)array->descr);
        if (made != NULL && array_copy(made->part, result) < 0)
            Py_CLEAR(made);
    }
    Py_XDECREF(result);
    Py_XDECREF(given);
    if (made == NULL && PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_Exception)) /* an interrupt goes to the program */
        PyErr_Clear();
    return (PyObject *)made;
}

PyObject *subscripts_function(PyObject *self, PyObject *const *args, Py_ssize_t nargs) {
    if (nargs == 4 && short_ways() && PyTuple_CheckExact(args[2]) && PyDict_CheckExact(args[3]) && PyDict_GET_SIZE(args[3]) == 0 &&
        PySet_Contains(known.functions, args[0]) == 1) {
        PyObject *made = of_arrays(args[0], args[2]);
        if (made == NULL && !PyErr_Occurred() && PySet_Contains(known.elementwise, args[0]) == 1)
            made = of_own_parts(args[0], args[2]);
        if (made != NULL || PyErr_Occurred())
            return made;
    }
    PyErr_Clear();
    PyObject *long_way = PyObject_GetAttr(self, function_name);
    PyObject *made = long_way == NULL ? NULL : PyObject_Vectorcall(long_way, args, (size_t)nargs, NULL);
    Py_XDECREF(long_way);
    return made;
}
