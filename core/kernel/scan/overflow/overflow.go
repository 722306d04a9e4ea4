// Package overflow tells whether arithmetic of floats has overflowed, without looking at each result: the processor keeps a mark.
package overflow

/*
#cgo LDFLAGS: -lm
#cgo nocallback dtl_forget_overflow
#cgo nocallback dtl_overflowed
#include <fenv.h>

static inline void dtl_forget_overflow(void) { feclearexcept(FE_OVERFLOW); }
static inline int dtl_overflowed(void) { return fetestexcept(FE_OVERFLOW) != 0; }
*/
import "C"

import "runtime"

// During calls f, and reports whether it has made an infinity of finite numbers.
func During(f func()) bool {
	runtime.LockOSThread() // the mark is the thread's
	defer runtime.UnlockOSThread()
	C.dtl_forget_overflow()
	f()
	return C.dtl_overflowed() != 0
}
