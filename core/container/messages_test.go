package container_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"dtl/backends/cpu"
	"dtl/core/backend"
	"dtl/core/backend/backendtest"
	"dtl/core/comm"
	"dtl/core/container"
	"dtl/core/memory"
	"dtl/core/runtime"
)

// counted counts the messages that all ranks send.
type counted struct {
	backend.ReducingCommunicator
	sent *atomic.Int64
}

func (c counted) Dup() (backend.ReducingCommunicator, error) {
	d, err := c.ReducingCommunicator.Dup()
	return counted{d, c.sent}, err
}

func (c counted) Isend(buf memory.Span, dest, tag int) (backend.Request, error) {
	c.sent.Add(1)
	return c.ReducingCommunicator.Isend(buf, dest, tag)
}

func (c counted) SendFor(buf memory.Span, dest, tag int, patience time.Duration) (backend.Request, error) {
	c.sent.Add(1)
	return c.ReducingCommunicator.SendFor(buf, dest, tag, patience)
}

func (c counted) Exchange(send, recv []memory.Span, tag int) error {
	for to, part := range send {
		if to != c.Rank() && part.Bytes() > 0 {
			c.sent.Add(1)
		}
	}
	return c.ReducingCommunicator.Exchange(send, recv, tag)
}

// TestManyElementsAMessage counts messages: some for each pair of ranks and batch, never one an element.
func TestManyElementsAMessage(t *testing.T) {
	const ranks, size, count = 3, 10_000, 100_000
	const pairs, batches = ranks * (ranks - 1), 2
	index := make([]int64, count)
	for i := range index {
		index[i] = int64(i*7919) % size
	}
	for _, d := range divisions(size, ranks) {
		counting(t, ranks, func(on *runtime.Context, few func(what string, most int64, call func() error)) {
			v := made(t, on, size, d)
			fillTens(t, v)
			few("take", pairs*batches, func() error { return drop(container.Take(v, list(index...))) })
			few("get", 2*pairs*batches, func() error { return drop(container.Get(v, list(index...), nil)) })
			few("set", 2*pairs*batches, func() error { return container.Set(v, list(index...), list(index...)) })
			few("give", 0, func() error { return container.Give(v, list(index...), list(index...)) })
			few("redistribute", pairs, func() error { return v.Redistribute(container.Division{}, 0) })
			assert.NoError(t, v.Close())
		})
	}
}

// drop releases a result.
func drop(r comm.Result, err error) error {
	if err == nil {
		r.Storage.Release()
	}
	return err
}

// counting runs body as each of n ranks, with what checks how many messages a collective call takes.
func counting(t *testing.T, n int, body func(on *runtime.Context, few func(what string, most int64, call func() error))) {
	sent := &atomic.Int64{}
	group := cpu.Group(n)
	for i, r := range group {
		group[i] = counted{r, sent}
	}
	backendtest.OnRanks(t, group, func(main backend.ReducingCommunicator, mem backend.MemorySpace) {
		on, err := runtime.New(backend.Local, main, mem, runtime.NoDevice)
		if !assert.NoError(t, err) {
			return
		}
		body(on, func(what string, most int64, call func() error) {
			assert.NoError(t, main.Barrier())
			before := sent.Load()
			assert.NoError(t, main.Barrier())
			assert.NoError(t, call())
			assert.NoError(t, main.Barrier())
			assert.LessOrEqual(t, sent.Load()-before, most, what)
			assert.NoError(t, main.Barrier())
		})
		assert.NoError(t, on.Close())
	})
}
