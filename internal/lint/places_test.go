package lint

import (
	"slices"
	"strings"
	"testing"
)

// lookers are the files that take parts of containers wherever they are. All others take them by Use, which refuses a part
// that the host does not reach, so that no pointer into a device's memory gets to what follows pointers.
var lookers = []string{
	"core/container/", // asks about layouts by Look, and works on elements in placement.go
	"numpybridge/containers.go", "pydtl/container.go",
}

// computers are the files whose parts may be on a device, which computes there.
var computers = []string{
	"core/container/placement.go", "core/algorithm/fold.go", "core/algorithm/dot.go", "core/algorithm/scan.go",
	"core/algorithm/sort.go", "core/algorithm/sort_on_device.go", "core/algorithm/argsort.go", "core/algorithm/bins.go",
}

// devicePointers: elements on a device have one door, Look, and few go through it.
func devicePointers(t *tree) (problems []string) {
	for _, f := range t.goFiles("core/", "numpybridge/", "pydtl/") {
		allowed := slices.ContainsFunc(lookers, func(name string) bool {
			return f.path == name || strings.HasSuffix(name, "/") && strings.HasPrefix(f.path, name)
		})
		if !allowed && strings.Contains(string(f.source), ".Look()") {
			problems = append(problems, f.path+": calls Look, whose parts may be on a device")
		}
		if strings.Contains(string(f.source), "OnItsDevice(") && !slices.Contains(computers, f.path) {
			problems = append(problems, f.path+": calls OnItsDevice, whose parts may be on a device")
		}
	}
	return problems
}

func TestDevicePointers(t *testing.T) {
	check(t, devicePointers, []planted{
		{"named file", "core/container/a.go", "package container\nvar p, _ = c.Look()", ""},
		{"an algorithm", "core/algorithm/a.go", "package algorithm\nvar p, _ = c.Look()", "calls Look"},
		{"by Use", "core/algorithm/a.go", "package algorithm\nvar p, _ = c.Use()", ""},
		{"a fold", "core/algorithm/fold.go", "package algorithm\nvar p, _ = OnItsDevice(c).Use()", ""},
		{"a search", "core/algorithm/search.go", "package algorithm\nvar p, _ = OnItsDevice(c).Use()", "calls OnItsDevice"},
		{"another of the bridge", "numpybridge/moves.go", "package numpybridge\nvar p, _ = c.Look()", "calls Look"},
	})
}
