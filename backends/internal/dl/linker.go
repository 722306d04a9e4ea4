package dl

/*
#cgo LDFLAGS: -ldl
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

// dlerror's text belongs to the calling thread, so each function below copies it before it returns to Go,
// which may go on on another.

static void *dl_open(const char *name, int mode, char **error) {
	void *handle = dlopen(name, mode);
	if (handle == NULL) {
		const char *text = dlerror();
		*error = strdup(text != NULL ? text : "dlopen failed without a reason");
	}
	return handle;
}

static int dl_close(void *handle, char **error) {
	int failed = dlclose(handle);
	if (failed) {
		const char *text = dlerror();
		*error = strdup(text != NULL ? text : "dlclose failed without a reason");
	}
	return failed;
}

// alike says in *stem, which it sets to NULL, whether an object's file name starts with it.
static int alike(struct dl_phdr_info *info, size_t size, void *stem) {
	const char *file = strrchr(info->dlpi_name, '/');
	const char **wanted = stem;
	file = file != NULL ? file + 1 : info->dlpi_name;
	if (strncmp(file, *wanted, strlen(*wanted)) != 0)
		return 0;
	*wanted = NULL;
	return 1;
}

// dl_any says whether an object is in the process whose file name starts with stem.
static int dl_any(const char *stem) {
	dl_iterate_phdr(alike, &stem);
	return stem == NULL;
}

static const char *dl_path(void *handle) {
	struct link_map *map = NULL;
	return dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != NULL ? map->l_name : "";
}
*/
import "C"

import (
	"errors"
	"path/filepath"
	"strings"
	"unsafe"
)

// Linker is the dynamic linker of this process.
var Linker Opener = linker{}

type linker struct{}

func (linker) Open(names ...string) (*Library, error) {
	return first(names, func(name string) (*Library, error) { return open(name, C.RTLD_NOW|C.RTLD_LOCAL) })
}

func (linker) OpenGlobal(names ...string) (*Library, error) {
	return first(names, func(name string) (*Library, error) { return open(name, C.RTLD_NOW|C.RTLD_GLOBAL) })
}

// Loaded looks first whether a file of the name less its version is in the process: dlopen would search every
// folder for a name that it does not know, at 100 µs a time.
func (linker) Loaded(name string) (*Library, bool) {
	stem, _, _ := strings.Cut(filepath.Base(name), ".so")
	cstem := C.CString(stem)
	defer C.free(unsafe.Pointer(cstem))
	if C.dl_any(cstem) == 0 {
		return nil, false
	}
	l, err := open(name, C.RTLD_NOW|C.RTLD_NOLOAD)
	return l, err == nil
}

func open(name string, mode C.int) (*Library, error) {
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	var text *C.char
	handle := C.dl_open(cname, mode, &text)
	if handle == nil {
		return nil, taken(text)
	}
	return &Library{
		path:   C.GoString(C.dl_path(handle)),
		lookup: func(symbol string) unsafe.Pointer { return lookup(handle, symbol) },
		close:  func() error { return closeHandle(handle) },
	}, nil
}

func lookup(handle unsafe.Pointer, symbol string) unsafe.Pointer {
	csymbol := C.CString(symbol)
	defer C.free(unsafe.Pointer(csymbol))
	return C.dlsym(handle, csymbol)
}

func closeHandle(handle unsafe.Pointer) error {
	var text *C.char
	if C.dl_close(handle, &text) != 0 {
		return taken(text)
	}
	return nil
}

// taken makes an error of a text that C allocated, and frees it.
func taken(text *C.char) error {
	defer C.free(unsafe.Pointer(text))
	return errors.New(C.GoString(text))
}
