// Package overflow tells whether arithmetic of floats has left their range, without looking at each result: the processor keeps marks.
package overflow

/*
#cgo nocallback dtl_forget_marks
#cgo nocallback dtl_marked
#include "marks.h"
*/
import "C"

import "runtime"

// During calls f, and reports whether it has made an infinity of finite numbers.
func During(f func()) bool { return marked(C.DTL_OVERFLOW, f) }

// OrUnderflowDuring is During, and reports also whether f has made a number that is too small for all of its digits.
func OrUnderflowDuring(f func()) bool { return marked(C.DTL_OVERFLOW|C.DTL_UNDERFLOW, f) }

func marked(which C.int, f func()) bool {
	runtime.LockOSThread() // the marks are the thread's
	defer runtime.UnlockOSThread()
	C.dtl_forget_marks()
	f()
	return C.dtl_marked(which) != 0
}
