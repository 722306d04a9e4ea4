// Package remotetest has functions for tests that stand for a library whose processes access each other's memory only
// by calls. Here, the processes are goroutines.
package remotetest

/*
#include <stdint.h>
#include <string.h>

enum { MOST = 8 };

static char *parts[MOST];
static size_t size;
static int known;

// there returns where a place of one process's part is in another's.
static char *there(const void *here, int of) {
	for (int i = 0; i < known; i++)
		if ((const char *)here >= parts[i] && (const char *)here < parts[i] + size)
			return parts[of] + ((const char *)here - parts[i]);
	return NULL;
}

static void put(void *to, const void *from, size_t n, int of) { memcpy(there(to, of), from, n); }

static void post(uint64_t *to, uint64_t value, int of) {
	__atomic_store_n((uint64_t *)there(to, of), value, __ATOMIC_RELEASE);
}

static void *put_at(void) { return (void *)put; }
static void *post_at(void) { return (void *)post; }

static void divide(int n, size_t each) {
	known = n;
	size = each;
}

static void part(int of, uintptr_t at) { parts[of] = (char *)at; }
*/
import "C"

import (
	"unsafe"

	"dtl/backends/internal/symmetric/transport"
)

// Native reaches the parts of so many bytes of one set of processes by calls: those of which it was asked last.
func Native(parts []unsafe.Pointer, size int) transport.Native {
	C.divide(C.int(len(parts)), C.size_t(size))
	for of, at := range parts {
		C.part(C.int(of), C.uintptr_t(uintptr(at)))
	}
	return transport.Native{Put: C.put_at(), Post: C.post_at()}
}
