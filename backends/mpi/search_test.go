package mpi

import (
	"errors"
	"strings"
	"testing"
	"unsafe"

	"dtl/backends/internal/dl"
	"dtl/core/status"
)

var symbol byte

func library(path string, symbols ...string) dl.FakeLibrary {
	l := dl.FakeLibrary{Path: path, Symbols: map[string]unsafe.Pointer{"MPI_Init_thread": unsafe.Pointer(&symbol)}}
	for _, s := range symbols {
		l.Symbols[s] = unsafe.Pointer(&symbol)
	}
	return l
}

func loaded(l dl.FakeLibrary) dl.FakeLibrary {
	l.Loaded = true
	return l
}

func TestSearch(t *testing.T) {
	mpich := library("/usr/lib/libmpi.so.12")
	openmpi := library("/usr/lib/libmpi.so.40", "ompi_mpi_comm_world")
	own := library("/env/lib/libmpi.so.40", "ompi_mpi_comm_world")
	standard := library("/usr/lib/libmpi_abi.so.1", "MPI_Abi_get_version")
	rows := []struct {
		name    string
		fake    dl.Fake
		lib     string // DTL_MPI_LIB
		running string // the path of the library that is initialised
		major   int    // what MPI_Abi_get_version says
		dirs    []string
		path    string
		abi     ABI
		source  string
		errors  []string
	}{
		{name: "nothing anywhere", fake: dl.Fake{}, dirs: []string{"/env/lib"},
			errors: []string{"no MPI library", "/env/lib", "libmpi.so.40", "DTL_MPI_LIB", "pip install"}},
		{name: "MPICH on the search path", fake: dl.Fake{"libmpi.so.12": mpich}, path: "/usr/lib/libmpi.so.12", abi: MPICH,
			source: "search path"},
		{name: "Open MPI on the search path", fake: dl.Fake{"libmpi.so.40": openmpi, "/usr/lib/libmpi.so.40": openmpi},
			path: "/usr/lib/libmpi.so.40", abi: OpenMPI, source: "search path"},
		{name: "standard", fake: dl.Fake{"libmpi_abi.so.1": standard}, major: 1, path: "/usr/lib/libmpi_abi.so.1", abi: Standard},
		{name: "MPICH 5's own ABI has the query too", major: -1, path: "/usr/lib/libmpi.so.12", abi: MPICH,
			fake: dl.Fake{"libmpi.so.12": library("/usr/lib/libmpi.so.12", "MPI_Abi_get_version")}},
		{name: "the environment's own comes first", dirs: []string{"/env/lib"}, path: "/env/lib/libmpi.so.40", abi: OpenMPI,
			fake: dl.Fake{"/env/lib/libmpi.so.40": own, "libmpi.so.12": mpich}, source: "/env/lib"},
		{name: "the environment's own is broken", dirs: []string{"/env/lib"},
			fake:   dl.Fake{"/env/lib/libmpi.so.40": {Broken: "libucp.so.0: No such file"}, "libmpi.so.12": mpich},
			errors: []string{"/env/lib/libmpi.so.40", "libucp.so.0"}},
		{name: "in the process already", dirs: []string{"/env/lib"}, path: "/usr/lib/libmpi.so.12", abi: MPICH,
			fake: dl.Fake{"/env/lib/libmpi.so.40": own, "libmpi.so.12": loaded(mpich)}, source: "in the process already"},
		{name: "of two in the process, the one in use", running: "/usr/lib/libmpi.so.40", path: "/usr/lib/libmpi.so.40",
			fake: dl.Fake{"libmpi.so.12": loaded(mpich), "libmpi.so.40": loaded(openmpi), "/usr/lib/libmpi.so.40": openmpi},
			abi:  OpenMPI},
		{name: "DTL_MPI_LIB", lib: "/opt/libmpi.so", fake: dl.Fake{"/opt/libmpi.so": library("/opt/libmpi.so"), "libmpi.so.12": mpich},
			path: "/opt/libmpi.so", abi: MPICH, source: "DTL_MPI_LIB"},
		{name: "DTL_MPI_LIB is not there", lib: "/opt/libmpi.so", fake: dl.Fake{"libmpi.so.12": mpich},
			errors: []string{"DTL_MPI_LIB", "/opt/libmpi.so", "No such file"}},
		{name: "DTL_MPI_LIB is no MPI", lib: "libm.so.6", fake: dl.Fake{"libm.so.6": {}},
			errors: []string{"DTL_MPI_LIB", "not an MPI library", "libm.so.6", "MPI_Init_thread"}},
		{name: "DTL_MPI_LIB beside another in the process", lib: "/opt/libmpi.so",
			fake:   dl.Fake{"/opt/libmpi.so": library("/opt/libmpi.so"), "libmpi.so.12": loaded(mpich)},
			errors: []string{"/opt/libmpi.so", "/usr/lib/libmpi.so.12", "two MPI libraries"}},
		{name: "DTL_MPI_LIB is the one in the process", lib: "libmpi.so.12", fake: dl.Fake{"libmpi.so.12": loaded(mpich)},
			path: "/usr/lib/libmpi.so.12", abi: MPICH, source: "DTL_MPI_LIB"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			f, err := search{
				linker:      row.fake,
				getenv:      func(string) string { return row.lib },
				exists:      func(path string) bool { _, ok := row.fake[path]; return ok },
				initialized: func(l *dl.Library) bool { return l.Path() == row.running },
				abiMajor:    func(unsafe.Pointer) int { return row.major },
				dirs:        row.dirs,
			}.find()
			if row.errors != nil {
				checkError(t, err, row.errors)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if f.library.Path() != row.path || f.abi != row.abi || !strings.Contains(f.source, row.source) {
				t.Errorf("got %s (%s) because %s, want %s (%s)", f.library.Path(), f.abi, f.source, row.path, row.abi)
			}
		})
	}
}

func checkError(t *testing.T, err error, parts []string) {
	t.Helper()
	if !errors.Is(err, status.BackendUnavailable) {
		t.Fatalf("got %v, want backend unavailable", err)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
}
