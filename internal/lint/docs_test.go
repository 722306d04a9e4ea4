package lint

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// documented: every exported identifier says what it promises, in a comment that starts with its name. In a
// parenthesised group, a comment on the group or behind the line does too.
func documented(t *tree) (problems []string) {
	for _, f := range t.goFiles("") {
		for _, declaration := range f.syntax.Decls {
			switch d := declaration.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && exportedReceiver(d) && !starts(d.Doc, d.Name.Name) {
					problems = append(problems, t.problem(d.Pos(), "%s has no comment that starts with its name", d.Name.Name))
				}
			case *ast.GenDecl:
				problems = append(problems, t.undocumented(d)...)
			}
		}
	}
	return problems
}

// exportedReceiver reports whether documentation shows the function: it is no method of a hidden type.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	receiver := d.Recv.List[0].Type
	for {
		switch r := receiver.(type) {
		case *ast.StarExpr:
			receiver = r.X
		case *ast.IndexExpr:
			receiver = r.X
		case *ast.IndexListExpr:
			receiver = r.X
		case *ast.Ident:
			return r.IsExported()
		default:
			return true
		}
	}
}

// undocumented returns the problems of a declaration of types, constants or variables.
func (t *tree) undocumented(d *ast.GenDecl) (problems []string) {
	for _, spec := range d.Specs {
		var names []*ast.Ident
		var own, behind *ast.CommentGroup
		switch s := spec.(type) {
		case *ast.TypeSpec:
			names, own, behind = []*ast.Ident{s.Name}, s.Doc, s.Comment
		case *ast.ValueSpec:
			names, own, behind = s.Names, s.Doc, s.Comment
		}
		for _, name := range names {
			group := d.Lparen.IsValid() && d.Tok != token.TYPE && (d.Doc != nil || own != nil || behind != nil)
			if name.IsExported() && !group && !starts(d.Doc, name.Name) && !starts(own, name.Name) {
				problems = append(problems, t.problem(name.Pos(), "%s has no comment that starts with its name", name.Name))
			}
		}
	}
	return problems
}

// starts reports whether a comment starts with a name, after an article if there is one.
func starts(comment *ast.CommentGroup, name string) bool {
	words := strings.Fields(comment.Text())
	if len(words) > 1 && slices.Contains([]string{"A", "An", "The"}, words[0]) {
		words = words[1:]
	}
	return len(words) > 0 && strings.TrimRight(words[0], ".,:;") == name
}
