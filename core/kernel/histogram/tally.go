package histogram

import (
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
)

// Tally counts how often each number from the lowest on occurs, in a table that grows with them.
type Tally struct {
	Counts []int64   // of numbers, or
	Sums   []float64 // of their weights
	lowest int64     // the number of the table's first row
	limit  int64     // the most rows that the table may grow to
	top    int64     // one more than the row of the greatest number that has a weight
}

// NewTally returns an empty tally of numbers from the lowest on, of at most so many rows.
func NewTally(weighted bool, lowest, limit int64) *Tally {
	t := &Tally{lowest: lowest, limit: limit}
	if weighted {
		t.Sums = make([]float64, tallyStart)
	} else {
		t.Counts = make([]int64, tallyStart)
	}
	return t
}

// tallyStart is the first length of a table.
const tallyStart = counterSize

// Countable says why elements of a type cannot be counted; nil if they are integers that int64 can hold.
func Countable(t dtype.Type) error {
	if tallies[t] == nil {
		return status.New(status.InvalidType,
			"Cannot cast array data from dtype('%s') to dtype('int64') according to the rule 'safe'", t)
	}
	return nil
}

// Add counts the elements, with a weight each, float64, where the tally is of weights. Numbers below the lowest are an error, and so
// are types that are no integers.
func (t *Tally) Add(run, weights memory.Span) error {
	if err := Countable(run.Type); err != nil {
		return err
	}
	var w []float64
	if t.Sums != nil {
		w = memory.As[float64](weights)[:run.Count]
	}
	return tallies[run.Type](t, run, w)
}

// fit makes room for a number that is outside the table.
func (t *Tally) fit(number int64) error {
	if number < t.lowest {
		return status.New(status.InvalidArgument, "'list' argument must have no negative elements")
	}
	row := number - t.lowest
	if row < 0 || row >= t.limit {
		return status.New(status.OutOfMemory, "a table up to the element %d has no room: the limit is %d", number, t.limit)
	}
	if n := int64(len(t.Sums)); n > 0 {
		t.Sums = append(t.Sums, make([]float64, max(row+1, 2*n)-n)...)
	}
	if n := int64(len(t.Counts)); n > 0 {
		t.Counts = append(t.Counts, make([]int64, max(row+1, 2*n)-n)...)
	}
	return nil
}

// row returns where a number is counted: outside the table if there is no room for it.
func row[T kernel.Integer](t *Tally, v T) uint64 { return uint64(int64(v) - t.lowest) }

// Empty returns a tally that counts as this one does, and has counted nothing.
func (t *Tally) Empty() *Tally { return NewTally(false, t.lowest, t.limit) }

// Merge adds what another tally has counted.
func (t *Tally) Merge(other *Tally) {
	if n := len(other.Counts) - len(t.Counts); n > 0 {
		t.Counts = append(t.Counts, make([]int64, n)...)
	}
	for i, n := range other.Counts {
		t.Counts[i] += n
	}
}

// Length returns one more than the row of the greatest number that was counted, or 0.
func (t *Tally) Length() int64 {
	if t.Sums != nil {
		return t.top
	}
	n := len(t.Counts)
	for n > 0 && t.Counts[n-1] == 0 {
		n--
	}
	return int64(n)
}

var tallies = [dtype.N]func(t *Tally, run memory.Span, w []float64) error{
	dtype.Int64:      tally[int64],
	dtype.Int32:      tally[int32],
	dtype.Int16:      tally[int16],
	dtype.Int8:       tally[int8],
	dtype.Uint32:     tally[uint32],
	dtype.Uint16:     tally[uint16],
	dtype.Uint8:      tally[uint8],
	dtype.Bool:       tally[uint8],
	dtype.Uint64:     nil,
	dtype.Float64:    nil,
	dtype.Float32:    nil,
	dtype.Complex64:  nil,
	dtype.Complex128: nil,
}

func tally[T kernel.Integer](t *Tally, run memory.Span, w []float64) error {
	x := memory.As[T](run)
	if w == nil {
		return tallyAll(t, x)
	}
	for i, v := range x {
		if row(t, v) >= uint64(len(t.Sums)) {
			if err := t.fit(int64(v)); err != nil {
				return err
			}
		}
		t.Sums[row(t, v)] += w[i]
		t.top = max(t.top, int64(row(t, v))+1)
	}
	return nil
}

func tallyAll[T kernel.Integer](t *Tally, x []T) error {
	for n := len(t.Counts); n <= fewValues && len(x) > 4*n; n = len(t.Counts) {
		quarter := len(x) / 4
		i := tallyLanes(t.Counts, x, t.lowest)
		if i == quarter {
			x = x[4*quarter:]
			break
		}
		for k := range 4 { // one of these is outside the table
			if v := x[k*quarter+i]; row(t, v) >= uint64(len(t.Counts)) {
				if err := t.fit(int64(v)); err != nil {
					return err
				}
			}
		}
		for k := range 3 {
			if err := tallyAll(t, x[k*quarter+i:(k+1)*quarter]); err != nil {
				return err
			}
		}
		x = x[3*quarter+i:]
	}
	for _, v := range x {
		if row(t, v) >= uint64(len(t.Counts)) {
			if err := t.fit(int64(v)); err != nil {
				return err
			}
		}
		t.Counts[row(t, v)]++
	}
	return nil
}

// tallyLanes counts four quarters of the elements side by side, each in a table of its own, because to count the same
// number twice in a row takes longer. It stops before one that is outside the table, and returns how many of each quarter
// it has counted.
func tallyLanes[T kernel.Integer](counts []int64, x []T, lowest int64) int {
	n, quarter, i := len(counts), len(x)/4, 0
	if n == counterSize {
		l := new(counters)
		i = countSideBySide(l, x, lowest, 0)
		l.addTo(counts)
		return i
	}
	tables := make([]int64, 3*n)
	s, t, u := tables[:n], tables[n:2*n], tables[2*n:]
	q, r, v, w := x[:quarter], x[quarter:2*quarter], x[2*quarter:3*quarter], x[3*quarter:4*quarter]
	for ; i < len(q) && i < len(r) && i < len(v) && i < len(w); i++ {
		a, b, c, d := uint64(int64(q[i])-lowest), uint64(int64(r[i])-lowest), uint64(int64(v[i])-lowest), uint64(int64(w[i])-lowest)
		if a >= uint64(len(counts)) || b >= uint64(len(s)) || c >= uint64(len(t)) || d >= uint64(len(u)) {
			break
		}
		counts[a]++
		s[b]++
		t[c]++
		u[d]++
	}
	for k := range counts {
		counts[k] += s[k] + t[k] + u[k]
	}
	return i
}
