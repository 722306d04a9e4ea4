package reduce

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
)

// TestIdentity combines the identity with elements on either side, which must leave them as Settle makes them.
func TestIdentity(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	eachLoop(func(typ dtype.Type, op kernel.Op) {
		const n = 50
		values, left, right := someElements(random, typ, n), someElements(random, typ, n), someElements(random, typ, n)
		memory.Copy(left, values)
		must(t, Identity(right, op))
		must(t, Accumulate(left, right, op))   // x op identity
		must(t, Accumulate(right, values, op)) // identity op x
		must(t, Settle(values, op))
		for side, got := range map[string]memory.Span{"right": left, "left": right} {
			if !bytes.Equal(memory.As[byte](got.Raw()), memory.As[byte](values.Raw())) {
				t.Errorf("%s of %s: the identity on the %s changes elements", op, typ, side)
			}
		}
	})
}

// eachLoop calls body for each operator that each type has.
func eachLoop(body func(typ dtype.Type, op kernel.Op)) {
	for _, typ := range dtype.All() {
		for op := range kernel.NOps {
			if op.Check(typ) == nil {
				body(typ, op)
			}
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestSettleMakesTruthValues(t *testing.T) {
	values := []int16{0, 5, -1, 1}
	must(t, Settle(memory.Of(dtype.Int16, values), kernel.LOr))
	if [4]int16(values) != [4]int16{0, 1, 1, 1} {
		t.Errorf("%v", values)
	}
}

func TestIdentityAndSettleRefuse(t *testing.T) {
	z := memory.Of(dtype.Complex64, []complex64{7})
	for _, err := range []error{Identity(z, kernel.Min), Identity(z, kernel.MaxLoc), Settle(z, kernel.BOr), Settle(z, kernel.MinLoc)} {
		if !errors.Is(err, status.Unsupported) {
			t.Error(err)
		}
	}
	if memory.As[complex64](z)[0] != 7 {
		t.Error("changed")
	}
}
