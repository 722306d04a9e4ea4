package dtype

import (
	"errors"
	"testing"

	"dtl/core/status"
)

// numpy is what numpy.dtype(name) and memoryview say on a 64-bit Unix: the oracle for the table.
var numpy = []struct {
	name, format string
	size         int
	typ          Type
}{
	{"float64", "d", 8, Float64},
	{"float32", "f", 4, Float32},
	{"int64", "l", 8, Int64},
	{"int32", "i", 4, Int32},
	{"int16", "h", 2, Int16},
	{"int8", "b", 1, Int8},
	{"uint64", "L", 8, Uint64},
	{"uint32", "I", 4, Uint32},
	{"uint16", "H", 2, Uint16},
	{"uint8", "B", 1, Uint8},
	{"bool", "?", 1, Bool},
	{"complex64", "Zf", 8, Complex64},
	{"complex128", "Zd", 16, Complex128},
}

func TestTypesAreNumPys(t *testing.T) {
	if len(numpy) != len(All()) {
		t.Fatalf("%d types, %d rows", len(All()), len(numpy))
	}
	for i, row := range numpy {
		typ := row.typ
		if typ.String() != row.name || typ.Format() != row.format || typ.Size() != row.size || !typ.Valid() {
			t.Errorf("%s: %s, format %q, size %d", row.name, typ, typ.Format(), typ.Size())
		}
		if back := FromFormat(typ.Format(), typ.Size()); back != typ {
			t.Errorf("%s: its format gives %s", row.name, back)
		}
		if All()[i] != typ || int(typ) != i+1 {
			t.Errorf("%s has number %d, want %d: numbers travel in messages", row.name, typ, i+1)
		}
		if typ.Complex() != (row.format[0] == 'Z') {
			t.Errorf("%s: complex %v", row.name, typ.Complex())
		}
	}
}

func TestFromFormat(t *testing.T) {
	for _, row := range []struct {
		name, format string
		size         int
		want         Type
	}{
		{"numpy.longlong", "q", 8, Int64},
		{"numpy.ulonglong", "Q", 8, Uint64},
		{"long in standard mode", "=l", 4, Int32},
		{"unsigned long in standard mode", "<L", 4, Uint32},
		{"ssize_t", "n", 8, Int64},
		{"size_t", "N", 8, Uint64},
		{"ctypes double", "<d", 8, Float64},
		{"ctypes long", "<q", 8, Int64},
		{"ctypes bool", "<?", 1, Bool},
		{"native mode", "@i", 4, Int32},
		{"little-endian complex", "<Zd", 16, Complex128},

		{"big-endian double", ">d", 8, Invalid},
		{"network order", "!i", 4, Invalid},
		{"type string of the array interface", "<f8", 8, Invalid},
		{"float16", "e", 2, Invalid},
		{"long double", "g", 16, Invalid},
		{"complex long double", "Zg", 32, Invalid},
		{"object", "O", 8, Invalid},
		{"structure", "T{=d:a:@i:b:}", 12, Invalid},
		{"bytes of a size", "3s", 3, OfSize(3)},
		{"bytes of another size", "3s", 4, Invalid},
		{"bytes of no size", "0s", 0, Invalid},
		{"characters", "2w", 8, Invalid},
		{"bytes", "c", 1, Invalid},
		{"two doubles", "2d", 16, Invalid},
		{"two of a kind", "dd", 16, Invalid},
		{"none", "", 1, Invalid},
		{"byte order alone", "<", 8, Invalid},
		{"Z alone", "Z", 8, Invalid},
		{"double of another size", "d", 4, Invalid},
		{"bool of another size", "?", 4, Invalid},
		{"complex of another size", "Zd", 8, Invalid},
		{"integer of no size", "i", 0, Invalid},
		{"integer of an odd size", "i", 3, Invalid},
	} {
		if got := FromFormat(row.format, row.size); got != row.want {
			t.Errorf("%s: %q with %d bytes gives %s, want %s", row.name, row.format, row.size, got, row.want)
		}
	}
}

func TestParse(t *testing.T) {
	for _, typ := range All() {
		if got, err := Parse(int64(typ)); err != nil || got != typ {
			t.Errorf("%d: %s, %v", int64(typ), got, err)
		}
	}
	for _, n := range []int64{-1, 0, int64(N), 256 + 1, 1 << 40} { // 257 would be float64 in eight bits
		if got, err := Parse(n); got != Invalid || !errors.Is(err, status.InvalidArgument) {
			t.Errorf("%d: %s, %v", n, got, err)
		}
	}
}

func TestNoType(t *testing.T) {
	for _, typ := range []Type{Invalid, N, 255} {
		if typ.Valid() || typ.Size() != 0 || typ.String() != "invalid" || typ.Format() != "" || typ.Complex() {
			t.Errorf("%d: %s, size %d, format %q", uint32(typ), typ, typ.Size(), typ.Format())
		}
	}
}

func TestOpaque(t *testing.T) {
	for _, size := range []int{1, 5, 16, 112, 1 << 24} {
		typ := OfSize(size)
		if typ.Size() != size || !typ.Opaque() || !typ.Held() || typ.Valid() || typ.Complex() || typ.Inexact() {
			t.Errorf("%d bytes: %s, size %d", size, typ, typ.Size())
		}
		if FromFormat(typ.Format(), size) != typ || FromNumber(int64(typ)) != typ {
			t.Errorf("%d bytes: format %q", size, typ.Format())
		}
		if _, err := Parse(int64(typ)); err == nil {
			t.Errorf("%d bytes: taken for an element type", size)
		}
	}
	for _, typ := range []Type{OfSize(0), OfSize(-1), OfSize(1<<24 + 1), FromNumber(-1), FromNumber(1 << 40), FromNumber(256)} {
		if typ.Held() {
			t.Errorf("%d is held", uint32(typ))
		}
	}
}
