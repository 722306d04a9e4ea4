package lint

import (
	"go/token"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What a C file shows other files of its folder, found in text without comments and literals: functions and variables that
// begin in the first column and are not static.
var (
	cNoise     = regexp.MustCompile(`(?s)/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'`)
	cFunction  = regexp.MustCompile(`(?m)^[A-Za-z_][\w *\n]*?\b(\w+)\([^;{}]*\)\s*\{`)
	cVariables = regexp.MustCompile(`(?m)^[A-Za-z_][\w *]*[ *]\w+(?:\[[^\]\n]*\])?(?: =|;|,)[^\n]*`)
	cDeclared  = regexp.MustCompile(`(\w+)(?:\[[^\]\n]*\])?(?: =.*|;|,|$)`)
	cWord      = regexp.MustCompile(`\w+`)
	cHidden    = []string{"static ", "typedef ", "extern ", "return ", "enum ", "#"}
)

// cText returns a C file's text without comments and literals.
func cText(f *file) string { return cNoise.ReplaceAllString(string(f.source), " ") }

// shown returns the names that a C file defines for others.
func shown(text string) (names []string) {
	for _, found := range cFunction.FindAllStringSubmatch(text, -1) {
		if !startsWithOne(found[0], cHidden) {
			names = append(names, found[1])
		}
	}
	for _, line := range cVariables.FindAllString(text, -1) {
		if startsWithOne(line, cHidden) {
			continue
		}
		if i := strings.Index(line, "="); i >= 0 {
			line = line[:i+1]
		}
		for _, part := range strings.Split(strings.TrimSuffix(line, ";"), ",") {
			if found := cDeclared.FindStringSubmatch(part + ";"); found != nil {
				names = append(names, found[1])
			}
		}
	}
	return names
}

// cUses returns for each C file the files of the same folder whose functions and variables it uses.
func cUses(t *tree) map[string][]string {
	texts, owner := map[string]string{}, map[string]string{}
	for _, f := range t.files {
		if path.Ext(f.path) == ".c" {
			texts[f.path] = cText(f)
			for _, name := range shown(texts[f.path]) {
				owner[path.Dir(f.path)+"/"+name] = f.path
			}
		}
	}
	uses := map[string][]string{}
	for name, text := range texts {
		for _, word := range cWord.FindAllString(text, -1) {
			if of := owner[path.Dir(name)+"/"+word]; of != "" && of != name && !slices.Contains(uses[name], of) {
				uses[name] = append(uses[name], of)
			}
		}
	}
	return uses
}

// cCircles: the C files of a folder use each other in one direction.
func cCircles(t *tree) []string { return circles(cUses(t), "C files in a circle: ") }

// circles returns a line for each circle among files that use others.
func circles(uses map[string][]string, words string) (problems []string) {
	state := map[string]int{} // 1: being visited, 2: visited
	var visit func(name string, way []string)
	visit = func(name string, way []string) {
		way = append(way, name)
		switch state[name] {
		case 1:
			problems = append(problems, words+strings.Join(way[slices.Index(way, name):], " uses "))
		case 0:
			state[name] = 1
			for _, next := range slices.Sorted(slices.Values(uses[name])) {
				visit(next, way)
			}
			state[name] = 2
		}
	}
	for _, name := range slices.Sorted(maps.Keys(uses)) {
		visit(name, nil)
	}
	return problems
}

// What a header declares: functions, types, constants, variables and macros.
var (
	cBeside   = regexp.MustCompile(`(?m)^#include "(\w+)\.h"`)
	cDeclares = []*regexp.Regexp{
		regexp.MustCompile(`(?m)^[A-Za-z_][\w *]*?[ *](\w+)\(`), regexp.MustCompile(`\}\s*(\w+);`), regexp.MustCompile(`(?m)^\s*#define (\w+)`),
		regexp.MustCompile(`(?m)^typedef [^{;]*?\(?\*?(\w+)\)?(?:\([^;]*)?;`),
	}
	cExtern = regexp.MustCompile(`(?m)^extern ([^;(]*);`)
	cEnum   = regexp.MustCompile(`enum \{([^}]*)\}`)
	cListed = regexp.MustCompile(`(\w+)\s*(?:\[[^\]]*\])?\s*(?:=[^,]*)?(?:,|$)`)
)

// offers returns the names that a header declares.
func offers(text string) (names []string) {
	for _, pattern := range cDeclares {
		for _, found := range pattern.FindAllStringSubmatch(text, -1) {
			names = append(names, found[1])
		}
	}
	for _, pattern := range []*regexp.Regexp{cExtern, cEnum} {
		for _, list := range pattern.FindAllStringSubmatch(text, -1) {
			for _, found := range cListed.FindAllStringSubmatch(list[1], -1) {
				names = append(names, found[1])
			}
		}
	}
	return names
}

// cIncludes: C files and headers of the bridge include each other in one direction, where a file and its header are one; and a C file
// includes no header of whose declarations it uses none. C of other packages is put together from pieces.
func cIncludes(t *tree) (problems []string) {
	texts, includes := map[string]string{}, map[string][]string{}
	for _, f := range t.files {
		if slices.Contains([]string{".c", ".h"}, path.Ext(f.path)) {
			texts[f.path] = cText(f)
		}
	}
	for _, f := range t.files {
		text, known := texts[f.path]
		if !known || !strings.HasPrefix(f.path, "numpybridge/") {
			continue
		}
		name, words := strings.TrimSuffix(f.path, path.Ext(f.path)), cWord.FindAllString(text, -1)
		for _, found := range cBeside.FindAllSubmatch(f.source, -1) {
			of := path.Join(path.Dir(f.path), string(found[1]))
			header, known := texts[of+".h"]
			if of == name || !known {
				continue
			}
			includes[name] = append(includes[name], of)
			if named := offers(header); path.Ext(f.path) == ".c" && len(named) > 0 && !slices.ContainsFunc(named, func(n string) bool { return slices.Contains(words, n) }) {
				problems = append(problems, f.path+" includes "+of+".h, and uses nothing of it")
			}
		}
	}
	return append(problems, circles(includes, "C files that include each other: ")...)
}

// cInclude is an include of a header in another folder of the repository.
var cInclude = regexp.MustCompile(`(?m)^#include "(\.\./[^"]*)/[^"/]*"`)

// cHeaders: where C includes a header of another package, a Go file of its own imports that package. Go builds C again when
// its package's files change, or a package that it imports does, and looks at no other headers.
func cHeaders(t *tree) (problems []string) {
	imported := map[string]bool{} // folder of the importer, colon, folder of the imported
	for _, f := range t.files {
		if f.syntax == nil || f.test() {
			continue
		}
		for _, spec := range f.syntax.Imports {
			imported[path.Dir(f.path)+":"+strings.TrimPrefix(strings.Trim(spec.Path.Value, `"`), "dtl/")] = true
		}
	}
	for _, f := range t.files {
		if !slices.Contains([]string{".c", ".h"}, path.Ext(f.path)) {
			continue
		}
		for _, found := range cInclude.FindAllSubmatch(f.source, -1) {
			of := path.Join(path.Dir(f.path), string(found[1]))
			if !imported[path.Dir(f.path)+":"+of] {
				problems = append(problems, f.path+" includes a header of "+of+", which no Go file beside it imports")
			}
		}
	}
	return problems
}

func TestCHeaders(t *testing.T) {
	rows := []struct{ name, include, imports, want string }{
		{"its own", `#include "b.h"`, "", ""},
		{"of a package that is imported", `#include "../core/x/b.h"`, `import _ "dtl/core/x"`, ""},
		{"of another", `#include "../core/x/b.h"`, `import _ "dtl/core/y"`, "a/a.h includes a header of core/x"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			few := &tree{set: token.NewFileSet()}
			if err := few.add("a/a.go", []byte("package a\n"+row.imports)); err != nil {
				t.Fatal(err)
			}
			_ = few.add("a/a.h", []byte("#pragma once\n"+row.include+"\n"))
			got := strings.Join(cHeaders(few), "; ")
			if row.want == "" && got != "" || !strings.HasPrefix(got, row.want) {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

func TestCIncludes(t *testing.T) {
	const header = "#define GUARD\nextern int one, two;\nint f(int a);\ntypedef struct {\n    int a;\n} thing;\nenum { LEAST = 1, MOST };\n"
	rows := []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"a function", map[string]string{"a.c": "#include \"b.h\"\nint g(void) { return f(1); }", "b.h": header}, ""},
		{"a type", map[string]string{"a.c": "#include \"b.h\"\nthing t;", "b.h": header}, ""},
		{"a variable", map[string]string{"a.c": "#include \"b.h\"\nint g(void) { return two; }", "b.h": header}, ""},
		{"a constant", map[string]string{"a.c": "#include \"b.h\"\nint g(void) { return MOST; }", "b.h": header}, ""},
		{"nothing", map[string]string{"a.c": "#include \"b.h\"\nint a; /* f */", "b.h": header}, "numpybridge/a.c includes numpybridge/b.h, and uses nothing of it"},
		{"its own", map[string]string{"b.c": "#include \"b.h\"\n", "b.h": header}, ""},
		{"a circle of headers", map[string]string{
			"a.h": "#include \"b.h\"\nint g(thing t);", "b.c": "#include \"a.h\"\nint f(int a) { return g(); }", "b.h": header,
		}, "numpybridge/a uses numpybridge/b uses numpybridge/a"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			few := &tree{set: token.NewFileSet()}
			for name, source := range row.files {
				_ = few.add("numpybridge/"+name, []byte(source))
			}
			got := strings.Join(cIncludes(few), "; ")
			if want := row.want; want == "" && got != "" || !strings.HasSuffix(got, want) {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

func TestCCircles(t *testing.T) {
	rows := []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"one way", map[string]string{"a.c": "int f(void) { return g(); }", "b.c": "int g(void) { return 0; }"}, ""},
		{"two that call each other", map[string]string{
			"a.c": "int f(void)\n{ return g(); }", "b.c": "int\ng(int a,\n int b) { return f(); }",
		}, "x/a.c uses x/b.c uses x/a.c"},
		{"three", map[string]string{
			"a.c": "int f(void) { return b; }", "b.c": "int a, b;\nstatic int h(void) { return *c; }", "c.c": "struct s *c = 0;\nint k(void) { f(); }",
		}, "x/a.c uses x/b.c uses x/c.c uses x/a.c"},
		{"by a table", map[string]string{"a.c": "T table[N] = {\n f };", "b.c": "int f(void) { return table[0]; }"}, "x/a.c uses x/b.c uses x/a.c"},
		{"of the same name", map[string]string{
			"a.c": "static int f(void) { return 1; }\nint a(void) { return g(); }", "b.c": "static int f(void) { return 2; }\nint g(void) { return f(); }",
		}, ""},
		{"in a comment", map[string]string{"a.c": "int f(void) { return g(); }", "b.c": "/* f */ int g(void) { return 0; } // f"}, ""},
		{"in a text", map[string]string{"a.c": "int f(void) { return g(); }", "b.c": "int g(void) { return *\"f\"; }"}, ""},
		{"declared", map[string]string{"a.c": "int f(void) { return g(); }", "b.c": "extern int f;\nint g(void) { return 0; }"}, "x/a.c uses x/b.c uses x/a.c"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			few := &tree{set: token.NewFileSet()}
			for name, source := range row.files {
				_ = few.add("x/"+name, []byte(source))
			}
			got := strings.Join(cCircles(few), "; ")
			if want := row.want; want == "" && got != "" || !strings.HasSuffix(got, want) || strings.Contains(got, ";") {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

// TestCFilesAreSeen: a rule that finds no uses would find no circles.
func TestCFilesAreSeen(t *testing.T) {
	source, err := load(root(t))
	if err != nil {
		t.Fatal(err)
	}
	uses := cUses(source)
	for _, pair := range [][2]string{
		{"module.c", "fastpath_function.c"}, {"fastpath.c", "fastpath_collectives.c"}, {"fastpath_collectives.c", "fastpath_meeting.c"},
		{"fastpath_meeting.c", "errors.c"}, {"errors.c", "interrupts.c"}, {"interrupts.c", "state.c"}, {"call.c", "trace.c"},
		{"numpy.c", "objects.c"},
	} {
		if !slices.Contains(uses["numpybridge/"+pair[0]], "numpybridge/"+pair[1]) {
			t.Errorf("%s uses %v, without %s", pair[0], uses["numpybridge/"+pair[0]], pair[1])
		}
	}
}
