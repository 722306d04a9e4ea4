package radix

import "math/bits"

const (
	leadBits = 12   // of the first bits that differ, which choose a row of cells
	fine     = 2048 // cells, about, if items are spread evenly over them
	samples  = 8192
)

// cells divide words into ranges by their leading bits that differ: first by leadBits of them, and each of these ranges
// into as many as a sample of the words makes worth it. So they are of like sizes also where the leading bits are the
// exponents of numbers.
type cells struct {
	top  uint                  // how many of the lowest bits divide words
	row  uint                  // how far to shift a word for its row
	rest uint                  // how far to shift out a word's bits up to its row's
	rows [1 << leadBits]uint32 // of each row: its first cell, and in the low byte how far to shift what is left
	n    int
}

// newCells returns those of elements whose keys differ in the given bits.
func newCells[T item](a []T, o *Order, differ uint64) *cells {
	top := uint(bits.Len64(differ))
	c := &cells{top: top, row: max(top, leadBits) - leadBits}
	c.rest = 64 - c.row
	var often [1 << leadBits]uint32
	sample(a, o, func(k uint64) { often[k>>c.row&(1<<leadBits-1)]++ })
	for r, n := range often {
		w := min(uint(bits.Len32(n*fine/samples)), c.row)
		c.rows[r] = uint32(c.n)<<8 | uint32(64-w)
		c.n += 1 << w
	}
	return c
}

// sampledCells returns the cells that a sample of the keys suggests. No word is outside of them, but words that differ in
// bits above top get the wrong one.
func sampledCells[T item](a []T, o *Order) *cells {
	first, differ := o.key(word(&a[0])), uint64(0)
	sample(a, o, func(k uint64) { differ |= k ^ first })
	return newCells(a, o, differ)
}

// sample calls f with the keys of about so many samples.
func sample[T item](a []T, o *Order, f func(key uint64)) {
	for i, step := 0, max(1, len(a)/samples); i < len(a); i += step {
		f(o.key(word(&a[i])))
	}
}

// cellOf returns the cell of a word.
func cellOf(rows *[1 << leadBits]uint32, row, rest uint, k uint64) uint32 {
	r := rows[k>>(row&63)&(1<<leadBits-1)]
	return r>>8 + uint32(k<<(rest&63)>>1>>((r-1)&63)) // of no bits that are left, all are shifted out
}
