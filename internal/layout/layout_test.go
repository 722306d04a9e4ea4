package layout

import (
	"reflect"
	"testing"
)

type nested struct {
	Deep int32
	_    int32
}

type one struct {
	owner    int64
	send_for uintptr
	nested   nested
	list     [3]uint8
	rest     [5]byte
}

func TestDifferences(t *testing.T) {
	rows := []struct {
		name  string
		other any
		want  int
	}{
		{"the same", one{}, 0},
		{"spelled as Go does, and flat", struct {
			Owner   int64
			SendFor *[0]byte
			deep, _ int32
			List    [3]bool
			_       [5]byte
		}{}, 0},
		{"two fields swapped", struct {
			SendFor uintptr
			Owner   int64
			deep, _ int32
			List    [3]bool
			_       [5]byte
		}{}, 2},
		{"a field too short", struct {
			Owner   int64
			SendFor uint32
			_       uint32
			deep, _ int32
			List    [3]bool
			_       [5]byte
		}{}, 1},
		{"a field elsewhere", struct {
			Owner   int64
			SendFor uintptr
			_, deep int32
			List    [3]bool
			_       [5]byte
		}{}, 1},
		{"a field less", struct {
			Owner   int64
			SendFor uintptr
			deep, _ int32
			_       [8]byte
		}{}, 1},
		{"longer", struct {
			Owner   int64
			SendFor uintptr
			deep, _ int32
			List    [3]bool
			_       [13]byte
		}{}, 1},
	}
	for _, row := range rows {
		if got := Differences(reflect.TypeFor[one](), reflect.TypeOf(row.other)); len(got) != row.want {
			t.Errorf("%s: %d differences, want %d: %q", row.name, len(got), row.want, got)
		}
	}
}
