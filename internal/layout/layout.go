// Package layout compares how C and Go lay out the same memory, for tests.
package layout

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Field is one field of a struct, those of structs in it apart.
type Field struct {
	Name         string // in small letters, without underscores
	Offset, Size uintptr
}

// Fields returns the fields of a struct in their order, those that are there to fill up apart: in C they are called unused or
// rest, and in Go by the underscore.
func Fields(t reflect.Type) []Field { return appendFields(nil, t, 0) }

func appendFields(all []Field, t reflect.Type, at uintptr) []Field {
	for i := range t.NumField() {
		f := t.Field(i)
		name := strings.ToLower(strings.ReplaceAll(f.Name, "_", ""))
		switch {
		case slices.Contains([]string{"", "unused", "rest"}, name):
		case f.Type.Kind() == reflect.Struct:
			all = appendFields(all, f.Type, at+f.Offset)
		default:
			all = append(all, Field{name, at + f.Offset, f.Type.Size()})
		}
	}
	return all
}

// Differences says where two structs are not laid out alike: other names, places or sizes of fields, or another length.
func Differences(a, b reflect.Type) (all []string) {
	first, second := Fields(a), Fields(b)
	for i := range max(len(first), len(second)) {
		var f, g Field
		if i < len(first) {
			f = first[i]
		}
		if i < len(second) {
			g = second[i]
		}
		if f != g {
			all = append(all, fmt.Sprintf("field %d of %v is %+v, and of %v %+v", i, a, f, b, g))
		}
	}
	if a.Size() != b.Size() {
		all = append(all, fmt.Sprintf("%v has %d bytes, and %v %d", a, a.Size(), b, b.Size()))
	}
	return all
}
