package random

import (
	"fmt"
	"math"
	"math/big"
	"testing"
	"unsafe"

	"dtl/core/dtype"
	"dtl/core/memory"
)

func spanOf[T any](t dtype.Type, a []T) memory.Span {
	return memory.Span{Addr: unsafe.Pointer(unsafe.SliceData(a)), Count: len(a), Type: t}
}

// stream is what most tests draw from.
var stream = Stream{Key: [2]uint64{1, 1 << 63}, Call: 5}

// naive returns words of SFC64 as its author writes it.
func naive(start []uint64, n int) []uint64 {
	a, b, c, counter := start[0], start[1], start[2], uint64(1)
	out := make([]uint64, n)
	for i := range out {
		tmp := a + b + counter
		counter++
		a = b ^ (b >> 11)
		b = c + (c << 3)
		c = ((c << 24) | (c >> (64 - 24))) + tmp
		out[i] = tmp
	}
	return out
}

// oracle returns integers of a block, made of its words by arithmetic that does not overflow.
func oracle(start []uint64, r Range, n int) []uint64 {
	width, powers := 64, r.Width&(r.Width+1) == 0
	switch {
	case powers && r.Width <= math.MaxUint8:
		width = 8
	case powers && r.Width <= math.MaxUint16:
		width = 16
	case r.Width <= math.MaxUint32:
		width = 32
	}
	var out []uint64
	one := new(big.Int).Lsh(big.NewInt(1), uint(width))
	count := new(big.Int).Add(new(big.Int).SetUint64(r.Width), big.NewInt(1))
	unfair := new(big.Int).Mod(one, count)
	for _, word := range naive(start, 8*n+8) {
		for at := 0; at < 64 && len(out) < n; at += width {
			x := new(big.Int).Rsh(new(big.Int).SetUint64(word), uint(at))
			x.Mod(x, one)
			if powers {
				out = append(out, r.Least+x.Uint64()&r.Width)
				continue
			}
			quotient, rest := new(big.Int).DivMod(x.Mul(x, count), one, new(big.Int))
			if rest.Cmp(unfair) >= 0 {
				out = append(out, r.Least+quotient.Uint64())
			}
		}
	}
	return out
}

func integerCase[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](t *testing.T, typ dtype.Type, r Range) {
	t.Helper()
	const block = 21
	var want []T
	for k := range uint64(4) {
		start := stream.Start(k)
		for _, x := range oracle(start[:], r, block) {
			want = append(want, T(x))
		}
	}
	for _, skip := range []int{0, 1, 2, 9, block - 1, block, block + 5} {
		for _, n := range []int{0, 1, 2, 7, block, 2*block - skip, 3*block - skip} {
			got := make([]T, n+1)
			got[n] = 77
			if err := Fill(spanOf(typ, got[:n]), r, stream, block, int64(skip)); err != nil {
				t.Fatal(err)
			}
			for i := range n {
				if got[i] != want[skip+i] {
					t.Fatalf("skip %d, number %d of %d: %d, not %d", skip, i, n, got[i], want[skip+i])
				}
			}
			if got[n] != 77 {
				t.Fatalf("skip %d: %d numbers wrote one more", skip, n)
			}
		}
	}
}

func TestIntegersOfAllWidths(t *testing.T) {
	const negative = ^uint64(0) - 9 // -10
	for _, width := range []uint64{0, 1, 2, 5, 127, 200, 255, 256, 999, 65535, 65536, 1 << 31, 3 << 30, math.MaxUint32, 1 << 32, 3 << 62, math.MaxInt64, math.MaxUint64} {
		for _, least := range []uint64{0, 3, negative} {
			r := Range{Kind: Integers, Least: least, Width: width}
			t.Run(fmt.Sprintf("%d from %d on", width, int64(least)), func(t *testing.T) {
				integerCase[int64](t, dtype.Int64, r)
				integerCase[uint64](t, dtype.Uint64, r)
				integerCase[int32](t, dtype.Int32, r)
				integerCase[uint32](t, dtype.Uint32, r)
				integerCase[int16](t, dtype.Int16, r)
				integerCase[uint16](t, dtype.Uint16, r)
				integerCase[int8](t, dtype.Int8, r)
				integerCase[uint8](t, dtype.Uint8, r)
			})
		}
	}
}

// The words of the start (1, 2, 3), the counter being 1, are those of NumPy's SFC64 in that state.
func TestWordsAreNumPys(t *testing.T) {
	var got [4]uint64
	state := words{1, 2, 3, 1}
	for i := range got {
		got[i], state = state.next()
	}
	if want := [4]uint64{0x4, 0x1f, 0x1b000042, 0x1b00003f03613f}; got != want {
		t.Fatalf("%#x", got)
	}
}

func TestFloats(t *testing.T) {
	r := Range{Kind: Floats, Least: math.Float64bits(-1), Width: math.Float64bits(3)}
	start := stream.Start(0)
	all := naive(start[:], 10)
	doubles, singles := make([]float64, 8), make([]float32, 9)
	for _, err := range []error{
		Fill(spanOf(dtype.Float64, doubles), r, stream, 10, 2),
		Fill(spanOf(dtype.Float32, singles), r, stream, 10, 1),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, x := range doubles {
		if want := -1 + float64(math.Ldexp(float64(all[i+2]>>11), -53)*3); x != want {
			t.Fatalf("number %d: %v, not %v", i, x, want)
		}
	}
	for i, x := range singles {
		half := uint32(all[(i+1)/2] >> (32 * ((i + 1) % 2)))
		if want := -1 + float32(float32(math.Ldexp(float64(half>>8), -24))*3); x != want {
			t.Fatalf("number %d: %v, not %v", i, x, want)
		}
	}
}

func TestWhatIsRefused(t *testing.T) {
	some := make([]float64, 30)
	span := spanOf(dtype.Float64, some)
	for name, err := range map[string]error{
		"floats as integers":  Fill(span, Range{}, stream, 21, 0),
		"complex numbers":     Fill(spanOf(dtype.Complex128, make([]complex128, 3)), Range{Kind: Floats}, stream, 21, 0),
		"another kind":        Fill(span, Range{Kind: kinds}, stream, 21, 0),
		"from less than 0 on": Fill(span, Range{Kind: Floats}, stream, 21, -1),
		"too large a block":   Fill(span, Range{Kind: Floats}, stream, largest+1, 0),
		"blocks of nothing":   Fill(span, Range{Kind: Floats}, stream, 0, 0),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func BenchmarkFill(b *testing.B) {
	a := make([]int64, 1<<16)
	f := make([]float64, 1<<16)
	for name, run := range map[string]func() error{
		"integers below 2":    func() error { return Fill(spanOf(dtype.Int64, a), Range{Width: 1}, stream, 1<<16, 0) },
		"integers below 1000": func() error { return Fill(spanOf(dtype.Int64, a), Range{Width: 999}, stream, 1<<16, 0) },
		"integers, 40 bits":   func() error { return Fill(spanOf(dtype.Int64, a), Range{Width: 1<<40 + 5}, stream, 1<<16, 0) },
		"floats": func() error {
			return Fill(spanOf(dtype.Float64, f), Range{Kind: Floats, Width: math.Float64bits(1)}, stream, 1<<16, 0)
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(1 << 16)
			for range b.N {
				if err := run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
