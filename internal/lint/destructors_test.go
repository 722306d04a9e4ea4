package lint

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"testing"
)

// local are the functions of Go that a destructor in C may call: they wait for no other rank.
var local = []string{"dtl_container_close", "dtl_release", "dtl_request_end"}

var (
	// deallocator matches a function of C that Python calls when an object goes, with its body.
	deallocator = regexp.MustCompile(`(?m)^static (?:void|int) (\w+_(?:dealloc|finalize|clear|free))\([^)]*\) \{\n(?:[^}\n].*\n|\n)*\}`)
	goCall      = regexp.MustCompile(`\b(dtl_\w+)\(`)
)

// localDestructors: objects go at different times on different ranks, so that what goes with them talks to nobody.
func localDestructors(t *tree) (problems []string) {
	for _, f := range t.files {
		if path.Ext(f.path) != ".c" {
			continue
		}
		for _, body := range deallocator.FindAllSubmatch(f.source, -1) {
			for _, call := range goCall.FindAllSubmatch(body[0], -1) {
				if name := string(call[1]); !slices.Contains(local, name) {
					problems = append(problems, fmt.Sprintf("%s: %s calls %s, which is none of %q", f.path, body[1], name, local))
				}
			}
		}
	}
	return problems
}

func TestLocalDestructors(t *testing.T) {
	const head = "static void a_dealloc(PyObject *self) {\n    if (!disabled) {\n"
	check(t, localDestructors, []planted{
		{"local", "numpybridge/a.c", head + "        dtl_release(x);\n    }\n}\n", ""},
		{"communicates", "numpybridge/a.c", head + "        dtl_window_close(x);\n    }\n}\n", "a_dealloc calls dtl_window_close"},
		{"another function", "numpybridge/a.c", "static void a_close(PyObject *self) {\n    dtl_window_close(x);\n}\n", ""},
	})
}
