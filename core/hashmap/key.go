package hashmap

import (
	"fmt"

	"dtl/core/dtype"
	"dtl/core/status"
)

// Key is a type of keys.
type Key struct {
	Type  dtype.Type // an integer type or Float64; Invalid: strings
	Bytes int        // of one key
	Text  bool       // of strings: four bytes a character instead of one
}

// mostKeyBytes is the longest key.
const mostKeyBytes = 1 << 20

// check refuses what is no type of keys.
func (k Key) check() error {
	if k.Type == dtype.Invalid {
		if k.Bytes < 1 || k.Bytes > mostKeyBytes {
			return status.New(status.InvalidArgument, "keys of %d bytes: they must have 1 to %d", k.Bytes, mostKeyBytes)
		}
		return nil
	}
	if !k.Type.Valid() || k.Type == dtype.Bool || k.Type == dtype.Float32 || k.Type.Complex() {
		return status.New(status.InvalidArgument, "keys of %s: they must be integers, float64 or strings", k.Type)
	}
	if k.Bytes != k.Type.Size() {
		return status.New(status.InvalidArgument, "keys of %s with %d bytes: they have %d", k.Type, k.Bytes, k.Type.Size())
	}
	return nil
}

// float reports whether equal keys may have different bits.
func (k Key) float() bool { return k.Type == dtype.Float64 }

// String returns NumPy's name of the type.
func (k Key) String() string {
	switch {
	case k.Type.Valid():
		return k.Type.String()
	case k.Text:
		return fmt.Sprintf("U%d", k.Bytes/4)
	}
	return fmt.Sprintf("S%d", k.Bytes)
}

// same returns the numbers that must be the same on all ranks.
func (k Key) same() []int64 {
	text := int64(0)
	if k.Text {
		text = 1
	}
	return []int64{int64(k.Type), int64(k.Bytes), text}
}
