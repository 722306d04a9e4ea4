package lint

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// layers says what the packages of each directory may import of this module, beside those of the same directory; a
// backend, beside its own. A directory without a row is no layer of the architecture.
var layers = []struct {
	directory string
	imports   []string
}{
	{"core/", nil},
	{"backends/", []string{"backends/internal/", "core/backend", "core/dtype", "core/kernel", "core/memory", "core/status"}},
	{"numpybridge/", []string{"core/"}},
	{"pydtl/", []string{"backends/", "core/", "numpybridge"}},
	{"internal/scale/", []string{"backends/cpu", "core/"}},
	{"internal/", nil},
}

// importDirection: imports point right or down.
func importDirection(t *tree) (problems []string) {
	for _, f := range t.goFiles("") {
		allowed, known := importable(f.path)
		if !known {
			problems = append(problems, t.problem(f.syntax.Package, "package in no layer of the architecture"))
			continue
		}
		for _, spec := range f.syntax.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			inside, ours := strings.CutPrefix(imported, "dtl/")
			if ours && !startsWithOne(inside+"/", allowed) {
				problems = append(problems, t.problem(spec.Pos(), "%s does not import %s", path.Dir(f.path), inside))
			}
		}
	}
	return problems
}

// importable returns the prefixes of what a file may import.
func importable(file string) (prefixes []string, known bool) {
	for _, layer := range layers {
		if !strings.HasPrefix(file, layer.directory) {
			continue
		}
		for _, name := range layer.imports {
			prefixes = append(prefixes, strings.TrimSuffix(name, "/")+"/")
		}
		if layer.directory == "backends/" {
			name, _, _ := strings.Cut(strings.TrimPrefix(file, "backends/"), "/")
			return append(prefixes, "backends/"+name+"/"), true
		}
		return append(prefixes, layer.directory), true
	}
	return nil, false
}

// cgoFiles has the files that may import "C"; a name that ends in a slash is a directory.
var cgoFiles = []string{
	"backends/internal/dl/linker.go",
	"backends/internal/environ/environ.go",
	"backends/internal/supervisor/supervisor.go",
	"backends/internal/jobtest/exit.go",
	"backends/internal/gpu/call.go", "backends/internal/gpu/table.go", "backends/internal/gpu/gputest/call.go",
	"backends/mpi/", "backends/nccl/table.go",
	"backends/internal/symmetric/transport/",
	"backends/shmem/library/library.go", "backends/shmem/internal/exporttest/export.go",
	"core/board/cma/cma.go", "core/kernel/scan/overflow/overflow.go", "core/comm/agreement/nodes/nodes.go", "core/comm/agreement/nodes/tree.go",
	"numpybridge/bridge.go", "numpybridge/devices.go", "numpybridge/held.go", "numpybridge/fastpath.go", "numpybridge/interrupts.go",
	"numpybridge/numpy_loops.go", "numpybridge/parallel.go", "numpybridge/protocol.go",
	"numpybridge/embedtest/embedtest.go",
}

// cgoInNamedFiles: C is called in few places, which are known.
func cgoInNamedFiles(t *tree) (problems []string) {
	for _, f := range t.files {
		if f.syntax == nil || slices.ContainsFunc(cgoFiles, func(name string) bool {
			return f.path == name || strings.HasSuffix(name, "/") && strings.HasPrefix(f.path, name)
		}) {
			continue
		}
		for _, spec := range f.syntax.Imports {
			if spec.Path.Value == `"C"` {
				problems = append(problems, t.problem(spec.Pos(), `import "C" in a file that cgoFiles does not name`))
			}
		}
	}
	return problems
}

// noise are names that say nothing about what is inside.
var noise = []string{"util", "utils", "common", "helper", "helpers", "manager", "managers", "misc"}

// tellingNames: a package or module is called by what it is about.
func tellingNames(t *tree) (problems []string) {
	for _, f := range t.files {
		names := strings.Split(strings.TrimSuffix(f.path, path.Ext(f.path)), "/")
		if f.syntax != nil {
			names[len(names)-1] = strings.TrimSuffix(f.syntax.Name.Name, "_test") // a Go file's own name is no package
		}
		for _, name := range names {
			if slices.Contains(noise, strings.Trim(name, "_")) {
				problems = append(problems, f.path+": nothing is called "+name)
			}
		}
	}
	return problems
}
