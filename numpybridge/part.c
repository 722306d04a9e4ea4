//go:build cpython

/*
 * What a container object keeps of its elements: an array of its part, with which NumPy computes at once. The core would be
 * asked for it at each call.
 *
 * The array of a container of the core's is one view of it, so the core refuses to move the elements while it is there.
 * Who means to move them, or counts views, has it forgotten before; if another thread computes with it then, the core refuses
 * all the same. So an array that is there is right, and containers are laid out alike if they have one object for it.
 *
 * A small container that a short call makes is known to no one but its object. Its elements are in a block (blocks.h). When
 * somebody asks for its handle, the core gets the block, and the layout by the template of the layout's object.
 */
#include "blocks.h"
#include "call.h"
#include "errors.h"
#include "numpy.h"
#include "objects.h"
#include "part.h"
#include "state.h"
#include "trace.h"

/* ---- Block: the owner of an array's memory ---- */

typedef struct {
    PyObject_HEAD
    void *data;
    PyObject *view; /* of the core's, where the core has to know that somebody uses the memory */
} BlockObject;

static void block_dealloc(PyObject *self) {
    block_drop_held(((BlockObject *)self)->data);
    Py_XDECREF(((BlockObject *)self)->view);
    PyObject_Free(self);
}

PyTypeObject BlockType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "dtl._native._bridge.Block",
    .tp_basicsize = sizeof(BlockObject),
    .tp_dealloc = block_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "The owner of small memory.",
};

/* ---- The array of a part ---- */

/* view_part asks the core for a container's part. */
static PyObject *view_part(const ContainerObject *c) {
    static int64_t code = -1;
    dtl_call call;
    if (code < 0)
        code = operation_code("VIEW");
    memset(&call, 0, offsetof(dtl_call, shape));
    call.code = code;
    call.handle = c->base.handle;
    Py_BEGIN_ALLOW_THREADS
    dtl_perform(&call);
    Py_END_ALLOW_THREADS
    PyObject *array = NULL;
    if (call.error != NULL)
        free(call.error); /* the long way has it, too */
    else if (call.result.given && call.stream == 0 && type_numbered((unsigned)call.result.type) != NULL)
        array = array_of(&call);
    else if (call.storage != 0)
        dtl_release(call.storage);
    PyErr_Clear();
    return array;
}

PyObject *part_of(ContainerObject *c) {
    if (c->part == NULL) {
        if (!c->quick || c->base.handle == 0 || c->base.pending || c->base.deferred || state.forked || tracing || !numpy_known)
            return NULL;
        PyObject *array = view_part(c);
        if (array == NULL || c->part != NULL || c->base.handle == 0 || c->base.pending) { /* another thread was faster */
            Py_XDECREF(array);
            return NULL;
        }
        c->part = array;
    }
    return c->quick && !c->base.pending && !c->base.deferred ? Py_NewRef(c->part) : NULL;
}

int part_forget(ContainerObject *c) {
    if (c->base.unregistered && container_register(&c->base) < 0)
        return -1;
    if (c->part == NULL)
        return 0;
    PyObject *owner = ((const ndarray *)c->part)->base;
    if (Py_REFCNT(c->part) > 1 && owner != NULL && Py_TYPE(owner) == &BlockType && ((BlockObject *)owner)->view == NULL)
        ((BlockObject *)owner)->view = view_part(c); /* a call on another thread computes with it */
    Py_CLEAR(c->part);
    return 0;
}

/* ---- Containers that the core does not know yet ---- */

/* Those that there are, the oldest first. */
static ContainerObject *unregistered, *youngest;

static void enlist(ContainerObject *c) {
    c->base.unregistered = 1;
    c->before = youngest;
    c->behind = NULL;
    *(youngest != NULL ? &youngest->behind : &unregistered) = c;
    youngest = c;
}

static void strike(ContainerObject *c) {
    c->base.unregistered = 0;
    *(c->before != NULL ? &c->before->behind : &unregistered) = c->behind;
    *(c->behind != NULL ? &c->behind->before : &youngest) = c->before;
}

void part_close(ContainerObject *c) {
    if (c->base.unregistered)
        strike(c);
    Py_CLEAR(c->part);
}

int container_register(HandleObject *object) {
    ContainerObject *c = (ContainerObject *)object;
    int64_t handle = 0;
    const ndarray *part = (const ndarray *)c->part;
    if (state.forked)
        return fail_forked(), -1;
    int64_t size = (int64_t)bytes_of(part);
    block_keep(part->data); /* for the core, which keeps the GIL waiting only while it allocates a few bytes */
    int32_t type = array_types[part->descr->type_num].number;
    long long template = ((LayoutObject *)c->layout)->whole ? 0 : ((LayoutObject *)c->layout)->template;
    char *error = template != 0 ? dtl_container_over(template, type, part->data, size, &handle)
                                : dtl_container_whole(((HandleObject *)c->context)->handle, type, part->nd, (int64_t *)part->dimensions,
                                                      part->data, size, &handle);
    if (error != NULL)
        return fail_with(error), -1;
    strike(c);
    c->base.handle = handle;
    return 0;
}

const char register_all_doc[] = PyDoc_STR(
"register_all($module, /)\n--\n\n"
"Make all containers known to the core, before it is asked which there are.");

PyObject *bridge_register_all(PyObject *module, PyObject *unused) {
    while (unregistered != NULL)
        if (container_register(&unregistered->base) < 0)
            return NULL;
    Py_RETURN_NONE;
}

const char quick_whole_doc[] = PyDoc_STR(
"quick_whole($module, c, /)\n--\n\n"
"Return the array of all elements that a container's object keeps, on a context of one rank; None of anything else, or\n"
"where there is no short way to it.");

PyObject *bridge_quick_whole(PyObject *module, PyObject *value) {
    ContainerObject *c = (ContainerObject *)value;
    PyObject *part = NULL;
    if (is_container(value) && c->quick && state.under_way == 0 && PyObject_TypeCheck(c->context, &RanksType) &&
        ((const RanksObject *)c->context)->size == 1)
        part = part_of(c);
    return part != NULL ? part : Py_NewRef(Py_None);
}

const char block_bytes_doc[] = PyDoc_STR(
"block_bytes($module, /)\n--\n\n"
"Return how many bytes of elements are in memory that the core has not handed out.");

PyObject *bridge_block_bytes(PyObject *module, PyObject *unused) { return PyLong_FromLongLong(blocks_in_use()); }

/* has_template says whether a container's layout has a template, which it gets if the core knows the container. */
static int has_template(ContainerObject *like) {
    LayoutObject *layout = (LayoutObject *)like->layout;
    if (layout->whole)
        return is_alone(like); /* on a context that is closed, nothing is made */
    if (layout->template == 0 && like->base.unregistered && container_register(&like->base) < 0)
        PyErr_Clear();
    if (layout->template == 0 && like->base.handle != 0) {
        int64_t made = 0;
        free(dtl_container_template(like->base.handle, &made));
        layout->template = made;
    }
    return layout->template != 0;
}

/* allocated returns an array of a shape and a dtype over a block. */
static PyObject *allocated(int ndim, const Py_ssize_t *shape, const ndarray_descr *descr) {
    size_t size = (size_t)array_types[descr->type_num].size;
    for (int i = 0; i < ndim; i++)
        size *= (size_t)shape[i];
    void *data = block_new(size);
    BlockObject *owner = data == NULL ? NULL : PyObject_New(BlockObject, &BlockType);
    if (owner == NULL) {
        if (data != NULL)
            block_drop(data);
        PyErr_Clear();
        return NULL;
    }
    owner->data = data;
    owner->view = NULL;
    PyObject *array = array_over(descr, ndim, shape, data, (PyObject *)owner);
    PyErr_Clear();
    return array;
}

PyObject *container_of_handle(PyTypeObject *type, ContainerObject *like, long long handle, int ndim) {
    PyObject *layout = Py_TYPE(like->layout)->tp_alloc(Py_TYPE(like->layout), 0);
    ContainerObject *c = layout == NULL ? NULL : (ContainerObject *)type->tp_alloc(type, 0);
    if (c == NULL) {
        Py_XDECREF(layout);
        free(dtl_container_close(handle)); /* it never fails */
        return NULL;
    }
    c->base.handle = handle;
    c->quick = 1;
    c->ndim = ndim;
    c->context = Py_NewRef(like->context);
    c->dtype = Py_NewRef(like->dtype);
    c->division = Py_NewRef(like->division);
    c->layout = layout;
    return (PyObject *)c;
}

/* container_of returns a new container of a class, with an array that it takes over, on the context of another one. */
static ContainerObject *container_of(PyTypeObject *type, ContainerObject *like, PyObject *array, PyObject *layout) {
    ContainerObject *c = array == NULL ? NULL : (ContainerObject *)type->tp_alloc(type, 0);
    if (c == NULL) {
        Py_XDECREF(array);
        PyErr_Clear();
        return NULL;
    }
    c->quick = 1;
    c->ndim = ((const ndarray *)array)->nd;
    c->context = Py_NewRef(like->context);
    c->dtype = Py_NewRef((PyObject *)((const ndarray *)array)->descr);
    c->division = Py_NewRef(like->division);
    c->layout = Py_NewRef(layout);
    c->part = array;
    enlist(c);
    return c;
}

/* is_known says whether containers of a class, and elements of a dtype, can be made here. */
static int is_known(PyTypeObject *type, PyObject *dtype) {
    return type->tp_new == container_type->tp_new && !state.keeps_places && dtype_take(dtype) > 0;
}

ContainerObject *container_quick(ContainerObject *like, PyObject *dtype) {
    const ndarray *part = (const ndarray *)like->part;
    if (part == NULL || !is_known(Py_TYPE(like), dtype) || !has_template(like))
        return NULL;
    return container_of(Py_TYPE(like), like, allocated(part->nd, part->dimensions, (const ndarray_descr *)dtype), like->layout);
}

/* shape_of reads a shape, and says whether a short call makes such a container: of some elements, and not of many. */
static int shape_of(PyObject *shape, Py_ssize_t *extents) {
    Py_ssize_t ndim = PyTuple_Check(shape) ? PyTuple_GET_SIZE(shape) : 0;
    double count = 1;
    if (ndim < 1 || ndim > NDARRAY_MAX_DIMS)
        return 0;
    for (Py_ssize_t i = 0; i < ndim; i++) {
        extents[i] = PyLong_Check(PyTuple_GET_ITEM(shape, i)) ? PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, i)) : 0;
        count *= (double)extents[i];
        if (extents[i] < 1)
            return PyErr_Clear(), 0;
    }
    return count <= MOST_WHOLE;
}

int part_whole(ContainerObject *c, PyObject *layout, PyObject *const *given) {
    PyObject *ctx = given[0], *dtype = dtype_resolved(given[1]), *shape = given[3];
    Py_ssize_t extents[NDARRAY_MAX_DIMS];
    const RanksObject *ranks = (const RanksObject *)ctx;
    if (!PyObject_TypeCheck(ctx, &RanksType) || ranks->size != 1 || ranks->handle.handle == 0 || state.forked || tracing ||
        state.keeps_places || dtype == NULL || !shape_of(shape, extents))
        return 0;
    PyObject *array = allocated((int)PyTuple_GET_SIZE(shape), extents, (const ndarray_descr *)dtype);
    if (array == NULL)
        return 0;
    const ndarray *part = (const ndarray *)array;
    if (given[4] != Py_True)
        memset(part->data, 0, (size_t)bytes_of(part));
    ((LayoutObject *)layout)->shape = Py_NewRef(shape);
    c->quick = 1;
    c->ndim = part->nd;
    Py_XSETREF(c->context, Py_NewRef(ctx));
    Py_XSETREF(c->dtype, Py_NewRef(dtype));
    Py_XSETREF(c->division, Py_NewRef(given[2]));
    Py_XSETREF(c->layout, Py_NewRef(layout));
    Py_XSETREF(c->part, array);
    enlist(c);
    return 1;
}

/* ---- Containers of other shapes, on one rank ---- */

enum { LAYOUTS = 64 };

/* Layouts of containers that one rank has the whole of, by their shapes, so that those of one shape share one. */
static struct {
    int ndim;
    Py_ssize_t shape[NDARRAY_MAX_DIMS];
    PyObject *layout;
} layouts[LAYOUTS];

/* whole_layout returns the layout of a shape, borrowed. Its type is that of another one. */
static PyObject *whole_layout(PyObject *like, int ndim, const Py_ssize_t *shape) {
    size_t at = (size_t)ndim, bytes = (size_t)ndim * sizeof *shape;
    for (int i = 0; i < ndim; i++)
        at = at * 31 + (size_t)shape[i];
    at %= LAYOUTS;
    if (layouts[at].layout != NULL && layouts[at].ndim == ndim && memcmp(layouts[at].shape, shape, bytes) == 0)
        return layouts[at].layout;
    PyObject *made = Py_TYPE(like)->tp_alloc(Py_TYPE(like), 0);
    if (made == NULL)
        return NULL;
    ((LayoutObject *)made)->whole = 1;
    Py_XSETREF(layouts[at].layout, made);
    layouts[at].ndim = ndim;
    memcpy(layouts[at].shape, shape, bytes);
    return made;
}

int is_alone(const ContainerObject *c) {
    const RanksObject *ranks = (const RanksObject *)c->context;
    return ranks != NULL && PyObject_TypeCheck(c->context, &RanksType) && ranks->size == 1 && ranks->handle.handle != 0;
}

ContainerObject *container_with(PyTypeObject *type, ContainerObject *like, PyObject *elements) {
    const ndarray *given = (const ndarray *)elements;
    if (given->nd == 0 || given->nd > DTL_MAX_DIMS || given->nd > NDARRAY_MAX_DIMS || !is_known(type, (PyObject *)given->descr))
        return NULL;
    PyObject *layout = bytes_of(given) == 0 || !is_small(given) ? NULL : whole_layout(like->layout, given->nd, given->dimensions);
    PyObject *array = layout == NULL ? NULL : allocated(given->nd, given->dimensions, given->descr);
    if (array == NULL || array_copy(array, elements) < 0) {
        Py_XDECREF(array);
        PyErr_Clear();
        return NULL;
    }
    return container_of(type, like, array, layout);
}
