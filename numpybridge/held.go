//go:build cpython

package numpybridge

// #include <stdint.h>
import "C"

// dtl_request_end closes a request's handle and says 1, unless it is under way: then its buffers stay.
//
//export dtl_request_end
func dtl_request_end(handle C.int64_t) C.int {
	defer guard(nil)
	if EndRequest(int64(handle)) {
		return 1
	}
	return 0
}
