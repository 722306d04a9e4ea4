// Package overflow tells whether arithmetic of floats has overflowed, without looking at each result: the processor keeps a mark.
package overflow

/*
#cgo nocallback dtl_forget_overflow
#cgo nocallback dtl_overflowed

// <fenv.h> says the same, but its functions are in a library that nothing else needs.
#if defined(__x86_64__)
enum { DTL_OVERFLOW = 8 };
static inline unsigned dtl_marks(void) { return __builtin_ia32_stmxcsr(); }
static inline void dtl_set_marks(unsigned marks) { __builtin_ia32_ldmxcsr(marks); }
#elif defined(__aarch64__)
enum { DTL_OVERFLOW = 4 };
static inline unsigned long dtl_marks(void) {
	unsigned long marks;
	__asm__ volatile("mrs %0, fpsr" : "=r"(marks));
	return marks;
}
static inline void dtl_set_marks(unsigned long marks) { __asm__ volatile("msr fpsr, %0" : : "r"(marks)); }
#else // where nobody has said how to ask, it may always have
enum { DTL_OVERFLOW = 1 };
static inline int dtl_marks(void) { return DTL_OVERFLOW; }
static inline void dtl_set_marks(int marks) { (void)marks; }
#endif

static inline void dtl_forget_overflow(void) { dtl_set_marks(dtl_marks() & ~DTL_OVERFLOW); }
static inline int dtl_overflowed(void) { return (dtl_marks() & DTL_OVERFLOW) != 0; }
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
