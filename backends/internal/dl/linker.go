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

static const char *dl_path(void *handle) {
	struct link_map *map = NULL;
	return dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != NULL ? map->l_name : "";
}
*/
import "C"

import (
	"errors"
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

func (linker) Loaded(name string) (*Library, bool) {
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
