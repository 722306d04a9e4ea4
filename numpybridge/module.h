/* What the C files of the module _bridge share. */
#ifndef DTL_MODULE_H
#define DTL_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <structmember.h>

#if PY_VERSION_HEX < 0x03090000
#define PyObject_Vectorcall _PyObject_Vectorcall
#define Py_TPFLAGS_HAVE_VECTORCALL _Py_TPFLAGS_HAVE_VECTORCALL
#endif
#if PY_VERSION_HEX < 0x030d0000
#define Py_IsFinalizing _Py_IsFinalizing
#endif
#if PY_VERSION_HEX < 0x030a0000
static inline PyObject *Py_NewRef(PyObject *object) {
    Py_INCREF(object);
    return object;
}
#endif

#include "_cgo_export.h"
#include "bridge.h"

/* Everything here is for this library's own files. */
#pragma GCC visibility push(hidden)

/* ---- state.c ---- */

/* Set once by setup(): the two NumPy types that tell kinds apart. */
extern PyObject *ndarray_type, *generic_type;

/* The type ContainerType, for the files that its definition uses. */
extern PyTypeObject *container_type;

static inline int is_container(PyObject *value) { return PyObject_TypeCheck(value, container_type); }

/* What C and Python both know of this process, in one place for both: Python sees it as _bridge.state. */
typedef struct {
    PyObject_HEAD
    char forked;   /* the Go runtime does not survive fork: in a child without exec no call may reach it */
    char keeps_places; /* the places at which containers are made are kept: the core hears of each at once */
    double least_queued; /* how many bytes the smallest part has of which expressions are queued */
    int numpy_loops; /* how many of NumPy's loops the core uses */
    int under_way; /* asynchronous calls: while there are some, Python says when a call on a container may begin */
} StateObject;

extern PyTypeObject StateType;
extern StateObject state;

/* ---- errors.c ---- */

/* errors_setup takes the function that makes an exception of an error's text. */
void errors_setup(PyObject *make_error);

/* fail raises the exception that "[code op] cause" stands for, and returns NULL. */
PyObject *fail(const char *text);

/* fail_with raises an error of Go's, frees it, and returns NULL. */
PyObject *fail_with(char *error);

/* fail_alone is fail_with of an error that no other rank knows of. */
PyObject *fail_alone(char *error);

/* fail_forked says that this process is a forked child, and returns NULL. */
PyObject *fail_forked(void);

/* ---- objects.c ---- */

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

/* ---- container.c ---- */

extern PyTypeObject LayoutType, ContainerType;

/* ---- part.c ---- */

/* part_of returns a new reference to the array of a container's part, or NULL where there is no short way to it: then no
 * exception is set. */
PyObject *part_of(ContainerObject *c);

/* part_forget forgets the array, before the part changes or views are counted. It returns -1, with an exception, where the core
 * cannot get to know the container. */
int part_forget(ContainerObject *c);

/* part_close forgets the array of a container that is closed, and takes it off the unregistered ones. */
void part_close(ContainerObject *c);

/* container_quick returns a new container that is laid out as another one, of a NumPy dtype, whose elements are anything. The
 * core does not know it before somebody asks for its handle. NULL without an exception: there is no short way. */
ContainerObject *container_quick(ContainerObject *like, PyObject *dtype);

/* is_alone says whether a container's context has one rank. */
int is_alone(const ContainerObject *c);

/* container_with returns a new container of a class with a copy of the elements of an array, divided by blocks, on the context of
 * another one, which is_alone, and is divided by blocks. NULL without an exception: there is no short way. */
ContainerObject *container_with(PyTypeObject *type, ContainerObject *like, PyObject *elements);

/* container_of_handle returns a new container of a class for one of the core's, of the context, dtype and division of another one. NULL
 * with an exception where there is no memory: then the core's is closed. */
PyObject *container_of_handle(PyTypeObject *type, ContainerObject *like, long long handle, int ndim);

/* container_register makes a container known to the core. It returns -1, with an exception, where that fails. */
int container_register(HandleObject *object);

/* The most elements of a container that part_whole makes. Python has it as a constant. */
enum { MOST_WHOLE = 4096 };

/* part_whole makes a new container one of a context of one rank, of a dtype, a division, a shape, and blank or of zeros, which are
 * given, with a layout of its own. The core does not know it before somebody asks for its handle. It returns 0 where there is no
 * short way. */
int part_whole(ContainerObject *c, PyObject *layout, PyObject *const *given);

extern PyTypeObject BlockType;

extern const char block_bytes_doc[], quick_whole_doc[], register_all_doc[];
PyObject *bridge_quick_whole(PyObject *module, PyObject *value);
PyObject *bridge_block_bytes(PyObject *module, PyObject *unused);
PyObject *bridge_register_all(PyObject *module, PyObject *unused);

/* ---- elementwise.c ---- */

extern PyNumberMethods elementwise_operators;
extern const char learn_ufuncs_doc[];
PyObject *bridge_learn_ufuncs(PyObject *module, PyObject *args);
PyObject *elementwise_compare(PyObject *one, PyObject *other, int how);
PyObject *elementwise_ufunc(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *words);

/* ---- subscripts.c ---- */

extern PyMappingMethods subscripts_mapping;
extern PySequenceMethods subscripts_sequence;
extern const char learn_subscripts_doc[];
PyObject *bridge_learn_subscripts(PyObject *module, PyObject *args);
PyObject *subscripts_function(PyObject *self, PyObject *const *args, Py_ssize_t nargs);
PyObject *subscripts_transpose(PyObject *self, void *unused);

/* ---- selections.c ---- */

/* selections_learn takes what Python knows of containers that a subscript makes. */
void selections_learn(PyObject *block, PyObject *collective, PyObject *spec_end, PyObject *windows, PyObject *words);

/* selections_get returns what a subscript selects of a container of several ranks. NULL without an exception: only the long way does. */
PyObject *selections_get(ContainerObject *c, PyObject *key);

/* ---- device_memory.c ---- */

extern PyTypeObject DeviceMemoryType;

/* device_memory_new makes a DeviceMemory of a call's result. It takes over the storage, also when it fails. */
PyObject *device_memory_new(const dtl_call *call);

extern const char device_lend_doc[], device_stream_doc[], take_dlpack_doc[];
PyObject *bridge_device_lend(PyObject *module, PyObject *args);
PyObject *bridge_device_stream(PyObject *module, PyObject *device);
PyObject *bridge_take_dlpack(PyObject *module, PyObject *capsule);

/* ---- arguments.c ---- */

/* A Python scalar's value, for as long as a call lasts. */
typedef union {
    double real;
    long long integer;
    Py_complex complex_;
    char truth;
} scalar;

/* Taken is the result of borrowing an argument. */
typedef enum { FAILED = -1, TAKEN, UNSUITABLE } taken;

/* take_scalar takes the value of a Python scalar. */
taken take_scalar(PyObject *value, dtl_array *a, scalar *s);

/* give_scalar returns a Python scalar. */
PyObject *give_scalar(const dtl_array *a);

/* take_list borrows a list of integers, which is an array or a tuple, until PyBuffer_Release(view). */
taken take_list(PyObject *value, dtl_array *a, Py_buffer *view);

/* take_buffer borrows a C-contiguous buffer until PyBuffer_Release(view). The caller holds value meanwhile.
 * shape has room for DTL_MAX_DIMS dimensions; it is NULL where nobody asks for them. */
taken take_buffer(PyObject *value, dtl_array *a, int64_t *shape, Py_buffer *view, int flags);

/* take_handle reads an object's native handle, when what is pending on it is computed. */
taken take_handle(PyObject *object, int64_t *handle);

/* take_args reads n integers. Anything else is Python's to resolve. */
taken take_args(PyObject *const *args, Py_ssize_t n, int64_t *into);

/* ---- call.c ---- */

/* perform makes the call with the GIL released, and returns its result: None where there is none. */
PyObject *perform(dtl_call *call);

/* take_call reads what call and start have in common: the code, the owner, four integers and the lists, which are
 * borrowed until release_lists. name is the function's, for errors. */
taken take_call(const char *name, PyObject *const *args, Py_ssize_t nargs, dtl_call *call, Py_buffer *views);

void release_lists(const dtl_call *call, Py_buffer *views);

extern const char call_doc[];
PyObject *bridge_call(PyObject *module, PyObject *const *args, Py_ssize_t nargs);

/* operation_code returns the number of an operation by its name, or -1. */
int64_t operation_code(const char *name);

/* with_value borrows the input, if there is one, and makes the call. */
PyObject *with_value(dtl_call *call, PyObject *value, PyObject *out);

/* ---- methods.c ---- */

/* add_methods gives the module a function for each operation that has parameters. */
int add_methods(PyObject *module);

/* ---- collective.c ---- */

extern PyTypeObject CollectiveType;

/* collective_failed does what a call of a Collective does where its function raises the exception that is set. */
PyObject *collective_failed(PyObject *collective, PyObject *const *args, Py_ssize_t count);

/* ---- requests.c ---- */

extern PyTypeObject PendingCallType;

extern const char start_doc[];
extern const char pends_doc[];
PyObject *bridge_pends(PyObject *module, PyObject *object);

PyObject *bridge_start(PyObject *module, PyObject *const *args, Py_ssize_t nargs);

/* ---- expressions.c ---- */

extern const char compute_doc[], fault_doc[];
PyObject *bridge_compute(PyObject *module, PyObject *args);
PyObject *bridge_fault(PyObject *module, PyObject *args);

/* ---- places.c ---- */

/* places_keep keeps where the program is, which has made a call with a root on ranks and may have gone on from it. */
void places_keep(const RanksObject *ranks);

/* places_of returns the code from which a call was made, and sets its line: that of a number, where ranks meet. NULL: nobody knows. */
PyObject *places_of(uint64_t meets, uint64_t number, int *line);

/* ---- interrupts.c ---- */

/* interrupts_setup takes Python's functions that name the place the calling thread is at, and that of code and a line. */
void interrupts_setup(PyObject *where, PyObject *name);

/* raise_interruption raises what a signal's handler raised while the call of this thread waited, and says whether one did. */
int raise_interruption(void);

extern const char end_doc[];
PyObject *bridge_end(PyObject *module, PyObject *unused);

extern const char interruption_doc[];
PyObject *bridge_interruption(PyObject *module, PyObject *unused);

extern const char use_alternate_stack_doc[];
PyObject *bridge_use_alternate_stack(PyObject *module, PyObject *number);

extern const char waits_doc[];
PyObject *bridge_waits(PyObject *module, PyObject *unused);

/* ---- turns.c ---- */

extern const char take_turn_doc[], end_turn_doc[];
PyObject *bridge_take_turn(PyObject *module, PyObject *args);
PyObject *bridge_end_turn(PyObject *module, PyObject *number);

/* ---- trace.c ---- */

/* Whether anybody records. */
extern int tracing;

/* trace_perform is perform's call into Go for those who record. */
void trace_perform(dtl_call *call);

extern PyTypeObject RecorderType;

extern const char outside_doc[], clock_doc[], note_doc[];
PyObject *bridge_outside(PyObject *module, PyObject *beginnings);
PyObject *bridge_clock(PyObject *module, PyObject *unused);
PyObject *bridge_note(PyObject *module, PyObject *args);

#pragma GCC visibility pop

#endif
