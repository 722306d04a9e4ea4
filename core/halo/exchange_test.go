package halo

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"

	"dtl/backends/cpu"
	"dtl/core/backend"
	"dtl/core/backend/backendtest"
	"dtl/core/comm"
	"dtl/core/memory"
	"dtl/core/partition"
)

// TestWhatLiesSideBySideIsNotCopied looks at the messages of rank 1 of a row of three.
func TestWhatLiesSideBySideIsNotCopied(t *testing.T) {
	for _, row := range []struct {
		name    string
		shape   []int64 // of a part, along the divided dimension first
		margins []Margin
		copied  int // of two messages
	}{
		{"vector", []int64{10}, []Margin{{Before: 2, After: 2}}, 0},
		{"rows", []int64{10, 4}, []Margin{{Before: 2, After: 2}, {}}, 0},
		{"one row between ghosts", []int64{10, 4}, []Margin{{Before: 1, After: 1}, {After: 3}}, 0},
		{"two rows between ghosts", []int64{10, 4}, []Margin{{Before: 2, After: 2}, {After: 3}}, 2},
		{"vector over two parts", []int64{1}, []Margin{{Before: 1, After: 1, Mode: Wrap}}, 0},
		{"corners", []int64{10, 4}, []Margin{{Before: 1, After: 1}, {Before: 1, Mode: Wrap}}, 2},
	} {
		t.Run(row.name, func(t *testing.T) {
			dims := make([]partition.Partition, len(row.shape))
			for d, n := range row.shape {
				ranks := 1
				if d == 0 {
					n, ranks = 3*n, 3
				}
				dims[d], _ = partition.NewBlock(n, ranks)
			}
			layout, err := partition.NewLayout(dims...)
			assert.NoError(t, err)
			plan, err := NewPlan(layout, 1, row.margins)
			assert.NoError(t, err)
			e, low, high := exchange(t, plan, row.shape, row.margins)
			assert.Len(t, e.sends, 2)
			assert.Len(t, e.recvs, 2)
			for _, messages := range [][]message{e.sends, e.recvs} {
				copied := 0
				for _, m := range messages {
					inside := uintptr(m.span.Addr) >= low && uintptr(m.span.Addr) < high
					assert.Equal(t, inside, m.patches == nil)
					if !inside {
						copied++
					}
				}
				assert.Equal(t, row.copied, copied)
			}
		})
	}
}

// exchange makes one in memory of the part and its ghosts, and returns that memory's bounds.
func exchange(t *testing.T, plan *Plan, shape []int64, margins []Margin) (e *Exchange, low, high uintptr) {
	backendtest.OnRanks(t, cpu.Group(1), func(main backend.ReducingCommunicator, mem backend.MemorySpace) {
		over, err := comm.New(main, mem)
		assert.NoError(t, err)
		padded := make([]int64, len(shape))
		for d, n := range shape {
			padded[d] = n + margins[d].Before + margins[d].After
		}
		m := Memory{Item: 8}
		m.Strides = m.dense(padded)
		bytes := int(m.Strides[0] * padded[0])
		storage, err := memory.NewStorage(mem, bytes, memory.Alignment)
		assert.NoError(t, err)
		m.Addr = storage.Addr()
		for d := range margins {
			m.Addr = unsafe.Add(m.Addr, margins[d].Before*m.Strides[d])
		}
		e, err = NewExchange(over, plan, m)
		assert.NoError(t, err)
		low, high = uintptr(storage.Addr()), uintptr(storage.Addr())+uintptr(bytes)
		e.Release()
		storage.Release()
		assert.NoError(t, over.Close())
	})
	return e, low, high
}

// TestPlanHasTheFewestBoxes: ghosts of one part are one box, whatever their number.
func TestPlanHasTheFewestBoxes(t *testing.T) {
	p, err := partition.NewBlock(100, 4)
	assert.NoError(t, err)
	layout, err := partition.NewLayout(p)
	assert.NoError(t, err)
	plan, err := NewPlan(layout, 1, []Margin{{Before: 30, After: 7}})
	assert.NoError(t, err)
	assert.Equal(t, []Box{
		{Peer: 2, At: []int64{25}, Shape: []int64{7}},
		{Peer: 0, At: []int64{-25}, Shape: []int64{25}},
	}, plan.Recvs, "from the next rank around; of the five ghosts before the first element there are none")
	assert.Equal(t, []Box{
		{Peer: 2, At: []int64{0}, Shape: []int64{25}},
		{Peer: 3, At: []int64{20}, Shape: []int64{5}},
		{Peer: 0, At: []int64{0}, Shape: []int64{7}},
	}, plan.Sends)
	assert.Empty(t, plan.Copies)
}
