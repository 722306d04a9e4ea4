package comm

import (
	"fmt"
	"math"
	"math/bits"

	"dtl/core/status"
)

// The v-forms move parts of different lengths: rows, entries along the first dimension. A scalar is one row. Each starts
// with an agreement in which every rank tells how many rows it brings and how long its output is. So all of them know
// whether what they pass fits together, and all get an error where it does not.

// rows returns the number of entries along the first dimension, and the shape of one.
func (a *Array) rows() (n int64, row []int64) {
	if len(a.Shape) == 0 {
		return 1, nil
	}
	return a.Shape[0], a.Shape[1:]
}

// rowCount returns the number of elements of a row.
func (a *Array) rowCount() int64 {
	_, row := a.rows()
	n := int64(1)
	for _, d := range row {
		n *= d
	}
	return n
}

// describe is the part of a call that ranks agree on: type and shape of a row, and the root's, unless it is negative.
func (a *Array) describe(op string, root int64) Call {
	_, row := a.rows()
	same := append([]int64{root, int64(a.Type), int64(len(row))}, row...)
	return Call{Op: op, Same: same, Text: func() string {
		text := fmt.Sprintf("rows of shape %v of %s", row, a.Type)
		if root >= 0 {
			text += fmt.Sprint(", root ", root)
		}
		return text
	}}
}

// What a rank tells the others while they agree.
const (
	sharedRows = iota // how many rows it has
	sharedOut         // one more than the number of elements that its output holds, 0 without one
	sharedKnow        // 1 if it says how many rows must come
	sharedTies        // what shows whether that is how many do: see ties
)

// In scatterv, where only root knows the type of the rows, the third is the type of the output.
const sharedType = sharedKnow

// offer is what a rank with this value and output shares.
func offer(value, out *Array) (s Shared) {
	s[sharedRows], _ = value.rows()
	if out != nil {
		s[sharedOut] = int64(out.Count) + 1
	}
	return s
}

// checkOffer is what a rank can say of its value and output before it knows how long the result is.
func checkOffer(value, out *Array) error {
	if err := checkArray("value", value); err != nil || out == nil {
		return err
	}
	return checkOutput(out.Span, value.Span, out.Count)
}

// settle returns mine on a rank that has an error, and another's elsewhere, where all ranks know that one may have.
// Collective.
func (c *Comm) settle(op string, mine error) error { return c.Agree(Call{Op: op}, mine) }

// checkOuts refuses outputs that are not as long as the results: of count(r) elements on rank r. Collective where one is
// refused.
func (c *Comm) checkOuts(op string, all []Shared, count func(rank int) int64) error {
	var mine error
	agreed := true
	for rank, s := range all {
		want, has := count(rank), s[sharedOut]-1
		if has < 0 || has == want {
			continue
		}
		agreed = false
		if rank == c.Rank() {
			mine = status.New(status.InvalidArgument, "out has %d elements where the result has %d", has, want)
		}
	}
	if agreed {
		return nil
	}
	return c.settle(op, mine)
}

// tie is a number that stands for n rows from one rank to another: with other rows, in all likelihood, it is another.
func tie(from, to int, n int64) int64 {
	const k = 0x9e3779b97f4a7c15
	hi, lo := bits.Mul64(uint64(from)*k^uint64(n)+0xa0761d6478bd642f, uint64(to)*k+0xe7037ed1a0b428db)
	hi, lo = bits.Mul64(hi^lo^uint64(n)*k, 0x8ebc6af09c88c6e3)
	return int64(hi ^ lo)
}

// checkLengths refuses counts that are not one a rank, or negative.
func (c *Comm) checkLengths(name string, counts []int64) error {
	return checkEach(name, counts, c.Size(), "ranks")
}

// checkEach refuses counts that are not one for each of n things, or negative.
func checkEach(name string, counts []int64, n int, things string) error {
	if len(counts) != n {
		return status.New(status.InvalidArgument, "%s has %d entries for %d %s", name, len(counts), n, things)
	}
	for _, n := range counts {
		if n < 0 {
			return status.New(status.InvalidArgument, "%s %v has a negative entry", name, counts)
		}
	}
	return nil
}

// checkCounts refuses counts that are not one a rank, negative, or not value's rows in all.
func (c *Comm) checkCounts(name string, value *Array, counts []int64) error {
	if err := c.checkLengths(name, counts); err != nil {
		return err
	}
	return checkSum(name, value, counts)
}

// checkSum refuses counts that are not value's rows in all.
func checkSum(name string, value *Array, counts []int64) error {
	left, _ := value.rows()
	rows := left
	for _, n := range counts {
		if left -= n; left < 0 {
			break
		}
	}
	if left != 0 {
		return status.New(status.InvalidArgument, "%s %v do not add up to the %d rows", name, counts, rows)
	}
	return nil
}

// sum adds counts up, none of them negative, as far as an int64 goes.
func sum(counts []int64) (total int64) {
	for _, n := range counts {
		if total += n; total < 0 {
			return math.MaxInt64
		}
	}
	return total
}
