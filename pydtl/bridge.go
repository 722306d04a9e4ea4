//go:build cpython

package pydtl

import _ "dtl/numpybridge" // the module _bridge, in the same shared object
