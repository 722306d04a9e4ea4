package transfer_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dtl/backends/cpu"
	"dtl/core/backend"
	"dtl/core/comm"
	"dtl/core/memory"
	"dtl/core/partition"
	"dtl/core/transfer"
)

// trial is a transfer, to be compared with a loop over the elements.
type trial struct {
	src, dst transfer.Side
	item     int
	pad      [2]int64 // on each side, elements of slack on both ends of each dimension but the first
	limit    int64
	ranks    int // of the communicator
}

// part is a rank's memory on one side, in elements of item bytes.
type part struct {
	storage *memory.Storage
	memory  transfer.Memory
	side    transfer.Side
	rank    int // of the layout; -1: none
	item    int
}

// untouched fills memory that nothing is moved to.
const untouched = 0xee

func newPart(t *testing.T, mem memory.Allocator, side transfer.Side, rank, item int, pad int64) *part {
	p := &part{side: side, rank: layoutRank(side, rank), item: item}
	if p.rank < 0 {
		return p
	}
	extents := side.Layout.LocalShape(p.rank)
	strides := make([]int64, len(extents))
	next, first := int64(item), int64(0)
	for d := len(extents) - 1; d >= 0; d-- {
		strides[d] = next
		if d > 0 {
			first += pad * next
			extents[d] += 2 * pad
		}
		next *= extents[d]
	}
	storage, err := memory.NewStorage(mem, int(next), 64)
	require.NoError(t, err)
	p.storage = storage
	copy(unsafe.Slice((*byte)(storage.Addr()), next), bytes.Repeat([]byte{untouched}, int(next)))
	p.memory = transfer.Memory{Addr: unsafe.Add(storage.Addr(), first), Strides: strides}
	return p
}

func (p *part) release() {
	if p.storage != nil {
		p.storage.Release()
	}
}

func layoutRank(s transfer.Side, rank int) int {
	if s.Ranks != nil {
		return slices.Index(s.Ranks, rank)
	}
	if rank < s.Layout.Ranks() {
		return rank
	}
	return -1
}

// at returns the bytes of the element with the given global index, or nil if the rank does not have it.
func (p *part) at(index []int64) []byte {
	if p.rank < 0 {
		return nil
	}
	offset := int64(0)
	for d, i := range index {
		q, c := p.side.Layout.Dim(d), p.side.Layout.Coordinate(p.rank, d)
		if !q.Holds(c, i) {
			return nil
		}
		offset += q.Before(c, i) * p.memory.Strides[d]
	}
	return unsafe.Slice((*byte)(unsafe.Add(p.memory.Addr, offset)), p.item)
}

// element writes an element that tells global index n of the source apart.
func element(b []byte, n int64) {
	var long [8]byte
	binary.LittleEndian.PutUint64(long[:], uint64(n)*0x9e3779b97f4a7c15+uint64(n))
	for i := range b {
		b[i] = long[i%8]
	}
}

// each calls f with every index of an n-d space, and its place in C order.
func each(shape []int64, f func(index []int64, place int64)) {
	index := make([]int64, len(shape))
	if slices.Contains(shape, 0) {
		return
	}
	for place := int64(0); ; place++ {
		f(index, place)
		d := len(shape) - 1
		for ; d >= 0; d-- {
			if index[d]++; index[d] < shape[d] {
				break
			}
			index[d] = 0
		}
		if d < 0 {
			return
		}
	}
}

func counts(s transfer.Side) []int64 {
	if s.Window == nil {
		return s.Layout.Shape()
	}
	n := make([]int64, len(s.Window))
	for d, w := range s.Window {
		n[d] = w.Count
	}
	return n
}

// through returns the global index that the window's index i stands for.
func through(s transfer.Side, i []int64) []int64 {
	if s.Window == nil {
		return i
	}
	g := make([]int64, len(i))
	for d, w := range s.Window {
		g[d] = w.Start + i[d]*w.Step
	}
	return g
}

func place(shape, index []int64) int64 {
	n := int64(0)
	for d, i := range index {
		n = n*shape[d] + i
	}
	return n
}

// fill writes every element of the source that the rank has.
func (p *part) fill() {
	each(p.side.Layout.Shape(), func(index []int64, place int64) {
		if b := p.at(index); b != nil {
			element(b, place)
		}
	})
}

// wrong says where the destination is not what a loop over the window's elements would make it, or "".
func (tr trial) wrong(dst *part) string {
	shape := tr.dst.Layout.Shape()
	want := make([]int64, tr.dst.Layout.GlobalSize()) // by place, 1 more than the place of the source
	each(counts(tr.dst), func(i []int64, _ int64) {
		want[place(shape, through(tr.dst, i))] = 1 + place(tr.src.Layout.Shape(), through(tr.src, i))
	})
	text := ""
	expect, nothing := make([]byte, tr.item), bytes.Repeat([]byte{untouched}, tr.item)
	each(shape, func(index []int64, place int64) {
		b := dst.at(index)
		if b == nil || text != "" {
			return
		}
		if n := want[place]; n > 0 {
			element(expect, n-1)
		} else {
			copy(expect, nothing)
		}
		if !slices.Equal(b, expect) {
			text = fmt.Sprintf("layout rank %d index %v: %x, want %x", dst.rank, index, b, expect)
		}
	})
	return text
}

// padding returns whether what lies between the elements is untouched.
func (p *part) padding() bool {
	if p.storage == nil || p.side.Layout.Dims() == 1 {
		return true
	}
	all := slices.Clone(unsafe.Slice((*byte)(p.storage.Addr()), p.storage.Size()))
	each(p.side.Layout.Shape(), func(index []int64, _ int64) {
		if b := p.at(index); b != nil {
			from := uintptr(unsafe.Pointer(&b[0])) - uintptr(p.storage.Addr())
			for i := range p.item {
				all[int(from)+i] = untouched
			}
		}
	})
	return !slices.ContainsFunc(all, func(b byte) bool { return b != untouched })
}

// run executes the trial on every rank and compares.
func (tr trial) run(t *testing.T) {
	t.Helper()
	tr.on(t, cpu.Group(tr.ranks))
}

func (tr trial) on(t *testing.T, ranks []backend.ReducingCommunicator) {
	t.Helper()
	onRanks(t, ranks, func(c *comm.Comm, mem backend.MemorySpace) {
		plan, err := transfer.New(tr.src, tr.dst, tr.item)
		if !assert.NoError(t, err) {
			return
		}
		src := newPart(t, mem, tr.src, c.Rank(), tr.item, tr.pad[0])
		dst := newPart(t, mem, tr.dst, c.Rank(), tr.item, tr.pad[1])
		defer src.release()
		defer dst.release()
		src.fill()
		if assert.NoError(t, plan.Execute(c, src.memory, dst.memory, tr.limit)) {
			if text := tr.wrong(dst); text != "" {
				t.Errorf("%+v: %s", tr, text)
			}
			assert.True(t, dst.padding(), "%+v: padding written", tr)
		}
	})
}

func onePart(t *testing.T, p partition.Partition, err error) partition.Partition {
	t.Helper()
	require.NoError(t, err)
	return p
}

func layout(t *testing.T, dims ...partition.Partition) partition.Layout {
	t.Helper()
	l, err := partition.NewLayout(dims...)
	require.NoError(t, err)
	return l
}
