package comm

import (
	"testing"

	"dtl/core/dtype"
)

func FuzzHeader(f *testing.F) {
	full := make([]byte, maxHeader)
	header{kind: PythonScalar, typ: dtype.Int8, apart: true, seq: 7, shape: []int64{2, 0, 5}}.put(full)
	f.Add(full)
	f.Add([]byte{})
	f.Add([]byte{0, 1, 64, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := parseHeader(b) // whatever came, it does not panic
		if err != nil {
			return
		}
		again := make([]byte, maxHeader)
		h.put(again)
		if g, err := parseHeader(again); err != nil || g.count() != h.count() || g.typ != h.typ || g.seq != h.seq {
			t.Fatalf("%+v encodes to %+v (%v)", h, g, err)
		}
	})
}
