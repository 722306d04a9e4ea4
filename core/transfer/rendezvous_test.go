package transfer_test

import (
	"math/rand/v2"
	"testing"

	"dtl/backends/cpu"
	"dtl/core/backend"
	"dtl/core/memory"
	"dtl/core/partition"
	"dtl/core/transfer"
)

// rendezvous is a communicator whose sends are complete only when they are received, as MPI's long ones are: a
// receive tells the sender that it has started.
type rendezvous struct {
	backend.ReducingCommunicator
	started backend.ReducingCommunicator
}

func (c rendezvous) Dup() (backend.ReducingCommunicator, error) {
	d, err := c.ReducingCommunicator.Dup()
	if err != nil {
		return nil, err
	}
	started, err := c.started.Dup()
	return rendezvous{d, started}, err
}

func (c rendezvous) Irecv(buf memory.Span, source, tag int) (backend.Request, error) {
	r, err := c.ReducingCommunicator.Irecv(buf, source, tag)
	if err == nil {
		_, err = c.started.Isend(memory.Span{}, source, tag)
	}
	return r, err
}

func (c rendezvous) Isend(buf memory.Span, dest, tag int) (backend.Request, error) {
	if _, err := c.ReducingCommunicator.Isend(buf, dest, tag); err != nil {
		return nil, err
	}
	return c.started.Irecv(memory.Span{}, dest, tag)
}

// uneven gives ranks sizes that differ by much, some nothing, or deals out blocks of uneven lengths.
func uneven(t *testing.T, random *rand.Rand, n int64, ranks int) partition.Partition {
	t.Helper()
	if random.IntN(2) == 0 {
		p, err := partition.NewBlockCyclic(n, ranks, 1+random.Int64N(n/int64(ranks)))
		return onePart(t, p, err)
	}
	sizes, left := make([]int64, ranks), n
	for _, r := range random.Perm(ranks)[:1+random.IntN(ranks)] {
		sizes[r] = random.Int64N(left + 1)
		left -= sizes[r]
	}
	sizes[random.IntN(ranks)] += left
	p, err := partition.NewExplicit(sizes)
	return onePart(t, p, err)
}

// Ranks have from none to all of the elements, in messages of a few, so each waits for others most of the time.
func TestNobodyWaitsInACircle(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		ranks := cpu.Group(5)
		started := cpu.Group(5)
		for i := range ranks {
			ranks[i] = rendezvous{ranks[i], started[i]}
		}
		src, dst := layout(t, uneven(t, random, 3000, 5)), layout(t, uneven(t, random, 3000, 5))
		step := 1 + random.Int64N(2) // by 2 it is packed by the sender, too
		trial{
			src:  transfer.Side{Layout: src, Window: []transfer.Slice{{Start: 0, Step: step, Count: 3000 / step}}},
			dst:  transfer.Side{Layout: dst, Window: []transfer.Slice{{Start: 2999, Step: -1, Count: 3000 / step}}},
			item: 2, limit: 1 + random.Int64N(40), ranks: 5,
		}.on(t, ranks)
	}
}
