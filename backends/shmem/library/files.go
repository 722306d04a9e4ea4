package library

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"dtl/core/status"
)

// libraries are the names under which implementations install OpenSHMEM: Open MPI's, and that of Sandia and Cray.
var libraries = []string{openMPI, "libsma.so"}

const openMPI = "liboshmem.so"

// Find returns the first file that is an OpenSHMEM library, or what is wrong with each, among those that candidates returns
// for the names of libraries.
func Find(candidates func(names []string) []string) (string, error) {
	paths := candidates(libraries)
	if len(paths) == 0 {
		return "", status.New(status.BackendUnavailable,
			"no OpenSHMEM library is installed: found neither %s", strings.Join(libraries, " nor "))
	}
	var faults []string
	for _, path := range paths {
		err := inspect(path)
		if err == nil {
			return path, nil
		}
		faults = append(faults, path+": "+err.Error())
	}
	return "", status.New(status.BackendUnavailable, "no usable OpenSHMEM library: %s", strings.Join(faults, "; "))
}

// loaderCache is where the dynamic loader keeps the paths of the libraries that it knows.
const loaderCache = "/etc/ld.so.cache"

// SystemPaths returns the files of the given names, with any version behind, where the dynamic loader would look.
func SystemPaths(names []string) []string {
	cache, _ := os.ReadFile(loaderCache) // a system without one has only the directories
	directories := filepath.SplitList(os.Getenv("LD_LIBRARY_PATH"))
	paths := append(inDirectories(directories, names), inCache(cache, names)...)
	paths = append(paths, inDirectories([]string{"/lib64", "/usr/lib64", "/lib", "/usr/lib"}, names)...)
	var unique []string
	for _, path := range paths {
		if !slices.Contains(unique, path) {
			unique = append(unique, path)
		}
	}
	return unique
}

// inDirectories returns the files of the given names in each directory. The loader takes an empty one as ".".
func inDirectories(directories, names []string) (paths []string) {
	for _, directory := range directories {
		entries, _ := os.ReadDir(filepath.Clean(directory))
		for _, entry := range entries {
			if named(entry.Name(), names) {
				paths = append(paths, filepath.Join(directory, entry.Name()))
			}
		}
	}
	return paths
}

// inCache returns the paths of the given names in the loader's cache, whose strings each end with a zero byte.
func inCache(cache []byte, names []string) (paths []string) {
	for text := range bytes.SplitSeq(cache, []byte{0}) {
		if at := bytes.IndexByte(text, '/'); at >= 0 && named(filepath.Base(string(text)), names) {
			paths = append(paths, string(text[at:]))
		}
	}
	return paths
}

// named reports whether file is one of the names, with or without a version behind.
func named(file string, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return file == name || strings.HasPrefix(file, name+".")
	})
}

var machines = map[string]elf.Machine{
	"amd64":   elf.EM_X86_64,
	"arm64":   elf.EM_AARCH64,
	"ppc64le": elf.EM_PPC64,
	"riscv64": elf.EM_RISCV,
	"s390x":   elf.EM_S390,
}

// inspect returns nil if the file is an OpenSHMEM library for this machine.
func inspect(path string) error {
	file, err := elf.Open(path)
	if err != nil {
		return fmt.Errorf("no ELF file: %w", err)
	}
	defer file.Close()
	if want := machines[runtime.GOARCH]; file.Machine != want {
		return fmt.Errorf("is for %v, this process is %v", file.Machine, want)
	}
	symbols, err := file.DynamicSymbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return err
	}
	if !slices.ContainsFunc(symbols, defines("shmem_init")) {
		return errors.New("has no function shmem_init")
	}
	return nil
}

// defines matches the symbol that a library offers under a name, and not one that it wants from another.
func defines(name string) func(elf.Symbol) bool {
	return func(s elf.Symbol) bool { return s.Name == name && s.Section != elf.SHN_UNDEF }
}
