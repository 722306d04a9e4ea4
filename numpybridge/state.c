//go:build cpython

/* What the whole process knows: the other files of the module read it, and module.c sets it. */
#include "module.h"

PyObject *ndarray_type, *generic_type;
int disabled, under_way;
