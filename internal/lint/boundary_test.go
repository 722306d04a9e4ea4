package lint

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// scalars are the types that gopy passes without mishandling them.
var scalars = []string{"int64", "uintptr", "float64", "bool", "string"}

// gopySignatures: pydtl exports functions of scalars, and nothing else, because gopy mishandles the rest.
func gopySignatures(t *tree) (problems []string) {
	for _, f := range t.goFiles("pydtl/") {
		for _, declaration := range f.syntax.Decls {
			switch d := declaration.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() {
					for _, fault := range signatureFaults(d) {
						problems = append(problems, t.problem(d.Pos(), "%s: %s", d.Name.Name, fault))
					}
				}
			case *ast.GenDecl:
				for _, name := range declared(d) {
					if name.IsExported() {
						problems = append(problems, t.problem(name.Pos(), "%s: pydtl exports functions only", name.Name))
					}
				}
			}
		}
	}
	return problems
}

// declared returns the names of a declaration of types, constants or variables.
func declared(d *ast.GenDecl) (names []*ast.Ident) {
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			names = append(names, s.Name)
		case *ast.ValueSpec:
			names = append(names, s.Names...)
		}
	}
	return names
}

// signatureFaults says what gopy would mishandle in a function.
func signatureFaults(d *ast.FuncDecl) (faults []string) {
	if d.Recv != nil {
		faults = append(faults, "a method")
	}
	if d.Type.TypeParams != nil {
		faults = append(faults, "type parameters")
	}
	for _, parameter := range fieldTypes(d.Type.Params) {
		if !slices.Contains(scalars, parameter) {
			faults = append(faults, "a parameter of type "+parameter)
		}
	}
	results := fieldTypes(d.Type.Results)
	scalar := len(results) > 0 && slices.Contains(scalars, results[0])
	if !scalar || len(results) > 2 || len(results) == 2 && results[1] != "error" {
		faults = append(faults, "results ("+strings.Join(results, ", ")+"): one scalar, or one scalar and an error")
	}
	return faults
}

// fieldTypes returns the type of each parameter or result.
func fieldTypes(fields *ast.FieldList) (all []string) {
	if fields == nil {
		return nil
	}
	for _, field := range fields.List {
		for range max(1, len(field.Names)) {
			all = append(all, types.ExprString(field.Type))
		}
	}
	return all
}

// guarded: every function that Python or C calls starts with the deferred guard, because a panic that leaves it
// ends the interpreter.
func guarded(t *tree) (problems []string) {
	for _, f := range t.goFiles("pydtl/", "numpybridge/") {
		for _, declaration := range f.syntax.Decls {
			d, ok := declaration.(*ast.FuncDecl)
			if !ok || !called(f, d) || startsWithGuard(d) {
				continue
			}
			problems = append(problems, t.problem(d.Pos(), "%s does not start with defer guard", d.Name.Name))
		}
	}
	return problems
}

// called reports whether a function is an entry from outside Go.
func called(f *file, d *ast.FuncDecl) bool {
	if strings.HasPrefix(f.path, "pydtl/") {
		return d.Name.IsExported()
	}
	return d.Doc != nil && slices.ContainsFunc(d.Doc.List, func(c *ast.Comment) bool {
		return strings.HasPrefix(c.Text, "//export ")
	})
}

// startsWithGuard reports whether the first statement defers guard, with the address of the error result if there
// is one: a guard of anything else would lose what it caught.
func startsWithGuard(d *ast.FuncDecl) bool {
	if d.Body == nil || len(d.Body.List) == 0 {
		return false
	}
	deferred, ok := d.Body.List[0].(*ast.DeferStmt)
	if !ok || types.ExprString(deferred.Call.Fun) != "guard" || len(deferred.Call.Args) != 1 {
		return false
	}
	if results := d.Type.Results; results != nil {
		last := results.List[len(results.List)-1]
		if types.ExprString(last.Type) == "error" {
			return len(last.Names) > 0 &&
				types.ExprString(deferred.Call.Args[0]) == "&"+last.Names[len(last.Names)-1].Name
		}
	}
	return true
}
