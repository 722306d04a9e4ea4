//go:build cpython

/* What the whole process knows: the other files of the module read it, and Python sees some of it as the object state. */
#include "state.h"

PyObject *ndarray_type, *generic_type;

PyTypeObject *container_type;

static PyMemberDef members[] = {
    {"forked", T_BOOL, offsetof(StateObject, forked), 0, "whether this is a forked child, in which no call may reach Go"},
    {"under_way", T_INT, offsetof(StateObject, under_way), 0, "how many asynchronous calls are under way"},
    {"keeps_places", T_BOOL, offsetof(StateObject, keeps_places), 0, "whether the core hears at once of each container"},
    {"numpy_loops", T_INT, offsetof(StateObject, numpy_loops), READONLY, "how many of NumPy's loops the core uses"},
    {"least_queued", T_DOUBLE, offsetof(StateObject, least_queued), 0,
     "how many bytes the smallest part has of which expressions are queued"},
    {NULL},
};

PyTypeObject StateType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "dtl._bridge.State",
    .tp_basicsize = sizeof(StateObject),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "What C and Python both know of this process.",
    .tp_members = members,
};

StateObject state = {PyObject_HEAD_INIT(&StateType)};
