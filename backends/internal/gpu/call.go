package gpu

/*
// The three shapes of function that probing needs. CUDA's, HIP's and NCCL's result types are C enums.

static int call_flags(void *f) { return ((int (*)(unsigned int))f)(0); }

static int call_integer(void *f, int *value) { return ((int (*)(int *))f)(value); }

static int call_text(void *f, int code, const char **text) {
	return ((int (*)(int, const char **))f)(code, text);
}
*/
import "C"

import "unsafe"

// initialize calls int f(unsigned int flags) with no flags, and returns its result.
func initialize(f unsafe.Pointer) (result int) { return int(C.call_flags(f)) }

// Integer calls int f(int *value), and returns value and the result, of which 0 is success.
func Integer(f unsafe.Pointer) (value, result int) {
	var v C.int
	result = int(C.call_integer(f, &v))
	return int(v), result
}

// text calls int f(int code, const char **text), and returns the text, or that f knows none for the code.
func text(f unsafe.Pointer, code int) string {
	var t *C.char
	if C.call_text(f, C.int(code), &t) != 0 || t == nil {
		return "no text for it"
	}
	return C.GoString(t)
}
