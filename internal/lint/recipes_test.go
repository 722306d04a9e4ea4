package lint

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// recipe is a paragraph of CONTRIBUTING that says which files a kind of change touches, and something that was added by such a change.
type recipe struct {
	title  string         // as the paragraph begins
	most   int            // how many places it names at most. It only gets smaller
	sample *regexp.Regexp // finds the names of the sample: what a file has that was touched when it was added
	// uses has the files and folders that have the sample's name for a reason of their own, and which another one of its kind need not touch.
	uses []string
}

var recipes = []recipe{
	{"A dtype", 9, regexp.MustCompile(`\b([Cc]omplex64|COMPLEX64)\b`), []string{
		"core/algorithm/dot.go", "python/dtl/algorithms/indexing_routines.py", "python/dtl/containers/sequences.py",
		"python/dtl/fft/", "python/dtl/linalg/", "python/dtl/sparse/", "python/tests/sparse/", // what computes with complex numbers alone
	}},
	{"A collective", 14, regexp.MustCompile(`ReduceScatter|reduce_scatter|REDUCE_SCATTER`), []string{
		"core/comm/pieces.go", "docs/pictures.py", "python/dtl/linalg/lowrank.py",
	}},
	{"An algorithm", 12, regexp.MustCompile(`"SEARCH"|\bbridge\.search\(|\balgorithm\.Search|\bsearchsorted as\b|def searchsorted|^func Search\(|"searchsorted"`),
		[]string{"python/dtl/tables/hints.py"}}, // of a method of pandas
	{"A function of the array API standard", 6, regexp.MustCompile(`\bcumulative_sum\b`), []string{"python/dtl/tables/"}}, // which calls Arrow's
	{"A partition", 13, regexp.MustCompile(`\bKindHash\b|PARTITION_HASH|\bNewHash\b`), []string{
		"core/container/array.go", // hashes are of one dimension
		// Maps, and examples.
		"python/dtl/containers/map/", "python/dtl/containers/redistribution.py", "python/dtl/containers/sequences.py",
		"python/tests/",
	}},
	{"A format of files", 5, regexp.MustCompile(`\b(h5py|hdf5)\b`), []string{"Makefile", "docs/measurements.py"}},
	{"The report of a slow path", 6, regexp.MustCompile(`\bCONVERTED\b`), []string{"numpybridge/loop_steps.c"}}, // a number of elements
}

// users are what calls functions as any program does: tests, apart from the tables that have a row for each function, and examples;
// and what the build writes.
var users = regexp.MustCompile(`_test\.go$|^python/tests/(\w+/)?(test_|.*on_a_device|\w+_on_devices|hostile_refusals|large|leak_calls|numpy_calls|oracle|garbage|attack/(calls|pairs|walk))|` +
	`^(benchmarks|examples|findings)/|^docs/.*\.(md|ipynb)$|` +
	`^python/dtl/(_numbers\.py|_native/_bridge\.pyi)$`)

// docsMade is the folder in which make docs writes a page for each public name.
const docsMade = "docs/reference/api"

// holders returns the files that have the sample of a recipe, without users.
func holders(source fs.FS, sample *regexp.Regexp) (names []string, err error) {
	err = fs.WalkDir(source, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			if name == docsMade || name != "." && (built(entry.Name()) || strings.HasPrefix(entry.Name(), ".") || entry.Name() == "__pycache__") {
				return fs.SkipDir
			}
			return nil
		case users.MatchString(name) || !slices.Contains([]string{".go", ".c", ".h", ".py", ".pyi", ".rst", ".toml", ".json", ""}, path.Ext(name)):
			return nil
		}
		content, err := fs.ReadFile(source, name)
		if err == nil && slices.ContainsFunc(strings.Split(string(content), "\n"), sample.MatchString) {
			names = append(names, name)
		}
		return err
	})
	return names, err
}

// paragraph returns the text of a recipe, up to the next one.
func paragraph(contributing, title string) string {
	_, text, found := strings.Cut(contributing, "\n**"+title+".**")
	if !found {
		return ""
	}
	return regexp.MustCompile(`(?s)\n(\*\*|## ).*`).ReplaceAllString(text, "")
}

// named returns the files and folders that a text has between backticks.
func named(text string) (names []string) {
	for _, found := range regexp.MustCompile("`([\\w./-]+)`").FindAllStringSubmatch(text, -1) {
		if strings.Contains(found[1], "/") || found[1] == "backends" || found[1] == "pyproject.toml" {
			names = append(names, strings.TrimSuffix(found[1], "/"))
		}
	}
	return names
}

// covered says whether a file, or a folder that it is in, is among the names.
func covered(name string, names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return name == n || strings.HasPrefix(name, strings.TrimSuffix(n, "/")+"/") })
}

// TestRecipesAreComplete: what a sample change touches, its recipe names.
func TestRecipesAreComplete(t *testing.T) {
	at := root(t)
	text, err := os.ReadFile(filepath.Join(at, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range recipes {
		names := named(paragraph(string(text), r.title))
		if len(names) > r.most {
			t.Errorf("the recipe %q names %d places, and %d are the limit: %q", r.title, len(names), r.most, names)
		}
		held, err := holders(os.DirFS(at), r.sample)
		if err != nil || len(held) < 3 {
			t.Fatalf("%s: %d files have the sample, %v: is it gone?", r.title, len(held), err)
		}
		for _, name := range held {
			if !covered(name, names) && !covered(name, r.uses) {
				t.Errorf("the recipe %q does not name %s, which has its sample", r.title, name)
			}
		}
		for _, use := range r.uses {
			if !slices.ContainsFunc(held, func(name string) bool { return covered(name, []string{use}) }) {
				t.Errorf("the recipe %q has an exception for %s, which has no sample", r.title, use)
			}
		}
	}
}

func TestRecipesAreRead(t *testing.T) {
	const text = "\n**A dtype.** In `core/dtype/dtype.go` and `Text`:\n- `core/kernel/`.\n\n**A collective.** `core/comm`\n\n## Rules\n`internal/lint`\n"
	if names, want := named(paragraph(text, "A dtype")), []string{"core/dtype/dtype.go", "core/kernel"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	if names, want := named(paragraph(text, "A collective")), []string{"core/comm"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	if paragraph(text, "A map") != "" || covered("core/commx/a.go", []string{"core/comm"}) || !covered("core/comm/a.go", []string{"core/comm/"}) {
		t.Error("another recipe's text, or another folder's file")
	}
}

// TestOneDurationOfMakeTest: CONTRIBUTING alone says how long `make test` takes, so that no two pages differ.
func TestOneDurationOfMakeTest(t *testing.T) {
	said := regexp.MustCompile("(?i)(`make test`|every test\\b)[^.|]*(\\|[^|]*)?\\bminutes\\b")
	for name, want := range map[string]int{"CONTRIBUTING.md": 1, "README.md": 0, "Makefile": 0, "docs/index.md": 0} {
		text, err := os.ReadFile(filepath.Join(root(t), name))
		if err != nil {
			t.Fatal(err)
		}
		if found := said.FindAllString(string(text), -1); len(found) != want {
			t.Errorf("%s says %d times how long make test takes, want %d: %q", name, len(found), want, found)
		}
	}
}
