package kernel

import (
	"errors"
	"testing"

	"dtl/core/status"
)

func TestParseOp(t *testing.T) {
	for n := range int64(NOps) {
		if op, err := ParseOp(n); err != nil || op != Op(n) {
			t.Errorf("%d: %v, %v", n, op, err)
		}
	}
	for _, n := range []int64{-1, int64(NOps), 1 << 40} {
		if _, err := ParseOp(n); !errors.Is(err, status.InvalidArgument) {
			t.Errorf("%d: %v", n, err)
		}
	}
}
