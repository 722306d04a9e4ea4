package kernel

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
	row  uint                  // how far to shift a word for its row
	rest uint                  // how far to shift out a word's bits up to its row's
	rows [1 << leadBits]uint32 // of each row: its first cell, and in the low byte how far to shift what is left
	n    int
}

func newCells[T item](a []T, differ uint64) *cells {
	top := uint(bits.Len64(differ))
	c := &cells{row: max(top, leadBits) - leadBits}
	c.rest = 64 - c.row
	var often [1 << leadBits]uint32
	step := max(1, len(a)/samples)
	for i := 0; i < len(a); i += step {
		often[word(&a[i])>>c.row&(1<<leadBits-1)]++
	}
	for r, n := range often {
		w := min(uint(bits.Len32(n*fine/samples)), c.row)
		c.rows[r] = uint32(c.n)<<8 | uint32(64-w)
		c.n += 1 << w
	}
	return c
}

// of returns the cell of a word.
func (c *cells) of(k uint64) uint32 {
	r := c.rows[k>>(c.row&63)&(1<<leadBits-1)]
	return r>>8 + uint32(k<<c.rest>>(r&127))
}
