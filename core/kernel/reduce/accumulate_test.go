package reduce

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
)

func wrap[T kernel.Ordered](lo, hi T) []T { return []T{0, 1, 2, 3, lo, hi, lo + 1, hi - 1, 5, 7} }

func floats[T float32 | float64](largest, smallest T) []T {
	nan, inf, minusZero := T(math.NaN()), T(math.Inf(1)), T(math.Copysign(0, -1))
	return []T{0, minusZero, 1, -1, 1.5, largest, -largest, smallest, inf, -inf, nan}
}

func complexes[C complex64 | complex128](made func(re, im float64) C) []C {
	return []C{0, made(1, 0), made(0, 1), made(1.5, -2), made(-3, 4), made(1e30, 1)}
}

func TestAccumulate(t *testing.T) {
	f64 := floats(math.MaxFloat64, math.SmallestNonzeroFloat64)
	f32 := floats[float32](math.MaxFloat32, math.SmallestNonzeroFloat32)
	orderedType(t, dtype.Float64, f64, minFloat, maxFloat)
	orderedType(t, dtype.Float32, f32, minFloat, maxFloat)
	integerType(t, dtype.Int64, wrap[int64](math.MinInt64, math.MaxInt64))
	integerType(t, dtype.Int32, wrap[int32](math.MinInt32, math.MaxInt32))
	integerType(t, dtype.Int16, wrap[int16](math.MinInt16, math.MaxInt16))
	integerType(t, dtype.Int8, wrap[int8](math.MinInt8, math.MaxInt8))
	integerType(t, dtype.Uint64, wrap[uint64](1<<63-1, math.MaxUint64))
	integerType(t, dtype.Uint32, wrap[uint32](1<<31, math.MaxUint32))
	integerType(t, dtype.Uint16, wrap[uint16](1<<15, math.MaxUint16))
	integerType(t, dtype.Uint8, wrap[uint8](1<<7, math.MaxUint8))
	numberType(t, dtype.Complex64, complexes(func(re, im float64) complex64 { return complex64(complex(re, im)) }))
	numberType(t, dtype.Complex128, complexes(func(re, im float64) complex128 { return complex(re, im) }))
	and, or := func(a, b uint8) uint8 { return a & b }, func(a, b uint8) uint8 { return a | b }
	for op, want := range map[kernel.Op]func(a, b uint8) uint8{kernel.Min: and, kernel.Max: or, kernel.LAnd: and, kernel.LOr: or, kernel.BAnd: and, kernel.BOr: or,
		kernel.BXor: func(a, b uint8) uint8 { return a ^ b }} {
		against(t, dtype.Bool, op, []uint8{0, 1}, want)
	}
}

func integerType[T kernel.Integer](t *testing.T, typ dtype.Type, values []T) {
	orderedType(t, typ, values, minInt, maxInt)
	against(t, typ, kernel.BAnd, values, func(a, b T) T { return a & b })
	against(t, typ, kernel.BOr, values, func(a, b T) T { return a | b })
	against(t, typ, kernel.BXor, values, func(a, b T) T { return a ^ b })
}

func orderedType[T kernel.Ordered](t *testing.T, typ dtype.Type, values []T, lesser, greater func(a, b T) T) {
	numberType(t, typ, values)
	against(t, typ, kernel.Min, values, lesser)
	against(t, typ, kernel.Max, values, greater)
}

func numberType[T kernel.Number](t *testing.T, typ dtype.Type, values []T) {
	against(t, typ, kernel.Sum, values, func(a, b T) T { return a + b })
	against(t, typ, kernel.Prod, values, func(a, b T) T { return a * b })
	against(t, typ, kernel.LAnd, values, func(a, b T) T { return oneIf[T](a != 0 && b != 0) })
	against(t, typ, kernel.LOr, values, func(a, b T) T { return oneIf[T](!(a == 0 && b == 0)) })
}

func oneIf[T kernel.Number](yes bool) (v T) {
	if yes {
		v++
	}
	return v
}

func minInt[T kernel.Ordered](a, b T) T {
	if b < a {
		return b
	}
	return a
}

func maxInt[T kernel.Ordered](a, b T) T {
	if b > a {
		return b
	}
	return a
}

// minFloat and maxFloat spell out NumPy's rule for NaN, and that -0 is less than +0.
func minFloat[T float32 | float64](a, b T) T {
	return T(orderFloat(float64(a), float64(b), -1))
}

func maxFloat[T float32 | float64](a, b T) T {
	return T(orderFloat(float64(a), float64(b), 1))
}

func orderFloat(a, b, sign float64) float64 {
	switch {
	case a != a || b != b:
		return math.NaN()
	case a == 0 && b == 0:
		if math.Signbit(a) == (sign < 0) {
			return a
		}
		return b
	case (a-b)*sign > 0 || (math.IsInf(a, int(sign))):
		return a
	}
	return b
}

// against checks one loop on every pair of values and at several lengths against the operator on one pair.
func against[T kernel.Number](t *testing.T, typ dtype.Type, op kernel.Op, values []T, want func(a, b T) T) {
	t.Helper()
	t.Run(fmt.Sprintf("%s/%s", op, typ), func(t *testing.T) {
		for _, n := range []int{0, 1, 7, len(values) * len(values), 1001} {
			dst, src, expect := make([]T, n), make([]T, n), make([]T, n)
			for i := range n {
				dst[i], src[i] = values[i%len(values)], values[i/len(values)%len(values)]
				expect[i] = want(dst[i], src[i])
			}
			if err := Accumulate(memory.Of(typ, dst), memory.Of(typ, src), op); err != nil {
				t.Fatal(err)
			}
			for i := range n {
				if fmt.Sprint(dst[i]) != fmt.Sprint(expect[i]) { // text tells -0 from 0 and holds NaN equal to NaN
					t.Fatalf("n=%d: element %d: %v, want %v", n, i, dst[i], expect[i])
				}
			}
		}
	})
}

func TestRowsMatchCheck(t *testing.T) {
	for _, typ := range dtype.All() {
		for op := range kernel.NOps {
			has, allowed := rows[typ][op], op.Check(typ) == nil
			if (has.run != nil) != allowed || (has.at != nil) != allowed {
				t.Errorf("%s of %s: allowed: %v, which its loops do not say", op, typ, allowed)
			}
		}
	}
}

func TestAccumulateRefuses(t *testing.T) {
	one, two := memory.Of(dtype.Int64, []int64{1}), memory.Of(dtype.Int64, []int64{1, 2})
	other := memory.Of(dtype.Float64, []float64{1})
	z := memory.Of(dtype.Complex128, []complex128{1})
	flag := memory.Of(dtype.Bool, []uint8{1})
	for _, row := range []struct {
		name     string
		dst, src memory.Span
		op       kernel.Op
		code     status.Code
	}{
		{"lengths differ", one, two, kernel.Sum, status.InvalidArgument},
		{"types differ", one, other, kernel.Sum, status.InvalidArgument},
		{"no type", memory.Span{}, memory.Span{}, kernel.Sum, status.InvalidArgument},
		{"no op", one, one, kernel.NOps, status.InvalidArgument},
		{"order of complex", z, z, kernel.Min, status.Unsupported},
		{"sum of bool", flag, flag, kernel.Sum, status.Unsupported},
		{"bits of floats", other, other, kernel.BXor, status.Unsupported},
		{"values and ranks", one, one, kernel.MinLoc, status.Unsupported},
	} {
		t.Run(row.name, func(t *testing.T) {
			if err := Accumulate(row.dst, row.src, row.op); !errors.Is(err, row.code) {
				t.Errorf("%v, want %v", err, row.code)
			}
		})
	}
}

// BenchmarkAccumulate reports bytes of src a second, on 32 KiB of memory that stays in the cache.
func BenchmarkAccumulate(b *testing.B) {
	for _, typ := range dtype.All() {
		for op := range kernel.NOps {
			if op.Check(typ) != nil {
				continue
			}
			b.Run(fmt.Sprintf("%s/%s", op, typ), func(b *testing.B) {
				const size = 32 << 10
				dst, src := make([]complex128, size/16), make([]complex128, size/16)
				for i := range src {
					src[i] = complex(rand.Float64(), rand.Float64())
				}
				d, s := memory.Of(dtype.Complex128, dst), memory.Of(dtype.Complex128, src)
				d.Type, d.Count = typ, size/typ.Size()
				s.Type, s.Count = d.Type, d.Count
				b.SetBytes(size)
				for b.Loop() {
					if err := Accumulate(d, s, op); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
