// Package gputest makes vendors' libraries for tests, on machines that have none: compiled C, so that the calls
// into it are those of the real one.
package gputest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"dtl/backends/internal/dl"
)

// Function compiles C functions and returns the address of each by name. They stay in the process.
func Function(t *testing.T, source string) func(name string) unsafe.Pointer {
	t.Helper()
	path := filepath.Join(t.TempDir(), "libstub.so")
	cc := exec.Command("cc", "-shared", "-fPIC", "-Wall", "-Werror", "-x", "c", "-", "-o", path)
	cc.Stdin = strings.NewReader(source)
	if out, err := cc.CombinedOutput(); err != nil {
		t.Fatalf("cc: %v\n%s", err, out)
	}
	library, err := dl.Linker.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return func(name string) unsafe.Pointer {
		p, err := library.Symbol(name)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
}

// Vendors has the file name of each driver that there is for tests, by the name of its backend.
var Vendors = map[string]string{"cuda": "libcuda.so.1", "hip": "libamdhip64.so.6"}

// compiled are the drivers in driver, as shared libraries, each compiled when a test first asks for it.
var compiled = map[string]func() ([]byte, error){
	"cuda": sync.OnceValues(func() ([]byte, error) { return compile("cuda") }),
	"hip":  sync.OnceValues(func() ([]byte, error) { return compile("hip") }),
}

func compile(vendor string) ([]byte, error) {
	folder, err := os.MkdirTemp("", "fake-gpu")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	gpu, err := sources()
	if err != nil {
		return nil, err
	}
	made := filepath.Join(folder, Vendors[vendor])
	make := exec.Command("make", "-s", "-C", filepath.Join(gpu, "gputest", "driver"), "VENDOR="+vendor, "OUT="+made)
	make.Env = append(os.Environ(), "MAKEFLAGS=")
	if out, err := make.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("make: %w\n%s", err, out)
	}
	return os.ReadFile(made)
}

// sources returns the folder of the package above, from the nearest directory above the test that has a go.mod: paths of the
// compiler may be without their beginning.
func sources() (string, error) {
	directory, err := os.Getwd()
	for ; err == nil; directory = filepath.Dir(directory) {
		if _, missing := os.Stat(filepath.Join(directory, "go.mod")); missing == nil {
			return filepath.Join(directory, "backends", "internal", "gpu"), nil
		}
		if filepath.Dir(directory) == directory {
			return "", errors.New("no go.mod above this test")
		}
	}
	return "", err
}

// Driver opens the driver that tests have in place of a vendor's, "cuda" or "hip". It keeps its state for as long as the
// process lives, so each test has one of its own.
func Driver(t *testing.T, vendor string) *dl.Library {
	t.Helper()
	file, err := compiled[vendor]()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), Vendors[vendor])
	if err := os.WriteFile(path, file, 0o700); err != nil {
		t.Fatal(err)
	}
	library, err := dl.Linker.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return library
}
