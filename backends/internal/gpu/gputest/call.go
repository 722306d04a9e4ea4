package gputest

/*
#include <stdlib.h>

static void call_text(void *f, const char *text) { ((void (*)(const char *))f)(text); }

static long call_number(void *f, int number) { return ((long (*)(int))f)(number); }
*/
import "C"

import "unsafe"

// CallText calls void f(const char *text).
func CallText(f unsafe.Pointer, text string) {
	c := C.CString(text)
	defer C.free(unsafe.Pointer(c))
	C.call_text(f, c)
}

// CallNumber calls long f(int number).
func CallNumber(f unsafe.Pointer, number int) int { return int(C.call_number(f, C.int(number))) }
