package dtype

import (
	"strconv"
	"strings"
	"sync"
)

// Named types are of elements of which the core knows the size, and what the caller calls them, such as "datetime64[D]". Two are
// equal where both are: a type's number is a hash of them, the same in all processes.
const named Type = 1 << 30

// MaxName is the length of the longest name.
const MaxName = 4032

// description is what is known of a named type.
type description struct {
	name string
	size int
}

var descriptions sync.Map // of each named type that this process has met

// Named returns the type of elements of so many bytes that are called so; Invalid where there can be none: without a name or
// with a longer one than MaxName, with a size outside [1, 2^24], or where another type, by a chance of 1 in 2^30, has its number.
func Named(name string, size int) Type {
	if name == "" || len(name) > MaxName || size < 1 || size > largest {
		return Invalid
	}
	h := uint64(14695981039346656037)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	h = (h ^ uint64(size)) * 1099511628211
	t, d := named|Type(h>>32)&(named-1), description{name, size}
	known, ok := descriptions.Load(t)
	if !ok {
		d.name = strings.Clone(name) // the caller's may be borrowed
		known, _ = descriptions.LoadOrStore(t, d)
	}
	if known != d {
		return Invalid
	}
	return t
}

// Named reports whether t is one of Named's.
func (t Type) Named() bool { return t&named != 0 }

// Sent reports whether arrays of such elements travel: those of the element types, and named ones.
func (t Type) Sent() bool { return t.Valid() || t.Named() }

// description returns what this process knows of a named type.
func (t Type) description() description {
	if d, ok := descriptions.Load(t); ok {
		return d.(description)
	}
	return description{name: "another dtype"}
}

// In the format, a named type is a record of one field, whose name is this and the type's.
const fieldMark = "\x01"

func (d description) format() string {
	return "T{" + strconv.Itoa(d.size) + "s:" + fieldMark + d.name + ":}"
}

// fromRecord returns the named type of a format that format returned, else Invalid.
func fromRecord(format string, size int) Type {
	before, name, ok := strings.Cut(format, "s:"+fieldMark)
	if !ok || before != "T{"+strconv.Itoa(size) || !strings.HasSuffix(name, ":}") {
		return Invalid
	}
	return Named(name[:len(name)-len(":}")], size)
}
