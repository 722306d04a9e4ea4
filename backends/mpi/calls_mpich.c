#include "abi_mpich.h"
#include "wrappers.h"
