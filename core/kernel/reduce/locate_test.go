package reduce

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
)

func TestLocate(t *testing.T) {
	nan, zero := math.NaN(), math.Copysign(0, -1)
	values, best := []float64{1, nan, 0, nan, 2}, []float64{1, nan, zero, 1, 1}
	at := make([]int64, 5)
	must(t, Locate(memory.Of(dtype.Int64, at), memory.Of(dtype.Float64, values), memory.Of(dtype.Float64, best), 3, 9))
	if want := []int64{3, 3, 3, 9, 9}; !slices.Equal(at, want) {
		t.Errorf("%v, want %v", at, want)
	}
}

func TestLocateOfEveryTypeWithAnOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, typ := range dtype.All() {
		if kernel.Min.Check(typ) != nil {
			continue
		}
		values := someElements(random, typ, 40)
		at := memory.Of(dtype.Int64, make([]int64, 40))
		must(t, Locate(at, values, values, 1, 2))
		if slices.Contains(memory.As[int64](at), 2) {
			t.Errorf("%s: elements are not equal to themselves", typ)
		}
	}
}

func TestLocateRefuses(t *testing.T) {
	f, at := memory.Of(dtype.Float64, []float64{1, 2}), memory.Of(dtype.Int64, []int64{7, 7})
	z := memory.Of(dtype.Complex64, make([]complex64, 2))
	for name, err := range map[string]error{
		"lengths": Locate(at, f, f.Slice(0, 1), 0, 1),
		"types":   Locate(at, f, memory.Of(dtype.Uint64, []uint64{1, 2}), 0, 1),
		"ranks":   Locate(f, f, f, 0, 1),
		"order":   Locate(at, z, z, 0, 1),
	} {
		if err == nil || !errors.Is(err, status.InvalidArgument) && !errors.Is(err, status.Unsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if at := memory.As[int64](at); at[0] != 7 || at[1] != 7 {
		t.Error("written")
	}
}

func TestOwnBits(t *testing.T) {
	minus := math.Copysign(0, -1)
	values, dst := []float64{minus, 1, math.NaN(), 0}, []float64{7, 7, 7, 7}
	Own(memory.Of(dtype.Float64, dst), memory.Of(dtype.Float64, values), memory.Of(dtype.Int64, []int64{2, 1, 2, 0}), 2)
	for i, want := range []float64{minus, 0, values[2], 0} {
		if math.Float64bits(dst[i]) != math.Float64bits(want) {
			t.Errorf("element %d is %v, want %v", i, dst[i], want)
		}
	}
	for _, row := range []struct {
		of   memory.Span
		want bool
	}{
		{memory.Of(dtype.Float64, []float64{1, minus}), true},
		{memory.Of(dtype.Float32, []float32{1, float32(math.NaN())}), true},
		{memory.Of(dtype.Float32, []float32{1, 2}), false},
		{memory.Of(dtype.Int64, []int64{0}), false},
	} {
		if got := Ambiguous(row.of); got != row.want {
			t.Errorf("%v of %s: ambiguous: %v", row.of, row.of.Type, got)
		}
	}
}
