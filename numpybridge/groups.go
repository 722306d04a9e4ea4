package numpybridge

import (
	"unsafe"

	"dtl/core/algorithm"
	"dtl/core/dtype"
	"dtl/core/kernel/group"
	"dtl/core/memory"
	"dtl/core/status"
)

// numberKeys writes to the first buffer, of int64, the numbers of the values of a column, as group.Number does; args[0] is how many bytes
// one has, args[1] how many rows are numbered, and args[2] the number of threads. The column's arrays follow. The result is the rows in
// which values are met first.
func numberKeys(c *Call) error {
	borrowed := c.buffers()
	codes := memory.As[int64](borrowed.next(dtype.Int64))
	size, known := c.Args[0], c.Args[1]
	column, err := borrowed.column(int(size))
	if err != nil {
		return err
	}
	if size != 0 && size != 4 && size != 8 || known < 0 || known > int64(len(codes)) || column.Rows() != len(codes) {
		return status.New(status.Internal, "%d of %d rows of %d are numbered by %d bytes", known, column.Rows(), len(codes), size)
	}
	rows := algorithm.NumberKeys(codes, column, int(size), int(known), c.Args[2])
	return c.answer([]int64{int64(len(rows))}, rows...)
}

// renumberKeys replaces the numbers in the first buffer by those that stand in their places in the second, as group.Renumber does; args[0]
// is the number of threads.
func renumberKeys(c *Call) error {
	borrowed := c.buffers()
	codes, places := memory.As[int64](borrowed.next(dtype.Int64)), memory.As[int64](borrowed.next(dtype.Int64))
	if len(places) == 0 {
		return status.New(status.Internal, "no places for %d numbers", len(codes))
	}
	algorithm.RenumberKeys(codes, places, c.Args[0])
	return nil
}

// foldGroups writes to the first buffer what the fold args[0] makes of values of the type args[1], as group.Fold.Make does; args[2] is the
// type that it makes, and args[3] the number of threads. The second has the groups of rows, the third what Squares counts from, and the
// column's arrays follow.
func foldGroups(c *Call) error {
	r, err := c.foldedRows()
	if err != nil {
		return err
	}
	return algorithm.FoldGroups(r.fold, r.out, r.about, r.codes, r.column, r.of, c.Args[3])
}

// addToGroups adds to what foldGroups has written to the first buffer further rows, on this thread; all else is as there.
func addToGroups(c *Call) error {
	r, err := c.foldedRows()
	if err != nil {
		return err
	}
	return algorithm.AddToGroups(r.fold, r.out, r.about, r.codes, r.column, r.of)
}

// foldedRows are what a fold of groups is made of, and where it goes.
type foldedRows struct {
	fold   group.Fold
	out    memory.Span
	about  []float64
	codes  []int64
	column group.Column
	of     dtype.Type
}

// foldedRows returns what foldGroups is given.
func (c *Call) foldedRows() (r foldedRows, err error) {
	r.fold, r.of = group.Fold(c.Args[0]), dtype.Type(c.Args[1])
	makes := dtype.Type(c.Args[2])
	if !r.of.Valid() || !makes.Valid() {
		return r, status.New(status.Internal, "no element types have the numbers %d and %d", c.Args[1], c.Args[2])
	}
	borrowed := c.buffers()
	r.out, r.codes = borrowed.next(makes), memory.As[int64](borrowed.next(dtype.Int64))
	r.about = memory.As[float64](borrowed.next(dtype.Float64))
	size := r.of.Size()
	if r.fold == group.Count {
		size = -1 // the values are not looked at
	}
	r.column, err = borrowed.column(size)
	return r, err
}

// foldPairs writes to the first buffer how the values of two columns vary together in each group, as group.Pairs does; args[0] and args[1] are
// their types, args[2] is how many arrays the first has, and args[3] the number of threads. The second buffer has the groups of rows,
// and the columns' arrays follow.
func foldPairs(c *Call) error {
	types := [2]dtype.Type{dtype.Type(c.Args[0]), dtype.Type(c.Args[1])}
	if !types[0].Valid() || !types[1].Valid() {
		return status.New(status.Internal, "no element types have the numbers %d and %d", c.Args[0], c.Args[1])
	}
	borrowed := c.buffers()
	out, codes := memory.As[float64](borrowed.next(dtype.Float64)), memory.As[int64](borrowed.next(dtype.Int64))
	first, err := borrowed.arrays(c.Args[2])
	if err != nil {
		return err
	}
	x, err := first.column(types[0].Size())
	if err != nil {
		return err
	}
	y, err := borrowed.column(types[1].Size())
	if err != nil {
		return err
	}
	return algorithm.FoldPairs(out, codes, group.Values{Column: x, Type: types[0]}, group.Values{Column: y, Type: types[1]}, c.Args[3])
}

// numberInOrder writes to the first buffer, of int64, the numbers of the values in the third, of the type args[0], as group.NumberInOrder does;
// args[1] is the number of threads. The second, which has two words for each value, is written to as well: the rows, and behind the
// words of all of them the keys. The result is how many there are.
func numberInOrder(c *Call) error {
	borrowed := c.buffers()
	out, words, values, err := borrowed.grouped(dtype.Int64, dtype.Type(c.Args[0]))
	if err != nil {
		return err
	}
	n := values.Count
	if out.Count != n || len(words) != 2*n {
		return status.New(status.Internal, "%d numbers and %d words for %d values", out.Count, len(words), n)
	}
	keys := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(words))), 2*n)[n:]
	return c.answer(nil, int64(algorithm.NumberInOrder(memory.As[int64](out), words[:n], keys, values, c.Args[1])))
}

// orderGroups writes to the first buffer, of int64, the rows in the order of their groups and of their values, and behind them where each
// of args[0] groups ends, as group.Order does. The second buffer has the groups of rows, and the third their values, of the type args[1],
// if there are any; args[2] says whether they descend, and args[3] is the number of threads.
func orderGroups(c *Call) error {
	borrowed := c.buffers()
	out, codes, values, err := borrowed.grouped(dtype.Int64, dtype.Type(c.Args[1]))
	if err != nil {
		return err
	}
	rows := memory.As[int64](out)
	if c.Args[0] < 0 || int64(len(rows)) != int64(len(codes))+c.Args[0] || values.Count > 0 && values.Count != len(codes) {
		return status.New(status.Internal, "%d numbers for %d rows with %d values of %d groups", len(rows), len(codes), values.Count, c.Args[0])
	}
	algorithm.OrderGroups(rows[:len(codes)], rows[len(codes):], codes, values, c.Args[2] != 0, c.Args[3])
	return nil
}

// sortGroups writes to the first buffer values of the type args[1] in the order of their groups, of which there are args[0], and in their
// own, as group.Sort does. The second buffer has the groups of rows, and the third the values; args[2] is the number of threads.
func sortGroups(c *Call) error {
	borrowed := c.buffers()
	sorted, codes, values, err := borrowed.grouped(dtype.Type(c.Args[1]), dtype.Type(c.Args[1]))
	if err != nil {
		return err
	}
	if c.Args[0] < 0 || sorted.Count != len(codes) || values.Count != len(codes) || values.Type.Size() < 4 {
		return status.New(status.Internal, "%d rows with %d values of %s in %d groups", len(codes), values.Count, values.Type, c.Args[0])
	}
	algorithm.SortGroups(sorted, make([]int64, c.Args[0]), codes, values, c.Args[2])
	return nil
}

// topOfGroups writes to the first buffer, of int64, the args[0] foremost rows of each group, as group.Foremost does. The second buffer has
// the groups of rows, and the third their values, of the type args[1]; args[2] says whether they descend, and args[3] is the number of
// threads.
func topOfGroups(c *Call) error {
	borrowed := c.buffers()
	out, codes, values, err := borrowed.grouped(dtype.Int64, dtype.Type(c.Args[1]))
	if err != nil {
		return err
	}
	n := c.Args[0]
	if n < 1 || n > int64(out.Count) && out.Count > 0 || int64(out.Count)%n != 0 || values.Count != len(codes) {
		return status.New(status.Internal, "%d places for %d foremost of %d rows with %d values", out.Count, n, len(codes), values.Count)
	}
	algorithm.TopOfGroups(memory.As[int64](out), int(n), codes, values, c.Args[2] != 0, c.Args[3])
	return nil
}

// placesInGroups writes to the first buffer, of int64, how many rows of its group are before each, as group.Places does. The second has the
// rows in order, and behind them where each of args[0] groups ends; args[1] is the number of threads.
func placesInGroups(c *Call) error {
	borrowed := c.buffers()
	places, rows := memory.As[int64](borrowed.next(dtype.Int64)), memory.As[int64](borrowed.next(dtype.Int64))
	if c.Args[0] < 0 || int64(len(rows)) != int64(len(places))+c.Args[0] {
		return status.New(status.Internal, "%d numbers for %d rows of %d groups", len(rows), len(places), c.Args[0])
	}
	ends := rows[len(places):]
	for i, end := range ends {
		if end < 0 || end > int64(len(places)) || i > 0 && end < ends[i-1] || i == len(ends)-1 && end < int64(len(places)) {
			return status.New(status.Internal, "group %d ends at %d of %d rows", i, end, len(places))
		}
	}
	algorithm.PlacesInGroups(places, rows[:len(places)], ends, c.Args[1])
	return nil
}

// borrowed are the buffers of a call that are left, an address and a length in bytes for each, and its integers.
type borrowed struct{ words, numbers []int64 }

func (c *Call) buffers() *borrowed { return &borrowed{c.Lists[0], c.Lists[1]} }

// next returns the next buffer as elements of a type: none, if there is no further one.
func (b *borrowed) next(t dtype.Type) memory.Span {
	if len(b.words) < 2 {
		return memory.Span{Type: t}
	}
	at, n := uintptr(b.words[0]), int(b.words[1])
	b.words = b.words[2:]
	return memory.Span{Addr: *(*unsafe.Pointer)(unsafe.Pointer(&at)), Count: n / t.Size(), Type: t}
}

// grouped returns a buffer to write to, the groups of rows, and the values of rows, of types that have an order.
func (b *borrowed) grouped(makes, of dtype.Type) (out memory.Span, codes []int64, values memory.Span, err error) {
	if !of.Valid() || of.Size() > 8 {
		return out, nil, values, status.New(status.Internal, "no values in an order have the type %d", int64(of))
	}
	out, codes, values = b.next(makes), memory.As[int64](b.next(dtype.Int64)), b.next(of)
	return out, codes, values, nil
}

// arrays returns the next n arrays of Arrow's apart.
func (b *borrowed) arrays(n int64) (*borrowed, error) {
	const buffers, numbers = 3 * 2, 2 // an address and a length of each buffer
	if n < 0 || n > int64(len(b.numbers)/numbers) || n > int64(len(b.words)/buffers) {
		return nil, status.New(status.Internal, "%d arrays of %d numbers", n, len(b.numbers))
	}
	apart := &borrowed{b.words[:n*buffers], b.numbers[:n*numbers]}
	b.words, b.numbers = b.words[n*buffers:], b.numbers[n*numbers:]
	return apart, nil
}

// column returns the arrays of Arrow's that are left: each has three buffers, and two integers say from which row on it has how many. Values
// are of so many bytes; 0 stands for texts, and -1 for values that are not looked at.
func (b *borrowed) column(size int) (column group.Column, err error) {
	for ; len(b.numbers) >= 2; b.numbers = b.numbers[2:] {
		there, data, text := b.next(dtype.Uint8), b.next(dtype.Uint8), b.next(dtype.Uint8)
		first, rows := b.numbers[0], b.numbers[1]
		a := group.Array{
			Valid: there.Addr, Data: data.Addr, Text: text.Addr, Bytes: text.Count, Offset: int(first), Rows: int(rows),
		}
		const most = 1 << 48
		if first < 0 || rows < 0 || first > most || rows > most {
			return nil, status.New(status.Internal, "%d rows from %d on", rows, first)
		}
		end := int(first + rows)
		needed := max(size, 0) * end
		if size == 0 {
			needed = 4 * (end + 1)
		}
		if rows > 0 && needed > data.Count || there.Addr != nil && (end+7)/8 > there.Count {
			return nil, status.New(status.Internal, "buffers of %d and %d bytes have no %d rows", data.Count, there.Count, end)
		}
		column = append(column, a)
	}
	return column, nil
}
