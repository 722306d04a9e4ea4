//go:build cpython

/*
 * Subscripts of containers that several ranks have: integers, slices, and masks, of numbers on the host that are divided by blocks.
 * The subscript is read here, once, and the core gets what it selects: the ranks meet once. All ranks come to the same calls as by
 * the long way, Python's _getitem, which reads every subscript: a rank may take that for a reason of its own, such as a trace.
 */
#include "arguments.h"
#include "call.h"
#include "collective.h"
#include "numpy.h"
#include "objects.h"
#include "part.h"
#include "selections.h"
#include "state.h"

/* The numbers that say of a dimension what is selected, as the core's axes have them. */
enum { FROM, FROM_START, FROM_STEP, TO, TO_START, TO_STEP, COUNT, AXIS };

/* What Python knows. */
static struct {
    PyObject *block;      /* the division by blocks */
    PyObject *collective; /* _getitem, which tells other ranks of errors */
    PyObject *spec_end;   /* what is said of a new container behind its shape */
    PyObject *windows;    /* not empty: some may have to be closed first */
    PyObject *words;      /* a function that returns what the ranks agree on, of a mask */
    PyObject *family, *tensor_class, *local_offset, *shape;
    int64_t take, slice, from_parts;
} known;

void selections_learn(PyObject *block, PyObject *collective, PyObject *spec_end, PyObject *windows, PyObject *words) {
    known.block = Py_NewRef(block);
    known.collective = Py_NewRef(collective);
    known.spec_end = Py_NewRef(spec_end);
    known.windows = Py_NewRef(windows);
    known.words = Py_NewRef(words);
    known.family = PyUnicode_InternFromString("_family");
    known.tensor_class = PyUnicode_InternFromString("_tensor_class");
    known.local_offset = PyUnicode_InternFromString("local_offset");
    known.shape = PyUnicode_InternFromString("shape");
    known.take = operation_code("TAKE");
    known.slice = operation_code("SLICE");
    known.from_parts = operation_code("FROM_PARTS");
}

/* is_ready says whether a container of several ranks can be used at once, and makes it known to the core. */
static int is_ready(ContainerObject *c) {
    const RanksObject *ranks = (const RanksObject *)c->context;
    if (!c->quick || c->division != known.block || (c->meaning != NULL && c->meaning != Py_None) || c->base.pending || c->base.deferred)
        return 0;
    if (ranks == NULL || !PyObject_TypeCheck(c->context, &RanksType) || ranks->size < 2 || ranks->handle.handle == 0)
        return 0;
    return use_handle(&c->base) == 0 && c->base.handle != 0;
}

/* told returns a call's answer; where that is an exception, when the other ranks have been told. */
static PyObject *told(PyObject *answer, ContainerObject *c, PyObject *key) {
    PyObject *const args[] = {(PyObject *)c, key};
    return answer != NULL ? answer : collective_failed(known.collective, args, 2);
}

static void new_call(dtl_call *call, int64_t code, int64_t handle) {
    memset(call, 0, offsetof(dtl_call, shape));
    call->code = code;
    call->handle = handle;
}

/* ---- What is made ---- */

/* The numbers of a list, which is long enough for what is said here. */
typedef struct {
    int64_t numbers[(AXIS + 1) * NDARRAY_MAX_DIMS + 16];
    int64_t count;
} integers;

/* give_list passes a list in a call. */
static void give_list(dtl_call *call, const integers *list) {
    const array_type *type = &array_types[NDARRAY_LONG];
    call->lists[call->list_count++] = (dtl_array){.given = 1, .type = type->number, .data = (void *)list->numbers,
                                                  .itemsize = type->size, .count = list->count, .kind = DTL_NDARRAY};
}

/* class_of returns the class of what a subscript makes, a new reference. */
static PyTypeObject *class_of(ContainerObject *c, int ndim) {
    PyObject *type = ndim == 1 ? Py_NewRef((PyObject *)Py_TYPE(c)) : PyObject_GetAttr((PyObject *)c, known.tensor_class);
    if (type != NULL && (!PyType_Check(type) || ((PyTypeObject *)type)->tp_new != container_type->tp_new))
        Py_CLEAR(type);
    return (PyTypeObject *)type;
}

/* spec_of says what container to make, as Python's function of this name does. It returns 0 where Python has to. */
static int spec_of(PyTypeObject *type, ContainerObject *like, int ndim, const int64_t *shape, integers *spec) {
    PyObject *family = PyObject_GetAttr((PyObject *)type, known.family);
    int64_t *at = spec->numbers;
    Py_ssize_t rest = PyTuple_GET_SIZE(known.spec_end);
    if (family == NULL || take_args(&family, 1, at++) != TAKEN || rest > 8) {
        Py_XDECREF(family);
        return 0;
    }
    Py_DECREF(family);
    *at++ = dtype_take(like->dtype);
    *at++ = ndim;
    memcpy(at, shape, (size_t)ndim * sizeof *shape);
    at += ndim;
    if (spec->numbers[1] <= 0 || take_args(&PyTuple_GET_ITEM(known.spec_end, 0), rest, at) != TAKEN)
        return 0;
    spec->count = at + rest - spec->numbers;
    return 1;
}

/* made_by returns the container that a call makes. */
static PyObject *made_by(dtl_call *call, PyTypeObject *type, ContainerObject *like, int ndim, PyObject *in, PyObject *out) {
    PyObject *number = with_value(call, in, out);
    long long handle = number == NULL ? 0 : PyLong_AsLongLong(number);
    Py_XDECREF(number);
    return handle > 0 ? container_of_handle(type, like, handle, ndim) : NULL;
}

/* ---- Integers and slices ---- */

typedef struct {
    integers rows;
    int64_t shape[NDARRAY_MAX_DIMS];
    int ndim;
    double count;
} region;

/* read_slice reads a slice of Python's integers. */
static int read_slice(PyObject *entry, Py_ssize_t extent, int64_t *row) {
    PyObject *const bounds[] = {((PySliceObject *)entry)->start, ((PySliceObject *)entry)->stop, ((PySliceObject *)entry)->step};
    Py_ssize_t start, stop, step;
    for (int i = 0; i < 3; i++)
        if (bounds[i] != Py_None && !PyLong_CheckExact(bounds[i]))
            return 0;
    if (PySlice_Unpack(entry, &start, &stop, &step) < 0) /* a step of zero */
        return 0;
    row[COUNT] = PySlice_AdjustIndices(extent, &start, &stop, step);
    row[FROM_START] = row[COUNT] > 0 ? start : 0;
    row[FROM_STEP] = row[COUNT] > 1 ? step : 1; /* of one index no step is taken, and it may be too large */
    return 1;
}

/* read_entry reads what is selected along a dimension, NULL for all: of an integer, one index, which the result has no dimension for. */
static int read_entry(region *r, PyObject *entry, int dim, Py_ssize_t extent) {
    int64_t *row = r->rows.numbers + r->rows.count;
    memcpy(row, (const int64_t[AXIS]){[FROM] = dim, [FROM_STEP] = 1, [TO] = -1, [TO_STEP] = 1, [COUNT] = 1}, AXIS * sizeof *row);
    r->rows.count += AXIS;
    if (entry != NULL && PyLong_CheckExact(entry)) {
        Py_ssize_t index = PyLong_AsSsize_t(entry);
        row[FROM_START] = index < 0 ? index + extent : index;
        return !PyErr_Occurred() && 0 <= row[FROM_START] && row[FROM_START] < extent;
    }
    row[TO] = r->ndim;
    if (entry == NULL)
        row[COUNT] = extent;
    else if (!PySlice_Check(entry) || !read_slice(entry, extent, row))
        return 0;
    r->shape[r->ndim++] = row[COUNT];
    r->count *= (double)row[COUNT];
    return 1;
}

/* read_region reads integers, slices and one ... of a shape; 0 for the long way. */
static int read_region(region *r, PyObject *key, PyObject *shape) {
    int is_tuple = PyTuple_CheckExact(key), dots = -1, dim = 0;
    Py_ssize_t entries = is_tuple ? PyTuple_GET_SIZE(key) : 1, ndim = PyTuple_GET_SIZE(shape);
    PyObject *const *entry = is_tuple ? &PyTuple_GET_ITEM(key, 0) : &key;
    for (Py_ssize_t i = 0; i < entries; i++)
        if (entry[i] == Py_Ellipsis) {
            if (dots >= 0)
                return 0;
            dots = (int)i;
        }
    Py_ssize_t left_out = ndim - entries + (dots >= 0);
    if (left_out < 0 || ndim > NDARRAY_MAX_DIMS)
        return 0;
    for (Py_ssize_t i = 0; i <= entries; i++) {
        if (i == (dots >= 0 ? dots : entries))
            for (Py_ssize_t n = 0; n < left_out; n++, dim++)
                if (!read_entry(r, NULL, dim, PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, dim))))
                    return 0;
        if (i == entries || i == dots)
            continue;
        if (!read_entry(r, entry[i], dim, PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, dim))))
            return 0;
        dim++;
    }
    return r->ndim > 0; /* else these are elements, and not a container */
}

/* sliced returns a container of what integers and slices select. */
static PyObject *sliced(ContainerObject *c, PyObject *key) {
    region r = {.count = 1};
    PyObject *shape = PyObject_GetAttr((PyObject *)c, known.shape), *made = NULL;
    int is_read = shape != NULL && PyTuple_Check(shape) && read_region(&r, key, shape);
    Py_XDECREF(shape);
    PyErr_Clear();
    if (!is_read || r.count * array_types[((const ndarray_descr *)c->dtype)->type_num].size >= state.least_queued)
        return NULL;
    PyTypeObject *type = class_of(c, r.ndim);
    integers spec;
    if (type != NULL && spec_of(type, c, r.ndim, r.shape, &spec)) {
        dtl_call call;
        new_call(&call, known.slice, ((RanksObject *)c->context)->handle.handle);
        call.args[0] = c->base.handle;
        give_list(&call, &spec);
        give_list(&call, &r.rows);
        made = told(made_by(&call, type, c, r.ndim, Py_None, Py_None), c, key);
    } else {
        PyErr_Clear();
    }
    Py_XDECREF((PyObject *)type);
    return made;
}

/* element returns one element of a vector. */
static PyObject *element(ContainerObject *c, PyObject *key) {
    dtl_call call;
    new_call(&call, known.take, c->base.handle);
    call.inline_result = 1;
    PyObject *found = with_value(&call, key, Py_None);
    if (found == Py_NotImplemented) {
        Py_DECREF(found);
        return NULL;
    }
    if (found != NULL && Py_TYPE(found) == ndarray_known && ((const ndarray *)found)->nd == 0) {
        PyObject *number = generic_new(((const ndarray *)found)->descr, ((const ndarray *)found)->data);
        Py_DECREF(found);
        found = number;
    }
    return told(found, c, key);
}

/* ---- Masks ---- */

/* part_of_mask returns the part of a mask of all elements that is a container. */
static PyObject *part_of_mask(ContainerObject *c, ContainerObject *mask) {
    if (mask->context != c->context || !is_ready(mask))
        return NULL;
    if (mask->layout != c->layout) {
        PyObject *one = PyObject_GetAttr((PyObject *)c, known.shape), *other = PyObject_GetAttr((PyObject *)mask, known.shape);
        int alike = one != NULL && other != NULL && PyObject_RichCompareBool(one, other, Py_EQ) == 1;
        Py_XDECREF(one);
        Py_XDECREF(other);
        if (!alike)
            return NULL;
    }
    return part_of(mask);
}

/* part_of_array returns this rank's part of a mask that is an array, the same on every rank. */
static PyObject *part_of_array(ContainerObject *c, const ndarray *part, PyObject *mask) {
    const ndarray *all = (const ndarray *)mask;
    PyObject *shape = PyObject_GetAttr((PyObject *)c, known.shape), *offset = PyObject_GetAttr((PyObject *)c, known.local_offset);
    int fits = shape != NULL && offset != NULL && PyTuple_Check(shape) && PyTuple_GET_SIZE(shape) == all->nd && elements_of(all) > 0;
    for (int i = 0; fits && i < all->nd; i++)
        fits = PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, i)) == all->dimensions[i];
    Py_ssize_t first = fits ? PyLong_AsSsize_t(offset) : 0;
    Py_XDECREF(shape);
    Py_XDECREF(offset);
    return fits && !PyErr_Occurred() ? PySequence_GetSlice(mask, first, first + part->dimensions[0]) : NULL;
}

/* From how many elements on the long way is shorter: it has a loop without a branch for each. */
enum { MANY = 4096 };

/* chosen_of returns this rank's elements that a mask chooses. */
static PyObject *chosen_of(ContainerObject *c, PyObject *key) {
    PyObject *part = part_of(c), *mask = NULL, *chosen = NULL;
    if (part != NULL && elements_of((const ndarray *)part) < MANY)
        mask = is_container(key) ? part_of_mask(c, (ContainerObject *)key) : part_of_array(c, (const ndarray *)part, key);
    if (mask != NULL && Py_TYPE(mask) == ndarray_known && ((const ndarray *)mask)->descr->type_num == NDARRAY_BOOL &&
        ((const ndarray *)mask)->nd == ((const ndarray *)part)->nd)
        chosen = PyObject_GetItem(part, mask);
    Py_XDECREF(mask);
    Py_XDECREF(part);
    return chosen;
}

/* masked returns a vector of the elements that a mask chooses. */
static PyObject *masked(ContainerObject *c, PyObject *key) {
    PyObject *chosen = chosen_of(c, key), *made = NULL;
    PyTypeObject *type = chosen == NULL ? NULL : class_of(c, 1);
    PyObject *words = type == NULL ? NULL : PyObject_CallFunctionObjArgs(known.words, is_container(key) ? Py_None : key, NULL);
    integers spec;
    if (words != NULL && spec_of(type, c, 1, (int64_t *)((const ndarray *)chosen)->dimensions, &spec)) {
        dtl_call call;
        new_call(&call, known.from_parts, ((RanksObject *)c->context)->handle.handle);
        give_list(&call, &spec);
        made = told(made_by(&call, type, c, 1, chosen, words), c, key);
    } else {
        PyErr_Clear();
    }
    Py_XDECREF(words);
    Py_XDECREF((PyObject *)type);
    Py_XDECREF(chosen);
    return made;
}

PyObject *selections_get(ContainerObject *c, PyObject *key) {
    if (known.block == NULL || !is_ready(c)) {
        PyErr_Clear();
        return NULL;
    }
    if (PyLong_CheckExact(key) && c->ndim == 1)
        return element(c, key);
    if (PyDict_GET_SIZE(known.windows) > 0)
        return NULL;
    if (PyLong_CheckExact(key) || PySlice_Check(key) || PyTuple_CheckExact(key))
        return sliced(c, key);
    if (is_container(key) || (Py_TYPE(key) == ndarray_known && ((const ndarray *)key)->descr->type_num == NDARRAY_BOOL))
        return masked(c, key);
    return NULL;
}
