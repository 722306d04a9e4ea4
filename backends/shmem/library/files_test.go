package library

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dtl/core/status"
)

// compile compiles C source to a shared library in a new directory.
func compile(t *testing.T, name, source string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	cc := exec.Command("cc", "-shared", "-fPIC", "-x", "c", "-", "-o", path)
	cc.Stdin = strings.NewReader(source)
	if out, err := cc.CombinedOutput(); err != nil {
		t.Fatalf("cc: %v\n%s", err, out)
	}
	return path
}

// foreign returns a copy of a library that says it is for another machine.
func foreign(t *testing.T, of string) string {
	t.Helper()
	image, err := os.ReadFile(of)
	if err != nil {
		t.Fatal(err)
	}
	image[18], image[19] = 8, 0 // e_machine: EM_MIPS
	path := filepath.Join(t.TempDir(), filepath.Base(of))
	if err := os.WriteFile(path, image, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFind(t *testing.T) {
	good := compile(t, "liboshmem.so.40", "void shmem_init(void) {}")
	other := compile(t, "libsma.so", "int sma;")
	caller := compile(t, "libsma.so", "void shmem_init(void); void f(void) { shmem_init(); }")
	text := filepath.Join(t.TempDir(), "libsma.so")
	if err := os.WriteFile(text, []byte("INPUT(-lsma)"), 0o644); err != nil {
		t.Fatal(err)
	}
	rows := []struct {
		name  string
		paths []string
		wants []string // what the reason says; none: usable
	}{
		{"usable", []string{good}, nil},
		{"usable after a broken one", []string{text, good}, nil},
		{"library absent", nil, []string{"no OpenSHMEM library is installed", "liboshmem.so nor libsma.so"}},
		{"symbol absent", []string{other}, []string{other, "has no function shmem_init"}},
		{"symbol wanted, not offered", []string{caller}, []string{"has no function shmem_init"}},
		{"for another machine", []string{foreign(t, good)}, []string{"is for EM_MIPS, this process is"}},
		{"no library", []string{text}, []string{"no ELF file"}},
		{"gone meanwhile", []string{text + "x"}, []string{"no such file"}},
		{"two unusable", []string{other, text}, []string{"has no function", "; ", "no ELF file"}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			_, err := Find(func([]string) []string { return row.paths })
			if len(row.wants) == 0 {
				if err != nil {
					t.Errorf("not usable: %v", err)
				}
				return
			}
			if !errors.Is(err, status.BackendUnavailable) {
				t.Fatalf("got %v, want status.BackendUnavailable", err)
			}
			for _, want := range row.wants {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
		})
	}
}

func TestWhereTheLoaderLooks(t *testing.T) {
	path := compile(t, "liboshmem.so.40", "void shmem_init(void) {}")
	if slices.Contains(SystemPaths(libraries), path) {
		t.Fatal("found before its directory was named")
	}
	t.Setenv("LD_LIBRARY_PATH", "/nowhere:"+filepath.Dir(path))
	if got := SystemPaths(libraries); !slices.Contains(got, path) {
		t.Errorf("%v does not hold %s", got, path)
	}
}

func TestCache(t *testing.T) {
	cache := []byte("glibc-ld.so.cache1.1\x06\x00\x00\x01/lib/libc.so.6\x00/opt/lib/libsma.so.2\x00libsma.so\x00" +
		"/lib/libsmartcols.so.1\x00\x01\x02/opt/lib/liboshmem.so.40\x00")
	got := inCache(cache, libraries)
	if want := []string{"/opt/lib/libsma.so.2", "/opt/lib/liboshmem.so.40"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestSystemCache finds a library that every glibc system has, in the cache as it is on disk.
func TestSystemCache(t *testing.T) {
	cache, err := os.ReadFile(loaderCache)
	if err != nil {
		t.Skipf("no loader cache on this system (%v); runs on any with glibc", err)
	}
	paths := inCache(cache, []string{"libc.so"})
	if len(paths) == 0 {
		t.Fatal("libc is not in the loader's cache")
	}
	for _, path := range paths {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
}
