package dl

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"dtl/core/status"
)

func TestOpenFindsSymbolsAndPath(t *testing.T) {
	l, err := Linker.Open("libdtl-absent.so.9", "libm.so.6")
	if err != nil {
		t.Fatal(err)
	}
	if p, err := l.Symbol("cos"); err != nil || p == nil {
		t.Errorf("cos: %v, %v", p, err)
	}
	if !l.Has("cos") || l.Has("dtl_absent") {
		t.Errorf("Has: cos %v, dtl_absent %v", l.Has("cos"), l.Has("dtl_absent"))
	}
	if !filepath.IsAbs(l.Path()) || !strings.Contains(l.Path(), "libm") {
		t.Errorf("path %q is not that of libm", l.Path())
	}
	if again, ok := Linker.Loaded("libm.so.6"); !ok || again.Path() != l.Path() {
		t.Errorf("Loaded after Open: %v", ok)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

func TestLoadedOpensNothing(t *testing.T) {
	if _, ok := Linker.Loaded("libdtl-absent.so.9"); ok {
		t.Error("a library that does not exist is loaded")
	}
}

func TestOpenSaysWhatWasTriedAndWhyNot(t *testing.T) {
	text := filepath.Join(t.TempDir(), "libtext.so")
	if err := os.WriteFile(text, []byte("no shared object"), 0o600); err != nil {
		t.Fatal(err)
	}
	rows := []struct {
		name  string
		open  func(...string) (*Library, error)
		names []string
		want  []string
	}{
		{"absent", Linker.Open, []string{"libdtl-absent.so.9"}, []string{"libdtl-absent.so.9", "No such file"}},
		{"two absent, global", Linker.OpenGlobal, []string{"libdtl-a.so", "libdtl-b.so"}, []string{"libdtl-a.so", "libdtl-b.so"}},
		{"not a shared object", Linker.Open, []string{text}, []string{text, "file too short"}},
		{"no name", Linker.Open, nil, []string{"no name was given"}},
		{"fake, absent", Fake{}.Open, []string{"libcuda.so.1"}, []string{"libcuda.so.1", "No such file"}},
		{"fake, broken", Fake{"libcuda.so.1": {Broken: "wrong ELF class"}}.Open, []string{"libcuda.so.1"},
			[]string{"libcuda.so.1", "wrong ELF class"}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			_, err := row.open(row.names...)
			if !errors.Is(err, status.BackendUnavailable) {
				t.Fatalf("got %v, want backend unavailable", err)
			}
			for _, want := range row.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
		})
	}
}

func TestSymbolThatIsNotThere(t *testing.T) {
	l, err := Linker.Open("libm.so.6")
	if err != nil {
		t.Fatal(err)
	}
	_, err = l.Symbol("dtl_absent")
	if !errors.Is(err, status.BackendUnavailable) || !strings.Contains(err.Error(), "dtl_absent") ||
		!strings.Contains(err.Error(), l.Path()) {
		t.Errorf("got %v, want an error that names the symbol and the file", err)
	}
}

func TestFakeBehavesAsALinker(t *testing.T) {
	var there int
	f := Fake{
		"libcuda.so.1": {Path: "/lib/libcuda.so.1", Loaded: true, Symbols: map[string]unsafe.Pointer{"cuInit": unsafe.Pointer(&there)}},
		"libhip.so":    {},
	}
	l, err := f.OpenGlobal("libcuda.so", "libcuda.so.1")
	if err != nil || l.Path() != "/lib/libcuda.so.1" || !l.Has("cuInit") || l.Has("cuExit") {
		t.Errorf("got %+v, %v", l, err)
	}
	if _, ok := f.Loaded("libcuda.so.1"); !ok {
		t.Error("libcuda.so.1 is not loaded")
	}
	if _, ok := f.Loaded("libhip.so"); ok {
		t.Error("libhip.so is loaded")
	}
}
