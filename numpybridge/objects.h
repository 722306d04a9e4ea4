/* The types of objects with native handles, and of memory of the core. */
#ifndef DTL_OBJECTS_H
#define DTL_OBJECTS_H

#include "interpreter.h"

#pragma GCC visibility push(hidden)

typedef struct {
    PyObject_HEAD
    long long handle;
    char deferred; /* calls on it go the long way: Python decides when they run */
    char pending;  /* expressions are computed before anybody uses it */
    char unregistered; /* a container that the core does not know yet: use_handle makes it known */
    char temporary; /* nobody but its last short call referred to it, while something was pending */
} HandleObject;

/* A handle that a group of ranks share. */
typedef struct {
    HandleObject handle;
    int32_t rank, size; /* 0 of 1 until it is attached */
    dtl_board *board; /* where C may meet the other ranks; NULL: nowhere */
    dtl_nodes *nodes; /* the same where they are on several nodes */
} RanksObject;

/* A window's handle. */
typedef struct {
    HandleObject handle;
    dtl_window *window; /* where C may access the parts; NULL: nowhere */
} ExposedObject;

extern PyTypeObject HandleType, RanksType, BufferType, ExposedType;

/* use_handle computes what is pending on an object, and makes it known to the core, before anybody uses its handle. It returns
 * -1 where that fails. */
int use_handle(HandleObject *object);

/* on_register takes the function that makes an object known to the core, and returns -1 with an exception where that fails. */
void on_register(int (*f)(HandleObject *));

/* Where the elements are, of containers that are laid out alike. */
typedef struct {
    PyObject_HEAD
    PyObject *shape, *local_size; /* NULL until somebody has asked */
    double count; /* this rank's elements; 0 until a short call has counted them */
    long long template; /* the native handle of what keeps the layout for containers that are yet to be registered; 0: none */
    char whole; /* a container of one rank, which has all elements: the shape says where they are, and no template is needed */
} LayoutObject;

/* A container of elements, which ends with the object. */
typedef struct ContainerObject {
    HandleObject base;
    char quick; /* numbers on the host, of a container that owns them: calls on its part need nothing of Python's */
    int ndim;
    PyObject *context, *dtype, *division, *layout;
    PyObject *meaning; /* of the vector of a table's column: what the elements stand for; NULL or None of most */
    PyObject *part; /* the array of this rank's elements; NULL until a short call has asked for it: see part.c */
    struct ContainerObject *before, *behind; /* the others that are unregistered */
} ContainerObject;

extern const char on_use_doc[];
PyObject *bridge_on_use(PyObject *module, PyObject *compute);

/* buffer_new makes a Buffer of a call's result. It takes over the storage, also when it fails. */
PyObject *buffer_new(const dtl_call *call);

/* named_setup takes the function that makes an array of a Buffer whose format names the elements. */
void named_setup(PyObject *make_array);

/* named_array makes an array or a scalar of a call's result of a named type. It takes over the storage, also when it fails. */
PyObject *named_array(const dtl_call *call);

#pragma GCC visibility pop

#endif
