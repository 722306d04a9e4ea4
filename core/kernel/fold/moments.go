package fold

import (
	"unsafe"

	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
)

// The words of a moment: how many numbers there are, the sum of the squared distances from their mean, and from momentMean on
// the mean in two words, so that merging loses nothing of means that are large beside the distances.
const (
	momentCount = iota
	momentSpread
	momentMean
)

// momentBlock is how many elements' moments are taken at a time: they stay in the first cache for the second look.
const momentBlock = 1024

// moments finds the mean and the distances from it in one pass over the memory: blocks are looked at twice while they are
// in the cache, and merged (Chan, Golub and LeVeque 1979, "Updating formulae and a pairwise algorithm for computing sample
// variances").
func moments[T any](of func(*Streams[T]) (mean [2]float64, m2 float64)) *Folding {
	return &Folding{
		Run: func(p *Partial, run memory.Span, _ int64) {
			InStreams(memory.As[T](run), momentBlock, func(s *Streams[T]) {
				mean, m2 := of(s)
				other := Partial{momentCount: s.count()}
				other.setFloat(momentSpread, m2)
				*other.floats(momentMean) = mean
				mergeMoments(p, &other)
			})
		},
		Merge:  mergeMoments,
		Finish: func(p *Partial, _ int64) (Number, error) { return Real(p.float(momentSpread)), nil },
	}
}

func mergeMoments(p, other *Partial) {
	if p[momentCount] == 0 || other[momentCount] == 0 {
		if p[momentCount] == 0 {
			*p = *other
		}
		return
	}
	n, m := float64(p[momentCount]), float64(other[momentCount])
	mine, theirs := p.floats(momentMean), other.floats(momentMean)
	apart := [2]float64{theirs[0], theirs[1] - mine[1]}
	twoSum(&apart, -mine[0])
	away, share := apart[0]+apart[1], m/(n+m)
	p[momentCount] += other[momentCount]
	p.setFloat(momentSpread, p.float(momentSpread)+other.float(momentSpread)+away*away*n*share)
	twoSum(mine, away*share)
}

// count returns how many elements there are.
func (s *Streams[T]) count() (n int64) {
	for _, x := range s {
		n += int64(len(x))
	}
	return n
}

// momentsOf takes the distances from a mean that is rounded. What they come to says how far that is from the mean.
func momentsOf[T kernel.Ordered](s *Streams[T]) (mean [2]float64, m2 float64) {
	n := float64(s.count())
	m := sumOf(s) / n
	for _, x := range s {
		m2 += distances(x, m)
	}
	mean[0] = m
	if m*m*n <= 16*m2 { // what rounding has taken away is nothing beside the distances
		return mean, m2
	}
	away := 0.0
	for _, x := range s {
		away += offsets(x, m)
	}
	twoSum(&mean, away/n)
	return mean, max(m2-away*(away/n), 0)
}

// offsets returns the sum of the distances, with their signs.
func offsets[T kernel.Ordered](x []T, m float64) float64 {
	var a, b, c, d float64
	for len(x) >= 8 {
		y := (*[8]T)(x)
		a += (float64(y[0]) - m) + (float64(y[1]) - m)
		b += (float64(y[2]) - m) + (float64(y[3]) - m)
		c += (float64(y[4]) - m) + (float64(y[5]) - m)
		d += (float64(y[6]) - m) + (float64(y[7]) - m)
		x = x[8:]
	}
	for _, v := range x {
		a += float64(v) - m
	}
	return (a + b) + (c + d)
}

// distances returns the sum of the squared distances from a number.
func distances[T kernel.Ordered](x []T, m float64) float64 {
	var a, b, c, d, e, f, g, h float64
	for len(x) >= 8 {
		y := (*[8]T)(x)
		a += square(float64(y[0]) - m)
		b += square(float64(y[1]) - m)
		c += square(float64(y[2]) - m)
		d += square(float64(y[3]) - m)
		e += square(float64(y[4]) - m)
		f += square(float64(y[5]) - m)
		g += square(float64(y[6]) - m)
		h += square(float64(y[7]) - m)
		x = x[8:]
	}
	for _, v := range x {
		a += square(float64(v) - m)
	}
	return ((a + b) + (c + d)) + ((e + f) + (g + h))
}

func square(x float64) float64 { return x * x }

// imaginaryMoments has the moments of the imaginary parts of complex numbers, whose Moment is of the real parts.
var imaginaryMoments = [dtype.N]*Folding{
	dtype.Float64: nil, dtype.Float32: nil, dtype.Int64: nil, dtype.Int32: nil, dtype.Int16: nil, dtype.Int8: nil,
	dtype.Uint64: nil, dtype.Uint32: nil, dtype.Uint16: nil, dtype.Uint8: nil, dtype.Bool: nil,
	dtype.Complex64:  moments(partMoments[complex64, float32](1)),
	dtype.Complex128: moments(partMoments[complex128, float64](1)),
}

// ImaginaryMoment returns how the imaginary parts of complex numbers are folded to what Moment makes of the real parts. Their squared
// distances from the mean of both are the sum of the two. It is nil for other types.
func ImaginaryMoment(t dtype.Type) *Folding { return imaginaryMoments[t] }

// partMoments returns momentsOf for the real parts of complex numbers, or with 1 for the imaginary parts, which it copies.
func partMoments[T kernel.Complex, F float32 | float64](imaginary int) func(*Streams[T]) ([2]float64, float64) {
	return func(s *Streams[T]) ([2]float64, float64) {
		var room [momentBlock]F
		var parts Streams[F]
		n := 0
		for k, x := range s {
			first := n
			both := unsafe.Slice((*F)(unsafe.Pointer(unsafe.SliceData(x))), 2*len(x))
			for i := imaginary; i < len(both); i += 2 {
				room[n] = both[i]
				n++
			}
			parts[k] = room[first:n]
		}
		return momentsOf(&parts)
	}
}
