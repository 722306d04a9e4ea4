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
	loose bool       // type and count must be alike only among ranks that state them
	root  int64      // one more than the root's rank
	more  int64      // whatever else must be alike
}

// rooted is the root of a form.
func rooted(root int64) int64 { return root + 1 }

// String describes the call for an error: "reduce(8 elements of float64, SUM, root 0)".
func (f form) String() string {
	var parts []string
	if f.typ.Valid() {
		parts = append(parts, plural(f.count, "element")+" of "+f.typ.String())
	}
	if f.by != "" {
		parts = append(parts, f.by)
	}
	if f.root != 0 {
		parts = append(parts, fmt.Sprint("root ", f.root-1))
	}
	if f.more != 0 {
		parts = append(parts, fmt.Sprint(f.more))
	}
	return f.op + "(" + strings.Join(parts, ", ") + ")"
}

// plural is a number of things.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprint(n, " ", thing, "s")
}

// print is a number that differs, in all likelihood, where forms do.
func (f *form) print() uint64 {
	h := word(word(hash(f.op), uint64(f.root)), uint64(f.more))
	if !f.loose {
		h = word(word(h, uint64(f.typ)), uint64(f.count))
	}
	if f.by != "" {
		h = word(h, hash(f.by))
	}
	return h
}

// want is a number for what a rank of a loose form states of the elements; 0: nothing.
func (f *form) want() uint64 {
	if !f.loose || !f.typ.Valid() {
		return 0
	}
	return word(uint64(f.typ), uint64(f.count)) | 1
}

// hash is FNV-1a.
func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = word(h, uint64(s[i]))
	}
	return h
}

// word adds a word to a hash.
func word(h, v uint64) uint64 {
	h = (h ^ v) * 1099511628211
	return h ^ h>>32
}
