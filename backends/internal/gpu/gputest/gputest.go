// Package gputest makes vendors' libraries for tests, on machines that have none: compiled C, so that the calls
// into it are those of the real one.
package gputest

import (
	"os/exec"
	"path/filepath"
	"strings"
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
