package group

import (
	"math"
	"math/rand/v2"
	"testing"

	"dtl/core/dtype"
	"dtl/core/kernel/radix"
)

// about is the naive Pairs of one group, which takes means first.
func about(x, y []float64) (sums [PairSums]float64) {
	n := float64(len(x))
	for i := range x {
		sums[1] += x[i] / n
		sums[2] += y[i] / n
	}
	sums[0] = n
	for i := range x {
		dx, dy := x[i]-sums[1], y[i]-sums[2]
		sums[3] += dx * dx
		sums[4] += dy * dy
		sums[5] += dx * dy
	}
	return sums
}

func TestPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	const n = 2*chunk + 3
	for _, width := range []int{1, 10, chunk} {
		x, y, codes := make([]float64, n), make([]int16, n), make([]int64, n)
		for i := range x {
			x[i], y[i], codes[i] = 1e6+rng.Float64(), int16(rng.Uint32()), rng.Int64N(int64(width))
		}
		for _, null := range [][]bool{nil, someNull(rng, n)} {
			want := make([][2][]float64, width)
			for i, code := range codes {
				if null == nil || !null[i] && !null[n-1-i] {
					want[code][0] = append(want[code][0], x[i])
					want[code][1] = append(want[code][1], float64(y[i]))
				}
			}
			back := make([]bool, n)
			for i := range null {
				back[i] = null[n-1-i]
			}
			if null == nil {
				back = nil
			}
			a := Values{arrays(x, null, 100, n/2), dtype.Float64}
			b := Values{arrays(y, back, 70, n/3, n/2), dtype.Int16}
			checkPairs(t, want, codes, a, b)
		}
	}
}

func checkPairs(t *testing.T, want [][2][]float64, codes []int64, x, y Values) {
	t.Helper()
	width := len(want)
	found, again := make([]float64, PairSums*width), make([]float64, PairSums*width)
	for workers, into := range map[int][]float64{1: found, 3: again} {
		if err := Pairs(into, codes, x, y, side(workers)); err != nil {
			t.Fatal(err)
		}
	}
	for code, each := range want {
		sums := about(each[0], each[1])
		scales := [PairSums]float64{1, 1e6, 1e4, sums[3] + 1, sums[4] + 1, math.Sqrt(sums[3]*sums[4]) + 1}
		for i, sum := range sums {
			got := found[i*width+code]
			if math.Abs(got-sum) > 1e-9*scales[i] {
				t.Fatalf("number %d of group %d of %d: %v, not %v", i, code, width, got, sum)
			}
			if got != again[i*width+code] {
				t.Fatalf("number %d of group %d: %v by one worker, %v by three", i, code, got, again[i*width+code])
			}
		}
	}
}

func TestPairsOfEqualValues(t *testing.T) {
	const n = 3 * chunk
	x, codes := make([]float64, n), make([]int64, n)
	for i := range x {
		x[i] = 0.1
	}
	sums := make([]float64, PairSums)
	of := Values{arrays(x, nil), dtype.Float64}
	if err := Pairs(sums, codes, of, of, radix.Workers{}); err != nil || [PairSums]float64(sums) != [PairSums]float64{n, 0.1, 0.1} {
		t.Errorf("%v, %v", sums, err)
	}
}

func TestPairsThatDoNotFit(t *testing.T) {
	one := Values{arrays([]float64{1}, nil), dtype.Float64}
	for name, err := range map[string]error{
		"of no numbers": Pairs(make([]float64, PairSums), []int64{0}, one, Values{one.Column, dtype.Complex64}, radix.Workers{}),
		"fewer rows":    Pairs(make([]float64, PairSums), []int64{0, 0}, one, one, radix.Workers{}),
		"half a group":  Pairs(make([]float64, 3), []int64{0}, one, one, radix.Workers{}),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
