/* The base class of containers. */
#ifndef DTL_CONTAINER_H
#define DTL_CONTAINER_H

#include "interpreter.h"

#pragma GCC visibility push(hidden)

extern PyTypeObject LayoutType, ContainerType;

#pragma GCC visibility pop

#endif
