package rma_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/rma"
)

// model is what a rank knows of the words that are its own in every part, and how often it has counted in each.
type model struct {
	t       *testing.T
	w       *rma.Window
	random  *rand.Rand
	from    int64 // the offset of its words
	words   [][]int64
	counted []int64
}

const ownWords = 6

// step makes one access to a part that is locked.
func (m *model) step(target int64) {
	at, operand := m.random.IntN(ownWords), m.random.Int64()
	word, offset, old := &m.words[target][at], m.from+8*int64(at), []int64{0}
	into := memory.Of(dtype.Int64, old)
	var err error
	switch m.random.IntN(6) {
	case 0:
		err = m.w.Put(one(operand), target, offset)
		assert.NoError(m.t, m.w.Flush(target, true)) // the operand goes
		*word = operand
	case 1:
		err = m.w.Get(into, target, offset)
		assert.NoError(m.t, m.w.Flush(target, true))
		assert.Equal(m.t, *word, old[0])
	case 2:
		err = m.w.Accumulate(one(operand), target, offset, kernel.BXor)
		assert.NoError(m.t, m.w.Flush(target, true))
		*word ^= operand
	case 3:
		err = m.w.FetchAndOp(one(operand), into, target, offset, kernel.Sum)
		assert.Equal(m.t, *word, old[0])
		*word += operand
	case 4:
		expected := *word + int64(m.random.IntN(2))
		err = m.w.CompareAndSwap(one(expected), one(operand), into, target, offset)
		assert.Equal(m.t, *word, old[0])
		if expected == *word {
			*word = operand
		}
	default:
		err = m.w.FetchAndOp(one(1), into, target, m.w.Sizes()[target]-8, kernel.Sum)
		m.counted[target]++
	}
	assert.NoError(m.t, err)
	assert.NoError(m.t, m.w.Flush(target, false))
}

// TestAgainstAModel has the ranks make 10,000 random accesses in all, in epochs of all kinds.
func TestAgainstAModel(t *testing.T) {
	withWindow(t, 5*ownWords+1, func(c *comm.Comm, w *rma.Window) {
		n := c.Size()
		m := &model{t: t, w: w, random: rand.New(rand.NewPCG(uint64(c.Rank()), 7)), from: int64(8 * ownWords * c.Rank()),
			words: make([][]int64, n), counted: make([]int64, n)}
		for target := range n {
			m.words[target] = make([]int64, ownWords)
		}
		assert.NoError(t, w.Fence())
		for target := range n { // what the window before left there
			assert.NoError(t, w.Put(memory.Of(dtype.Int64, m.words[target]), int64(target), m.from))
		}
		assert.NoError(t, w.Fence())
		for round := 0; round < 10_000/n; round++ {
			target := int64(m.random.IntN(n))
			assert.NoError(t, w.Lock(target, m.random.IntN(2) == 0))
			m.step(target)
			assert.NoError(t, w.Unlock(target))
		}
		total := make([]int64, n)
		assert.NoError(t, c.Allreduce(memory.Of(dtype.Int64, m.counted), memory.Of(dtype.Int64, total), kernel.Sum))
		assert.NoError(t, w.Fence())
		for target := range n {
			got, count := make([]int64, ownWords), []int64{0}
			assert.NoError(t, w.Get(memory.Of(dtype.Int64, got), int64(target), m.from))
			assert.NoError(t, w.Get(memory.Of(dtype.Int64, count), int64(target), w.Sizes()[target]-8))
			assert.NoError(t, w.Flush(int64(target), false))
			assert.Equal(t, m.words[target], got)
			assert.Equal(t, total[target], count[0])
		}
		assert.NoError(t, w.Fence())
	})
}
