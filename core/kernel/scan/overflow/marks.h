/* The marks that a processor keeps of what arithmetic of floats has done: <fenv.h> without its library, which nothing else needs. */
#ifndef DTL_MARKS_H
#define DTL_MARKS_H

#if defined(__x86_64__)
enum { DTL_INVALID = 1, DTL_OVERFLOW = 8, DTL_UNDERFLOW = 16 };
static inline unsigned dtl_marks(void) { return __builtin_ia32_stmxcsr(); }
static inline void dtl_set_marks(unsigned marks) { __builtin_ia32_ldmxcsr(marks); }
#elif defined(__aarch64__)
enum { DTL_INVALID = 1, DTL_OVERFLOW = 4, DTL_UNDERFLOW = 8 };
static inline unsigned long dtl_marks(void) {
	unsigned long marks;
	__asm__ volatile("mrs %0, fpsr" : "=r"(marks));
	return marks;
}
static inline void dtl_set_marks(unsigned long marks) { __asm__ volatile("msr fpsr, %0" : : "r"(marks)); }
#else // where nobody has said how to ask, all may always have happened
enum { DTL_INVALID = 1, DTL_OVERFLOW = 1, DTL_UNDERFLOW = 1 };
static inline int dtl_marks(void) { return 1; }
static inline void dtl_set_marks(int marks) { (void)marks; }
#endif

/* What writes to memory stays between these two. */
static inline void dtl_forget_marks(void) {
	dtl_set_marks(dtl_marks() & ~(DTL_INVALID | DTL_OVERFLOW | DTL_UNDERFLOW));
	__asm__ volatile("" : : : "memory");
}
static inline int dtl_marked(int which) {
	__asm__ volatile("" : : : "memory");
	return (dtl_marks() & which) != 0;
}

#endif
