package lint

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"

	"dtl/core/dtype"
)

// dtypeSwitches: an element type is told apart by a row in core/kernel, by core/dtype itself, and in one table of
// each backend. Anywhere else a new type would be forgotten.
func dtypeSwitches(t *tree) (problems []string) {
	tables := map[string]int{}
	for _, f := range t.goFiles("") {
		if startsWithOne(f.path, []string{"core/dtype/", "core/kernel/"}) {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CaseClause:
				for _, value := range n.List {
					if isDtype(value) {
						problems = append(problems, t.problem(value.Pos(), "a switch on dtypes"))
					}
				}
			case *ast.CompositeLit:
				if !keyedByDtype(n) {
					break
				}
				backend := backendOf(f.path)
				if tables[backend]++; backend == "" {
					problems = append(problems, t.problem(n.Pos(), "a table of dtypes outside core/kernel and the backends"))
				} else if tables[backend] > 1 {
					problems = append(problems, t.problem(n.Pos(), "a second table of dtypes in %s", backend))
				}
			}
			return true
		})
	}
	return problems
}

// wholeDtypeTables: each table of core/kernel has a row for every type that another has, nil where there is nothing, so that a
// new type is forgotten in none.
func wholeDtypeTables(t *tree) (problems []string) {
	type table struct {
		literal *ast.CompositeLit
		types   map[string]bool
	}
	var tables []table
	every := map[string]bool{}
	for _, f := range t.goFiles("core/kernel/") {
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			literal, ok := n.(*ast.CompositeLit)
			if !ok || !keyedByDtype(literal) {
				return true
			}
			has := map[string]bool{}
			for _, element := range literal.Elts {
				if pair, ok := element.(*ast.KeyValueExpr); ok && isDtype(pair.Key) {
					name := pair.Key.(*ast.SelectorExpr).Sel.Name
					has[name], every[name] = true, true
				}
			}
			tables = append(tables, table{literal, has})
			return true
		})
	}
	for _, one := range tables {
		var missing []string
		for name := range every {
			if !one.types[name] {
				missing = append(missing, name)
			}
		}
		if len(missing) > 0 {
			slices.Sort(missing)
			problems = append(problems, t.problem(one.literal.Pos(), "a table of dtypes without %s", strings.Join(missing, ", ")))
		}
	}
	return problems
}

// backendOf returns the backend that a file belongs to, or "".
func backendOf(file string) string {
	parts := strings.Split(file, "/")
	if len(parts) < 3 || parts[0] != "backends" || parts[1] == "internal" {
		return ""
	}
	return parts[1]
}

func keyedByDtype(literal *ast.CompositeLit) bool {
	for _, element := range literal.Elts {
		if pair, ok := element.(*ast.KeyValueExpr); ok && isDtype(pair.Key) {
			return true
		}
	}
	return false
}

// isDtype reports whether an expression is an exported name of package dtype.
func isDtype(e ast.Expr) bool {
	selector, ok := e.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	of, ok := selector.X.(*ast.Ident)
	return ok && of.Name == "dtype"
}

// dtypeRooms are where element types are listed: whoever adds one opens these, and no others.
var dtypeRooms = []string{"backends/internal/gpu/kernels/", "core/dtype/", "core/kernel/", "backends/mpi/", "backends/nccl/table.go",
	"python/dtl/algorithms/folds.py"}

var (
	dtypeWord  = regexp.MustCompile(`[a-z]+[0-9]*`)
	dtypeNames = func() (names []string) {
		for _, t := range dtype.All() {
			names = append(names, t.String())
		}
		return names
	}()
)

// dtypeLists: an element type is added in few rooms. A file that names most types is a list of them, and outside those rooms a
// new type would be forgotten. Tests have lists of their own, and so do the suites for backends.
func dtypeLists(t *tree) (problems []string) {
	for _, f := range t.files {
		if f.test() || startsWithOne(f.path, append(dtypeRooms, "core/backend/backendtest/")) {
			continue
		}
		named := map[string]bool{}
		for _, word := range dtypeWord.FindAllString(strings.ToLower(string(f.source)), -1) {
			if slices.Contains(dtypeNames, word) {
				named[word] = true
			}
		}
		if len(named) >= len(dtypeNames)-3 {
			problems = append(problems, f.path+": a list of dtypes")
		}
	}
	return problems
}
