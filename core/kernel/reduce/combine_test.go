package reduce

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
)

// TestCombineAt checks against Accumulate of one element at a time, with destinations that occur more than once.
func TestCombineAt(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, typ := range dtype.All() {
		for op := range kernel.NOps {
			if op.Check(typ) != nil {
				continue
			}
			t.Run(fmt.Sprintf("%s/%s", op, typ), func(t *testing.T) {
				for _, n := range []int{0, 1, 2, 33, 500} {
					combineSome(t, random, typ, op, n)
				}
			})
		}
	}
}

// someElements returns elements of any type; floats are finite.
func someElements(random *rand.Rand, typ dtype.Type, n int) memory.Span {
	words := make([]float64, 2*n+2)
	s := memory.Span{Addr: unsafe.Pointer(&words[0]), Count: n, Type: typ}
	switch typ {
	case dtype.Float64, dtype.Complex128:
		for i := range words {
			words[i] = random.NormFloat64()
		}
	case dtype.Float32, dtype.Complex64:
		for i := range s.Bytes() / 4 {
			*(*float32)(unsafe.Add(s.Addr, 4*i)) = float32(random.NormFloat64())
		}
	case dtype.Bool:
		for i := range s.Bytes() {
			*(*uint8)(unsafe.Add(s.Addr, i)) = uint8(random.IntN(2))
		}
	default:
		for i := range s.Bytes() {
			*(*uint8)(unsafe.Add(s.Addr, i)) = uint8(random.Uint32())
		}
	}
	return s
}

func combineSome(t *testing.T, random *rand.Rand, typ dtype.Type, op kernel.Op, n int) {
	elements := func(n int) memory.Span { return someElements(random, typ, n) }
	got, src := elements(10), elements(n)
	want := elements(10)
	memory.Copy(want, got)
	var to, from []unsafe.Pointer
	for i := range n {
		at := random.IntN(10)
		to = append(to, unsafe.Add(got.Addr, at*typ.Size()))
		from = append(from, unsafe.Add(src.Addr, i*typ.Size()))
		if err := Accumulate(want.Slice(at, at+1), src.Slice(i, i+1), op); err != nil {
			t.Fatal(err)
		}
	}
	if err := CombineAt(to, from, typ, op); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(memory.As[byte](got.Raw()), memory.As[byte](want.Raw())) {
		t.Fatalf("n=%d: %x, want %x", n, memory.As[byte](got.Raw()), memory.As[byte](want.Raw()))
	}
}

func TestCombineAtRefuses(t *testing.T) {
	for _, row := range []struct {
		name string
		typ  dtype.Type
		op   kernel.Op
		code status.Code
	}{
		{"no type", dtype.Invalid, kernel.Sum, status.InvalidArgument},
		{"type beyond the last", dtype.N, kernel.Sum, status.InvalidArgument},
		{"no op", dtype.Int64, kernel.NOps, status.InvalidArgument},
		{"order of complex", dtype.Complex64, kernel.Max, status.Unsupported},
		{"product of bool", dtype.Bool, kernel.Prod, status.Unsupported},
	} {
		if err := CombineAt(nil, nil, row.typ, row.op); !errors.Is(err, row.code) {
			t.Errorf("%s: %v, want %v", row.name, err, row.code)
		}
	}
}
