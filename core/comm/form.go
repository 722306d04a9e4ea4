package comm

import (
	"fmt"
	"strings"

	"dtl/core/dtype"
)

// form is what every rank of a collective call must pass alike. What an operation does not have stays zero.
type form struct {
	op    string     // as users know it
	by    string     // the reduction operator
	typ   dtype.Type // of the elements
	count int        // of one rank's elements
	root  int64      // one more than the root's rank
	more  int64      // whatever else must be alike
}

// rooted is the root of a form.
func rooted(root int64) int64 { return root + 1 }

// String describes the call for an error: "reduce(8 elements of float64, SUM, root 0)".
func (f form) String() string {
	var parts []string
	if f.typ.Valid() {
		parts = append(parts, fmt.Sprintf("%d elements of %s", f.count, f.typ))
	}
	if f.by != "" {
		parts = append(parts, f.by)
	}
	if f.root != 0 {
		parts = append(parts, fmt.Sprint("root ", f.root-1))
	}
	return f.op + "(" + strings.Join(parts, ", ") + ")"
}
