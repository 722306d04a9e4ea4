package wire

import (
	"testing"

	"dtl/core/dtype"
)

func FuzzHeader(f *testing.F) {
	full := make([]byte, MaxHeaderBytes)
	Header{Kind: PythonScalar, Type: dtype.Int8, Apart: true, Number: 7, Shape: []int64{2, 0, 5}}.Put(full)
	f.Add(full)
	f.Add([]byte{})
	f.Add([]byte{0, 1, 64, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := ParseHeader(b) // whatever came, it does not panic
		if err != nil {
			return
		}
		again := make([]byte, MaxHeaderBytes)
		h.Put(again)
		if g, err := ParseHeader(again); err != nil || g.Count() != h.Count() || g.Type != h.Type || g.Number != h.Number {
			t.Fatalf("%+v encodes to %+v (%v)", h, g, err)
		}
	})
}
