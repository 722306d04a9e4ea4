// Package overflow tells whether arithmetic of floats has left their range, without looking at each result: the processor keeps marks.
package overflow

/*
#cgo nocallback dtl_forget_marks
#cgo nocallback dtl_marked

// <fenv.h> says the same, but its functions are in a library that nothing else needs.
#if defined(__x86_64__)
enum { DTL_OVERFLOW = 8, DTL_UNDERFLOW = 16 };
static inline unsigned dtl_marks(void) { return __builtin_ia32_stmxcsr(); }
static inline void dtl_set_marks(unsigned marks) { __builtin_ia32_ldmxcsr(marks); }
#elif defined(__aarch64__)
enum { DTL_OVERFLOW = 4, DTL_UNDERFLOW = 8 };
static inline unsigned long dtl_marks(void) {
	unsigned long marks;
	__asm__ volatile("mrs %0, fpsr" : "=r"(marks));
	return marks;
}
static inline void dtl_set_marks(unsigned long marks) { __asm__ volatile("msr fpsr, %0" : : "r"(marks)); }
#else // where nobody has said how to ask, it may always have
enum { DTL_OVERFLOW = 1, DTL_UNDERFLOW = 1 };
static inline int dtl_marks(void) { return DTL_OVERFLOW; }
static inline void dtl_set_marks(int marks) { (void)marks; }
#endif

static inline void dtl_forget_marks(void) { dtl_set_marks(dtl_marks() & ~(DTL_OVERFLOW | DTL_UNDERFLOW)); }
static inline int dtl_marked(int which) { return (dtl_marks() & which) != 0; }
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
