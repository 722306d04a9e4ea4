#include "abi_openmpi.h"
#include "wrappers.h"
