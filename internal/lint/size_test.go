package lint

import (
	"fmt"
	"go/ast"
)

const (
	maxFile     = 800
	maxFunction = 40
)

// fileLength: a file holds one idea, and is as long as that takes. One that is very long holds several by accident.
func fileLength(t *tree) (problems []string) {
	for _, f := range t.files {
		if n := f.lines(); n > maxFile {
			problems = append(problems, fmt.Sprintf("%s: %d lines, limit %d", f.path, n, maxFile))
		}
	}
	return problems
}

// functionLength: a Go function fits on a screen. A test's table of rows does not count: it is data.
func functionLength(t *tree) (problems []string) {
	for _, f := range t.files {
		if f.syntax == nil {
			continue
		}
		for _, declaration := range f.syntax.Decls {
			function, ok := declaration.(*ast.FuncDecl)
			if !ok {
				continue
			}
			n := t.span(function)
			if f.test() {
				n -= t.tables(function)
			}
			if n > maxFunction {
				problems = append(problems, t.problem(function.Pos(), "%s has %d lines, limit %d", function.Name.Name, n, maxFunction))
			}
		}
	}
	return problems
}

// span returns how many lines a node touches.
func (t *tree) span(n ast.Node) int {
	return t.set.Position(n.End()).Line - t.set.Position(n.Pos()).Line + 1
}

// tables returns the lines of the outermost composite literals in a function, but one for each.
func (t *tree) tables(in ast.Node) (lines int) {
	ast.Inspect(in, func(n ast.Node) bool {
		if literal, ok := n.(*ast.CompositeLit); ok {
			lines += t.span(literal) - 1
			return false
		}
		return true
	})
	return lines
}
