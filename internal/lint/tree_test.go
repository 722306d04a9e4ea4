package lint

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tree is the source of a repository: what people wrote, and nothing that was built or installed.
type tree struct {
	set   *token.FileSet
	files []*file
}

type file struct {
	path   string // from the root, with slashes
	source []byte
	syntax *ast.File // nil unless it is Go
}

// built says which directories hold what was built or installed.
func built(directory string) bool {
	return slices.Contains([]string{"_build", "build", "dist"}, directory) ||
		strings.HasPrefix(directory, ".venv") || strings.HasSuffix(directory, ".egg-info")
}

// load reads the source below root.
func load(root string) (*tree, error) {
	t := &tree{set: token.NewFileSet()}
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name != "." && (built(entry.Name()) || strings.HasPrefix(entry.Name(), ".")) {
				return fs.SkipDir
			}
			return nil
		}
		if !slices.Contains([]string{".go", ".py", ".pyi", ".c", ".h"}, path.Ext(name)) {
			return nil
		}
		source, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return err
		}
		return t.add(name, source)
	})
	return t, err
}

func (t *tree) add(name string, source []byte) error {
	f := &file{path: name, source: source}
	if path.Ext(name) == ".go" {
		syntax, err := parser.ParseFile(t.set, name, source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		f.syntax = syntax
	}
	t.files = append(t.files, f)
	return nil
}

// goFiles returns the Go files whose path starts with one of the prefixes, tests left out.
func (t *tree) goFiles(prefixes ...string) (files []*file) {
	for _, f := range t.files {
		if f.syntax != nil && !f.test() && startsWithOne(f.path, prefixes) {
			files = append(files, f)
		}
	}
	return files
}

func startsWithOne(s string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}

func (f *file) test() bool {
	return strings.HasSuffix(f.path, "_test.go") || strings.HasPrefix(f.path, "python/tests/")
}

func (f *file) lines() int { return bytes.Count(f.source, []byte("\n")) }

// problem says where a rule is broken, and how.
func (t *tree) problem(at token.Pos, format string, args ...any) string {
	position := t.set.Position(at)
	return fmt.Sprintf("%s:%d: ", position.Filename, position.Line) + fmt.Sprintf(format, args...)
}

// root returns the repository's root: the nearest directory above that has a go.mod.
func root(t *testing.T) string {
	t.Helper()
	directory, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(directory, "go.mod")); err == nil {
			return directory
		}
		if filepath.Dir(directory) == directory {
			t.Fatal("no go.mod above this test")
		}
		directory = filepath.Dir(directory)
	}
}
