package fold

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/status"
)

func exactSum(x ...float64) *Exact {
	e := NewExact()
	if err := e.Add(memory.Of(dtype.Float64, x), false); err != nil {
		panic(err)
	}
	return e
}

// wild returns numbers of all magnitudes, also ones that cancel.
func wild(random *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = math.Float64frombits(random.Uint64())
		if math.IsNaN(x[i]) || math.IsInf(x[i], 0) {
			x[i] = 0
		}
		if i > 0 && random.IntN(3) == 0 {
			x[i] = -x[random.IntN(i)]
		}
	}
	return x
}

func TestExactIsTheSumRoundedOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		x := wild(random, random.IntN(200))
		want := new(big.Float).SetPrec(3000)
		for _, v := range x {
			want.Add(want, new(big.Float).SetFloat64(v))
		}
		float, _ := want.Float64()
		single, _ := want.Float32()
		words := exactSum(x...).Words()
		if got := RoundExact(words, 53, 0); got != float {
			t.Fatalf("%v: %v, want %v", x, got, float)
		}
		if got := float32(RoundExact(words, 24, 925)); got != single {
			t.Fatalf("%v: %v, want %v", x, got, single)
		}
	}
}

func TestExactRoundsToEven(t *testing.T) {
	const tiny = math.SmallestNonzeroFloat64
	half := math.Ldexp(1, -53)
	for name, row := range map[string]struct {
		x    []float64
		want float64
	}{
		"nothing":                 {nil, 0},
		"half way down":           {[]float64{1, half}, 1},
		"half way up":             {[]float64{1 + 2*half, half}, 1 + 4*half},
		"a little more than half": {[]float64{1, half, tiny}, 1 + 2*half},
		"subnormal":               {[]float64{tiny, tiny, -tiny}, tiny},
		"cancelled":               {[]float64{1e300, tiny, -1e300}, tiny},
		"beyond and back":         {[]float64{math.MaxFloat64, math.MaxFloat64, -math.MaxFloat64}, math.MaxFloat64},
		"beyond":                  {[]float64{math.MaxFloat64, math.MaxFloat64}, math.Inf(1)},
		"negative":                {[]float64{-1, -half, -tiny}, -1 - 2*half},
		"infinite":                {[]float64{1, math.Inf(-1)}, math.Inf(-1)},
	} {
		if got := RoundExact(exactSum(row.x...).Words(), 53, 0); got != row.want {
			t.Errorf("%s: %v, want %v", name, got, row.want)
		}
	}
	for _, x := range [][]float64{{math.NaN(), 1}, {math.Inf(1), math.Inf(-1)}, {math.Inf(1), math.NaN()}} {
		if got := RoundExact(exactSum(x...).Words(), 53, 0); !math.IsNaN(got) {
			t.Errorf("%v: %v", x, got)
		}
	}
}

func TestExactOfManyInOrderOrNot(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	x := make([]float64, 100_000) // more of one exponent than the large accumulator takes
	for i := range x {
		x[i] = 1 + random.Float64()
	}
	want := *exactSum(x...).Words()
	random.Shuffle(len(x), func(i, j int) { x[i], x[j] = x[j], x[i] })
	parts := *exactSum(x[:777]...).Words()
	for i, w := range exactSum(x[777:]...).Words() {
		parts[i] += w
	}
	if RoundExact(&want, 53, 0) != RoundExact(&parts, 53, 0) {
		t.Error("the sum depends on the order")
	}
}

func TestExactProducts(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	x, y := make([]complex128, 100), make([]complex128, 100)
	re, im := new(big.Float).SetPrec(3000), new(big.Float).SetPrec(3000)
	add := func(to *big.Float, a, b float64) {
		to.Add(to, new(big.Float).SetPrec(3000).Mul(big.NewFloat(a).SetPrec(3000), big.NewFloat(b)))
	}
	for i := range x {
		x[i] = complex(random.NormFloat64(), math.Ldexp(random.NormFloat64(), random.IntN(90)))
		y[i] = complex(random.NormFloat64(), random.NormFloat64())
		add(re, real(x[i]), real(y[i]))
		add(re, imag(x[i]), imag(y[i])) // a conjugated
		add(im, real(x[i]), imag(y[i]))
		add(im, -imag(x[i]), real(y[i]))
	}
	for k, want := range []*big.Float{re, im} {
		e := NewExact()
		if err := e.AddProducts(memory.Of(dtype.Complex128, x), memory.Of(dtype.Complex128, y), true, k == 1); err != nil {
			t.Fatal(err)
		}
		if float, _ := want.Float64(); RoundExact(e.Words(), 53, 0) != float {
			t.Errorf("part %d: %v, want %v", k, RoundExact(e.Words(), 53, 0), float)
		}
	}
	one := memory.Of(dtype.Int64, []int64{1})
	if err := NewExact().AddProducts(one, one, false, false); !errors.Is(err, status.Unsupported) {
		t.Error(err)
	}
}

func TestExactIntegers(t *testing.T) {
	e := NewExact()
	_ = e.Add(memory.Of(dtype.Int64, []int64{math.MaxInt64, math.MinInt64, 1<<53 + 1, -1 << 53}), false)
	_ = e.Add(memory.Of(dtype.Uint64, []uint64{math.MaxUint64, 1}), false)
	if got := RoundExact(e.Words(), 53, 0); got != 1<<64 {
		t.Error(got)
	}
}

func BenchmarkExact(b *testing.B) {
	x := make([]float64, 1<<16)
	for i := range x {
		x[i] = rand.Float64()
	}
	e, s := NewExact(), memory.Of(dtype.Float64, x)
	b.SetBytes(int64(len(x)))
	for b.Loop() {
		_ = e.Add(s, false)
	}
}
