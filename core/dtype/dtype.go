// Package dtype names the element types of containers and messages.
package dtype

import (
	"fmt"
	"strconv"

	"dtl/core/status"
)

// Type is an element type. The zero value is no type. Numbers beyond those of the types are opaque elements of any size,
// which are moved as bytes: see OfSize and Named.
type Type uint32

const (
	opaque  Type = 1 << 8 // of size 0; the size is added
	largest      = 1 << 24
)

// OfSize returns the type of elements of so many bytes of which nothing else is known; Invalid unless the size is in
// [1, 2^24]. It is none of Valid's.
func OfSize(bytes int) Type {
	if bytes < 1 || bytes > largest {
		return Invalid
	}
	return opaque + Type(bytes)
}

// Opaque reports whether elements are bytes of which nothing but their number is known.
func (t Type) Opaque() bool { return t > opaque && t <= opaque+largest }

// Held reports whether containers hold such elements: those of the element types, and opaque ones.
func (t Type) Held() bool { return t.Valid() || t.Opaque() }

// The element types. Their numbers travel in messages and over the bridge: append, never reorder.
const (
	Invalid Type = iota
	Float64
	Float32
	Int64
	Int32
	Int16
	Int8
	Uint64
	Uint32
	Uint16
	Uint8
	Bool
	Complex64
	Complex128
	N // one more than the largest type
)

// info is what is known of a type without naming its Go type; kernel holds the rest.
type info struct {
	name   string // NumPy's name
	format string // PEP 3118 format that NumPy gives it
	size   int    // bytes
}

var infos = [N]info{
	Invalid:    {"invalid", "", 0},
	Float64:    {"float64", "d", 8},
	Float32:    {"float32", "f", 4},
	Int64:      {"int64", "l", 8},
	Int32:      {"int32", "i", 4},
	Int16:      {"int16", "h", 2},
	Int8:       {"int8", "b", 1},
	Uint64:     {"uint64", "L", 8},
	Uint32:     {"uint32", "I", 4},
	Uint16:     {"uint16", "H", 2},
	Uint8:      {"uint8", "B", 1},
	Bool:       {"bool", "?", 1},
	Complex64:  {"complex64", "Zf", 8},
	Complex128: {"complex128", "Zd", 16},
}

// Valid reports whether t is an element type.
func (t Type) Valid() bool { return t > Invalid && t < N }

func (t Type) info() info {
	if t >= N {
		return infos[Invalid]
	}
	return infos[t]
}

// Size returns the bytes of one element, 0 for an invalid type and for a named one that this process has not met.
func (t Type) Size() int {
	if t.Opaque() {
		return int(t - opaque)
	}
	if t.Named() {
		return t.description().size
	}
	return t.info().size
}

// String returns NumPy's name of the type.
func (t Type) String() string {
	if t.Named() {
		return t.description().name
	}
	if t.Opaque() {
		return fmt.Sprintf("elements of %d bytes", t.Size())
	}
	return t.info().name
}

// Format returns the PEP 3118 format of one element on a 64-bit Unix.
func (t Type) Format() string {
	if t.Named() {
		return t.description().format()
	}
	if t.Opaque() {
		return strconv.Itoa(t.Size()) + "s"
	}
	return t.info().format
}

// Complex reports whether the type has no order.
func (t Type) Complex() bool { return t == Complex64 || t == Complex128 }

// Inexact reports whether the type is of floating-point numbers, real or complex.
func (t Type) Inexact() bool { return t == Float64 || t == Float32 || t.Complex() }

// All returns every element type.
func All() []Type {
	all := make([]Type, 0, N-1)
	for t := Invalid + 1; t < N; t++ {
		all = append(all, t)
	}
	return all
}

// FromNumber returns the type of the given number, of which Held may be false.
func FromNumber(n int64) Type {
	if n < 0 || n > int64(opaque+largest) && n>>30 != 1 {
		return Invalid
	}
	return Type(n)
}

// Parse returns the type of the given number, as it arrives from outside.
func Parse(n int64) (Type, error) {
	if n <= int64(Invalid) || n >= int64(N) {
		return Invalid, status.New(status.InvalidArgument, "dtype number %d outside [1, %d)", n, int(N))
	}
	return Type(n), nil
}

// FromFormat returns the type of a PEP 3118 format with the given item size, or Invalid. Byte orders other
// than this machine's, structs and objects are Invalid; bytes, which NumPy writes as "5s", are opaque; Format's of named types
// are those.
func FromFormat(format string, size int) Type {
	if len(format) > 2 && format[:2] == "T{" {
		return fromRecord(format, size)
	}
	if format != "" && (format[0] == '@' || format[0] == '=' || format[0] == '<') {
		format = format[1:]
	}
	if last := len(format) - 1; last > 0 && format[last] == 's' {
		if n, err := strconv.Atoi(format[:last]); err == nil && n == size {
			return OfSize(size)
		}
		return Invalid
	}
	switch len(format) {
	case 1:
		return fromLetter(format[0], size)
	case 2:
		if format == "Zd" && size == 16 {
			return Complex128
		}
		if format == "Zf" && size == 8 {
			return Complex64
		}
	}
	return Invalid
}

// fromLetter decides integers by their size: "l" is 8 bytes natively and 4 in standard mode.
func fromLetter(letter byte, size int) Type {
	switch letter {
	case 'd':
		return sized(size, 8, Float64)
	case 'f':
		return sized(size, 4, Float32)
	case '?':
		return sized(size, 1, Bool)
	case 'b', 'h', 'i', 'l', 'q', 'n':
		return integer(size, Int8, Int16, Int32, Int64)
	case 'B', 'H', 'I', 'L', 'Q', 'N':
		return integer(size, Uint8, Uint16, Uint32, Uint64)
	}
	return Invalid
}

func sized(size, want int, t Type) Type {
	if size == want {
		return t
	}
	return Invalid
}

func integer(size int, one, two, four, eight Type) Type {
	switch size {
	case 1:
		return one
	case 2:
		return two
	case 4:
		return four
	case 8:
		return eight
	}
	return Invalid
}
