/* What a container object keeps of its elements. */
#ifndef DTL_PART_H
#define DTL_PART_H

#include "interpreter.h"
#include "objects.h"

#pragma GCC visibility push(hidden)

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

#pragma GCC visibility pop

#endif
