#include "abi_standard.h"
#include "wrappers.h"
