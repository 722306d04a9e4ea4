package hashmap

import (
	"unsafe"

	"dtl/core/comm"
	"dtl/core/memory"
	"dtl/core/status"
)

// entriesHead is how many bytes come before the keys of entries: their number and where the values start, as int64, and
// padding.
const entriesHead = memory.Alignment

// valuesAt returns where the values of n entries start: the next cache line after the keys.
func (m *Map) valuesAt(n int) int { return entriesHead + lines(n*m.key.Bytes) }

func lines(bytes int) int { return (bytes + memory.Alignment - 1) &^ (memory.Alignment - 1) }

// LocalEntries returns a copy of this rank's entries as bytes: two int64, which are the number of entries and where the
// values start, from byte 64 on the keys side by side, and then the values in the same order. The order is the table's: the same
// calls on as many ranks give the same. Not collective.
func (m *Map) LocalEntries() (comm.Result, error) {
	const op = "to_numpy"
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.table == nil {
		return comm.Result{}, status.In(op, status.New(status.InvalidHandle, "the map is closed"))
	}
	n := m.table.Len()
	r, err := m.newEntries(m.context.Memory(), n)
	if err != nil {
		return r, status.In(op, err)
	}
	err = m.copyEntries(unsafe.Add(r.Addr, entriesHead), r.Slice(m.valuesAt(n), r.Count))
	if err != nil {
		r.Storage.Release()
		return comm.Result{}, status.In(op, err)
	}
	return r, nil
}

func (m *Map) newEntries(from memory.Allocator, n int) (comm.Result, error) {
	bytes := m.valuesAt(n) + n*m.value.Size()
	storage, err := memory.NewStorage(from, bytes, memory.Alignment)
	if err != nil {
		return comm.Result{}, err
	}
	*(*[2]int64)(storage.Addr()) = [2]int64{int64(n), int64(m.valuesAt(n))}
	return comm.Result{Array: comm.Array{Span: bytesOf(storage.Addr(), bytes), Shape: []int64{int64(bytes)}}, Storage: storage}, nil
}

// LocalValues returns a copy of this rank's values on their device, in the order of LocalEntries. Not collective.
func (m *Map) LocalValues() (comm.Result, error) {
	const op = "local_view"
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.table == nil {
		return comm.Result{}, status.In(op, status.New(status.InvalidHandle, "the map is closed"))
	}
	if m.cells == nil {
		return comm.Result{}, status.In(op, status.New(status.Unsupported, "the values are on the host"))
	}
	n := m.table.Len()
	storage, err := memory.NewScratch(m.cells.space, n*m.value.Size(), memory.Alignment)
	if err != nil {
		return comm.Result{}, status.In(op, err)
	}
	span := memory.Span{Addr: storage.Addr(), Count: n, Type: m.value, Place: storage.Place()}
	keys, err := memory.NewScratch(m.context.Memory(), n*m.key.Bytes, memory.Alignment)
	if err == nil {
		defer keys.Release()
		err = m.copyEntries(keys.Addr(), span)
	}
	if err != nil {
		storage.Release()
		return comm.Result{}, status.In(op, err)
	}
	return comm.Result{Array: comm.Array{Span: span, Shape: []int64{int64(n)}}, Strides: []int64{int64(m.value.Size())},
		Storage: storage, Queue: m.cells.queue}, nil
}

// GlobalEntries returns what LocalEntries does of all ranks, in rank order, on every rank. Collective.
func (m *Map) GlobalEntries() (comm.Result, error) {
	const op = "global_view"
	m.mu.Lock()
	defer m.mu.Unlock()
	sizes, err := m.sizes(op)
	if err != nil {
		return comm.Result{}, err
	}
	c, err := m.open()
	if err != nil {
		return comm.Result{}, status.In(op, err)
	}
	total, before := 0, 0
	for rank, n := range sizes {
		if rank < c.Rank() {
			before += int(n[0])
		}
		total += int(n[0])
	}
	r, err := m.withOwn(c, op, total, before)
	if err != nil {
		return comm.Result{}, err
	}
	keys, values := r.Slice(entriesHead, m.valuesAt(total)), r.Slice(m.valuesAt(total), r.Count)
	width, size := m.key.Bytes, m.value.Size()
	err = allgatherv(c, keys, sizes, width)
	if err == nil {
		err = allgatherv(c, values, sizes, size)
	}
	if err != nil {
		r.Storage.Release()
		return comm.Result{}, status.In(op, err)
	}
	return r, nil
}

// withOwn returns memory for so many entries, with this rank's at their place. Collective.
func (m *Map) withOwn(c *comm.Comm, op string, total, before int) (comm.Result, error) {
	r, mine := m.newEntries(c.Memory(), total)
	allocated := mine == nil
	if allocated {
		size := m.value.Size()
		values := r.Slice(m.valuesAt(total), r.Count).Slice(before*size, (before+m.table.Len())*size)
		mine = m.copyEntries(unsafe.Add(r.Addr, entriesHead+before*m.key.Bytes), values)
	}
	err := c.Agree(m.call(op), mine)
	if err != nil && allocated {
		r.Storage.Release()
	}
	return r, err
}

// allgatherv sends this rank's part of all to every rank, and receives theirs. Elements have width bytes.
func allgatherv(c *comm.Comm, all memory.Span, sizes []comm.Shared, width int) error {
	parts := make([]memory.Span, c.Size())
	at := 0
	for rank, n := range sizes {
		parts[rank] = all.Slice(at, at+int(n[0])*width)
		at += int(n[0]) * width
	}
	mine := make([]memory.Span, c.Size())
	for rank := range mine {
		mine[rank] = parts[c.Rank()]
	}
	return c.Exchange(mine, parts)
}
