// Package histogram counts elements: in bins between edges, or by their values.
package histogram

import (
	"math"
	"sort"

	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
)

// Bins count elements between ascending edges: bin i has those from edge i on that are less than edge i+1, and the last
// bin also those that equal the last edge. NaN is in no bin.
type Bins struct {
	edges       []float64
	uniform     bool // the edges are about equally far apart
	first, last float64
	norm        float64
	Counts      []int64   // of elements, or
	Sums        []float64 // of their weights
}

// NewBins returns empty bins between edges, of which there are at least two.
func NewBins(edges []float64, uniform, weighted bool) *Bins {
	n := len(edges) - 1
	b := &Bins{edges: edges, uniform: uniform, first: edges[0], last: edges[n]}
	b.norm = float64(n) / (b.last - b.first)
	if weighted {
		b.Sums = make([]float64, n)
	} else {
		b.Counts = make([]int64, n)
	}
	return b
}

// Empty returns bins between the same edges that count elements.
func (b *Bins) Empty() *Bins {
	empty := *b
	empty.Counts = make([]int64, len(b.edges)-1)
	return &empty
}

// Add puts elements into bins, with a weight each, float64, where the bins are of weights.
func (b *Bins) Add(run, weights memory.Span) error {
	f := binners[run.Type]
	if f == nil {
		return status.New(status.Unsupported, "histogram is not defined for %s, which has no order", run.Type)
	}
	var w []float64
	if b.Sums != nil {
		w = memory.As[float64](weights)[:run.Count]
	}
	f(b, run, w)
	return nil
}

var binners = [dtype.N]func(b *Bins, run memory.Span, w []float64){
	dtype.Float64:    binFloats[float64],
	dtype.Float32:    binFloats[float32],
	dtype.Int64:      binIntegers[int64],
	dtype.Int32:      binIntegers[int32],
	dtype.Int16:      binIntegers[int16],
	dtype.Int8:       binIntegers[int8],
	dtype.Uint64:     binIntegers[uint64],
	dtype.Uint32:     binIntegers[uint32],
	dtype.Uint16:     binIntegers[uint16],
	dtype.Uint8:      binIntegers[uint8],
	dtype.Bool:       binIntegers[uint8],
	dtype.Complex64:  nil,
	dtype.Complex128: nil,
}

func binFloats[T kernel.Ordered](b *Bins, run memory.Span, w []float64) {
	x := memory.As[T](run)
	switch {
	case w != nil:
		for i, v := range x {
			if at := b.find(float64(v)); at >= 0 {
				b.Sums[at] += w[i]
			}
		}
	case b.uniform:
		binUniform(b, x)
	default:
		for _, v := range x {
			if at := b.find(float64(v)); at >= 0 {
				b.Counts[at]++
			}
		}
	}
}

// binUniform guesses each bin by a multiplication, and looks at the edges beside it.
func binUniform[T kernel.Ordered](b *Bins, x []T) {
	first, last, norm, edges, counts := b.first, b.last, b.norm, b.edges, b.Counts
	for _, v := range x {
		f := float64(v)
		if !(f >= first && f <= last) {
			continue
		}
		at := uint((f - first) * norm)
		if at < uint(len(counts)) && at+1 < uint(len(edges)) && f >= edges[at] && f < edges[at+1] {
			counts[at]++
		} else {
			counts[b.near(f, int(at))]++
		}
	}
}

// near returns the bin of a number that is about there.
func (b *Bins) near(f float64, at int) int {
	at = max(0, min(at, len(b.edges)-2))
	for at > 0 && f < b.edges[at] {
		at--
	}
	for at < len(b.edges)-2 && f >= b.edges[at+1] {
		at++
	}
	return at
}

// find returns the bin of a number, or -1.
func (b *Bins) find(f float64) int {
	if !(f >= b.first && f <= b.last) {
		return -1
	}
	if guess := (f - b.first) * b.norm; b.uniform && !math.IsNaN(guess) {
		return b.near(f, int(min(guess, float64(len(b.edges)))))
	}
	n := len(b.edges) - 2
	return max(0, min(n, sort.Search(len(b.edges), func(i int) bool { return b.edges[i] > f })-1))
}

// fewValues is up to how many values integers are counted by value first, which takes less time for each.
const fewValues = 1 << 14

func binIntegers[T kernel.Integer](b *Bins, run memory.Span, w []float64) {
	low, high := math.Ceil(b.first), math.Floor(b.last)
	if w != nil || !(high-low < fewValues) || run.Count < fewValues || math.Abs(low) > 1<<52 {
		binFloats[T](b, run, w)
		return
	}
	lowest := int64(low)
	counts := make([]int64, int64(high-low)+1)
	if len(counts) <= counterSize {
		countFew(counts, memory.As[T](run), lowest)
	} else {
		countShifted(counts, memory.As[T](run), lowest)
	}
	for i, n := range counts {
		if n > 0 {
			b.Counts[b.find(float64(lowest+int64(i)))] += n
		}
	}
}

// countFew is countShifted of at most counterSize values.
func countFew[T kernel.Integer](counts []int64, x []T, lowest int64) {
	l, quarter := new(counters), len(x)/4
	one := func(v T) {
		if a := uint64(int64(v) - lowest); a < uint64(len(counts)) {
			counts[a]++
		}
	}
	for i := countSideBySide(l, x, lowest, 0); i < quarter; i = countSideBySide(l, x, lowest, i+1) {
		for k := range 4 { // one of these is outside
			one(x[k*quarter+i])
		}
	}
	for _, v := range x[4*quarter:] {
		one(v)
	}
	l.addTo(counts)
}

// countShifted counts the elements of each value from lowest on, and leaves out others.
func countShifted[T kernel.Integer](counts []int64, x []T, lowest int64) {
	n := uint64(len(counts))
	tables := make([]int64, 3*len(counts))
	s, t, u := tables[:n], tables[n:2*n], tables[2*n:]
	quarter := len(x) / 4
	q, r, v, w := x[:quarter], x[quarter:2*quarter], x[2*quarter:3*quarter], x[3*quarter:4*quarter]
	for i := 0; i < len(q) && i < len(r) && i < len(v) && i < len(w); i++ {
		a, b, c, d := uint64(int64(q[i])-lowest), uint64(int64(r[i])-lowest), uint64(int64(v[i])-lowest), uint64(int64(w[i])-lowest)
		if a < uint64(len(counts)) {
			counts[a]++
		}
		if b < uint64(len(s)) {
			s[b]++
		}
		if c < uint64(len(t)) {
			t[c]++
		}
		if d < uint64(len(u)) {
			u[d]++
		}
	}
	x = x[4*quarter:]
	for _, v := range x {
		if a := uint64(int64(v) - lowest); a < n {
			counts[a]++
		}
	}
	for i := range counts {
		counts[i] += s[i] + t[i] + u[i]
	}
}
