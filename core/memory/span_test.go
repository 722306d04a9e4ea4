package memory_test

import (
	"slices"
	"testing"

	"dtl/core/dtype"
	"dtl/core/memory"
)

func TestSlice(t *testing.T) {
	s := memory.Of(dtype.Int32, []int32{10, 11, 12, 13})
	for _, row := range []struct {
		name   string
		lo, hi int
		want   []int32
	}{
		{"all", 0, 4, []int32{10, 11, 12, 13}},
		{"middle", 1, 3, []int32{11, 12}},
		{"none at the end", 4, 4, nil},
		{"none at the front", 0, 0, nil},
	} {
		part := s.Slice(row.lo, row.hi)
		if got := memory.As[int32](part); !slices.Equal(got, row.want) || part.Bytes() != 4*len(row.want) {
			t.Errorf("%s: %v of %d bytes, want %v", row.name, got, part.Bytes(), row.want)
		}
	}
}

func TestSpanPanics(t *testing.T) {
	s := memory.Of(dtype.Int32, []int32{10, 11})
	for name, misuse := range map[string]func(){
		"below":        func() { s.Slice(-1, 1) },
		"beyond":       func() { s.Slice(0, 3) },
		"backwards":    func() { s.Slice(2, 1) },
		"another size": func() { memory.As[int64](s) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			misuse()
		})
	}
}

func TestZeroSpan(t *testing.T) {
	var none memory.Span
	if none.Bytes() != 0 || none.Raw().Count != 0 || none.Slice(0, 0).Count != 0 || memory.Copy(none, none) != 0 {
		t.Errorf("%+v holds something", none)
	}
}

func TestCopy(t *testing.T) {
	a := []int16{1, 2, 3, 4, 5}
	s := memory.Of(dtype.Int16, a)
	if n := memory.Copy(s.Slice(1, 5), s.Slice(0, 4)); n != 8 || !slices.Equal(a, []int16{1, 1, 2, 3, 4}) {
		t.Errorf("overlapping: %d bytes, %v", n, a)
	}
	if n := memory.Copy(s.Slice(0, 1), s.Slice(3, 5)); n != 2 || a[0] != 3 || a[1] != 1 {
		t.Errorf("shorter destination: %d bytes, %v", n, a)
	}
	if raw := s.Raw(); raw.Type != dtype.Uint8 || raw.Count != 10 || memory.As[byte](raw)[0] != 3 {
		t.Errorf("%+v", raw)
	}
}
