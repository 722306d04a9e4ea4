package lint

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// withoutNoun finds comments such as "// sums are those of a rank": whoever reads them has to guess what those are.
var withoutNoun = regexp.MustCompile(`^\s*(?://|/\*) ?(\w+) (?:is|are) (?:that|those) (?:of|where|that|whose|in|which)\b`)

// commentsNameThings: the comment of a declaration says what it is, and not that it is "that of" or "those of" something.
func commentsNameThings(t *tree) (problems []string) {
	for _, f := range t.files {
		if strings.HasSuffix(f.path, ".py") || strings.HasSuffix(f.path, ".pyi") {
			continue
		}
		for i, line := range strings.Split(string(f.source), "\n") {
			if found := withoutNoun.FindStringSubmatch(line); found != nil {
				problems = append(problems, fmt.Sprintf("%s:%d: what is %s? The comment has no noun for it", f.path, i+1, found[1]))
			}
		}
	}
	return problems
}

func TestComments(t *testing.T) {
	check(t, commentsNameThings, []planted{
		{"a noun", "core/rma/a.go", "package rma\n\n// locals has each Local that no window uses.\nvar locals int\n", ""},
		{"those that", "core/rma/a.go", "package rma\n\n// locals are those that no window has.\nvar locals int\n", "what is locals"},
		{"that of", "core/comm/a.go", "package comm\n\n// Ready is that of an Exchanger.\nfunc Ready() {}\n", "what is Ready"},
		{"in C", "numpybridge/a.h", "/* room_of_root is that of root. */\nint room_of_root(void);\n", "what is room_of_root"},
		{"within a sentence", "core/comm/a.go", "package comm\n\n// rows reports whether the edges are those of a grid.\nfunc rows() {}\n", ""},
	})
}
