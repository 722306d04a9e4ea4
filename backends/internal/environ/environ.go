// Package environ reads and changes the environment that libraries in C see. Go's own copy was made when the process
// started, and Python changes C's.
package environ

/*
#include <stdlib.h>

extern char **environ;

// count returns how many entries there are.
static size_t count(void) {
	size_t n = 0;
	while (environ != NULL && environ[n] != NULL)
		n++;
	return n;
}

// exchange puts a new table in the place of the present one, with one more entry, or without one. A thread in getenv may
// be reading the present one, so that is neither changed nor freed, which setenv and unsetenv would do.
static void exchange(char *added, const char *removed) {
	size_t n = count(), kept = 0;
	char **table = malloc((n + 2) * sizeof *table);
	if (table == NULL)
		return;
	for (size_t i = 0; i < n; i++)
		if (environ[i] != removed)
			table[kept++] = environ[i];
	if (added != NULL)
		table[kept++] = added;
	table[kept] = NULL;
	__atomic_store_n(&environ, table, __ATOMIC_RELEASE);
}
*/
import "C"

import (
	"sync"
	"unsafe"
)

// Setting is a variable and its value.
type Setting struct{ Name, Value string }

// changing is held by who changes the environment.
var changing sync.Mutex

// Get returns a variable, "" where it is not set.
func Get(name string) string {
	value, _ := lookUp(name)
	return value
}

func lookUp(name string) (value string, set bool) {
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	found := C.getenv(cname)
	return C.GoString(found), found != nil
}

// With calls f while those of the settings are in the environment that nobody else has made: for libraries that read them as
// they are loaded or started. Children that are started later do not inherit them, and other threads may read the
// environment at any time.
func With(settings []Setting, f func() error) error {
	for _, s := range settings {
		if entry := add(s); entry != nil {
			defer remove(entry)
		}
	}
	return f()
}

// add makes a setting unless the variable is set, and returns its entry, which stays allocated: others may keep what they read.
func add(s Setting) *C.char {
	changing.Lock()
	defer changing.Unlock()
	if _, set := lookUp(s.Name); set {
		return nil
	}
	entry := C.CString(s.Name + "=" + s.Value)
	C.exchange(entry, nil)
	return entry
}

func remove(entry *C.char) {
	changing.Lock()
	defer changing.Unlock()
	C.exchange(nil, entry)
}

// KeepSignals has UCX, which reads this when it is loaded, leave Go's handler of SIGSEGV alone, unless the user says what
// it takes.
var KeepSignals = Setting{"UCX_ERROR_SIGNALS", "SIGILL,SIGBUS,SIGFPE"}

// LeaveMemory has UCX, which reads this when it is loaded, not watch how the process maps memory, unless the user says
// how it should: it would patch a dozen functions of libc, and wait some milliseconds at each. What it learns that way keeps
// its cache of registered memory right, which networks need. Without it UCX does without that cache.
var LeaveMemory = Setting{"UCX_MEM_MMAP_HOOK_MODE", "none"}
