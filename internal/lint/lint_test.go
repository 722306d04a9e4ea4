package lint

import (
	"go/token"
	"strings"
	"testing"
)

// rules are all that are checked on source text.
var rules = map[string]func(*tree) []string{
	"imports point right or down":   importDirection,
	"cgo in named files":            cgoInNamedFiles,
	"telling names":                 tellingNames,
	"file length":                   fileLength,
	"function length":               functionLength,
	"exported names are documented": documented,
	"comments name things":          commentsNameThings,
	"gopy's signatures":             gopySignatures,
	"guarded entries":               guarded,
	"one table of dtypes":           dtypeSwitches,
	"whole tables of dtypes":        wholeDtypeTables,
	"lists of dtypes in five rooms": dtypeLists,
	"destructors are local":         localDestructors,
	"C files without circles":       cCircles,
	"C includes without circles":    cIncludes,
	"headers of imported packages":  cHeaders,
	"device memory has one door":    devicePointers,
}

func TestRepository(t *testing.T) {
	source, err := load(root(t))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, f := range source.files {
		seen[f.path] = true
	}
	for _, name := range []string{"pydtl/guard.go", "numpybridge/bridge.go", "numpybridge/interrupts.go", "core/status/status.go", "python/dtl/__init__.py"} {
		if !seen[name] {
			t.Fatalf("%s was not read: the rules would hold of nothing", name)
		}
	}
	for name, rule := range rules {
		t.Run(name, func(t *testing.T) {
			for _, problem := range rule(source) {
				t.Error(problem)
			}
		})
	}
}

// planted is a file that breaks a rule, or is just allowed.
type planted struct {
	name, path, source string
	want               string // part of the one problem; none: allowed
}

// check runs a rule on each file by itself.
func check(t *testing.T, rule func(*tree) []string, rows []planted) {
	t.Helper()
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			one := &tree{set: token.NewFileSet()}
			if err := one.add(row.path, []byte(row.source)); err != nil {
				t.Fatal(err)
			}
			problems := rule(one)
			if row.want == "" {
				if len(problems) != 0 {
					t.Errorf("refused: %q", problems)
				}
				return
			}
			if len(problems) != 1 || !strings.Contains(problems[0], row.want) || !strings.Contains(problems[0], row.path) {
				t.Errorf("got %q, want one problem of %s with %q", problems, row.path, row.want)
			}
		})
	}
}
