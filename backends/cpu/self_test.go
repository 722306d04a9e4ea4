package cpu

import (
	"errors"
	"strings"
	"testing"
	"time"

	"dtl/core/backend"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
)

// TestAloneNeverWaits covers what would wait for ever on one rank.
func TestAloneNeverWaits(t *testing.T) {
	buf := memory.Of(dtype.Int64, make([]int64, 1))
	for _, row := range []struct {
		name string
		call func(c backend.ReducingCommunicator) error
		text string
	}{
		{"recv", func(c backend.ReducingCommunicator) error {
			_, _, err := c.RecvFor(buf, 0, 7, time.Second)
			return err
		}, "rank 0 with tag 7"},
		{"recv from any", func(c backend.ReducingCommunicator) error {
			_, _, err := c.RecvFor(buf, backend.AnySource, backend.AnyTag, 0)
			return err
		}, "rank any with tag any"},
		{"wait twice", func(c backend.ReducingCommunicator) error {
			req, err := c.Irecv(buf, 0, 7)
			if err != nil {
				return err
			}
			_, first := req.Wait()
			if _, second := req.Wait(); second != first {
				t.Errorf("second wait: %v", second)
			}
			return first
		}, "rank 0 with tag 7"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := Group(1)[0]
			err := row.call(c)
			if !errors.Is(err, status.Communication) || !strings.Contains(err.Error(), row.text) ||
				!strings.Contains(err.Error(), "one rank") {
				t.Errorf("%v: want a communication error that says %q", err, row.text)
			}
			sendToSelf(t, c) // what was given up takes no later message
		})
	}
}

// sendToSelf sends before it receives.
func sendToSelf(t *testing.T, c backend.ReducingCommunicator) {
	t.Helper()
	sent, got := []int64{42}, []int64{0}
	if _, err := c.SendFor(memory.Of(dtype.Int64, sent), 0, 7, 0); err != nil {
		t.Fatal(err)
	}
	sent[0] = 0 // the buffer is the sender's again
	s, _, err := c.RecvFor(memory.Of(dtype.Int64, got), 0, 7, 0)
	if err != nil || got[0] != 42 || s != (backend.Status{Source: 0, Tag: 7, Bytes: 8}) {
		t.Errorf("%v, %+v, %v", got, s, err)
	}
}

func TestBlockingSendsNeverWait(t *testing.T) {
	c := Group(3)[1]
	big := memory.Of(dtype.Float64, make([]float64, 1<<20))
	for dest := range 3 {
		if r, err := c.SendFor(big, dest, 0, 0); r != nil || err != nil {
			t.Error(r, err)
		}
	}
}

// TestLongMessagesAreErrors: what callers must not do is noticed here.
func TestLongMessagesAreErrors(t *testing.T) {
	c := Group(1)[0]
	if _, err := c.SendFor(memory.Of(dtype.Int64, make([]int64, 3)), 0, 5, 0); err != nil {
		t.Fatal(err)
	}
	_, _, err := c.RecvFor(memory.Of(dtype.Int64, make([]int64, 2)), 0, 5, 0)
	if !errors.Is(err, status.Communication) || !strings.Contains(err.Error(), "truncated") {
		t.Errorf("%v, want a communication error about truncation", err)
	}
}

// TestDisagreement has ranks call collectives that do not fit together: all get the error, and go on.
func TestDisagreement(t *testing.T) {
	for _, row := range []struct {
		name string
		call func(c backend.ReducingCommunicator, buf, out memory.Span) error
		text string
	}{
		{"root", func(c backend.ReducingCommunicator, buf, out memory.Span) error { return c.Broadcast(buf, c.Rank()/2) }, "root 1"},
		{"count", func(c backend.ReducingCommunicator, buf, out memory.Span) error {
			return c.Allreduce(buf.Slice(0, 2+c.Rank()/2), out.Slice(0, 2+c.Rank()/2), kernel.Sum)
		}, "3 elements"},
		{"op", func(c backend.ReducingCommunicator, buf, out memory.Span) error {
			return c.Allreduce(buf, out, kernel.Op(c.Rank()/2))
		}, "PROD"},
		{"another collective", func(c backend.ReducingCommunicator, buf, out memory.Span) error {
			if c.Rank() == 2 {
				return c.Barrier()
			}
			return c.Allgather(buf, out)
		}, "rank 2 called Barrier"},
	} {
		t.Run(row.name, func(t *testing.T) {
			ranks(3)(t, func(t *testing.T, c backend.ReducingCommunicator) {
				buf, out := memory.Of(dtype.Int32, make([]int32, 4)), memory.Of(dtype.Int32, make([]int32, 12))
				if row.name != "another collective" {
					out = out.Slice(0, 4)
				}
				err := row.call(c, buf, out)
				if !errors.Is(err, status.Communication) || !strings.Contains(err.Error(), row.text) {
					t.Errorf("rank %d: %v: want a communication error that says %q", c.Rank(), err, row.text)
				}
				if err := c.Allreduce(buf, out.Slice(0, 4), kernel.Sum); err != nil {
					t.Errorf("rank %d: afterwards: %v", c.Rank(), err)
				}
			})
		})
	}
}

// TestReductionOrder checks that floating-point sums are those of the ranks in order, bit by bit.
func TestReductionOrder(t *testing.T) {
	values := []float64{1e16, 1, -1e16, 1, 3.7, 1e-9, 0.1}
	var want float64
	for _, v := range values {
		want += v
	}
	ranks(len(values))(t, func(t *testing.T, c backend.ReducingCommunicator) {
		send, recv := []float64{values[c.Rank()]}, []float64{0}
		if err := c.Allreduce(memory.Of(dtype.Float64, send), memory.Of(dtype.Float64, recv), kernel.Sum); err != nil || recv[0] != want {
			t.Errorf("rank %d: %v, want %v; %v", c.Rank(), recv[0], want, err)
		}
	})
}

func TestSelfCollectivesAllocateNothing(t *testing.T) {
	c := Group(1)[0]
	send, recv := memory.Of(dtype.Float64, []float64{1}), memory.Of(dtype.Float64, []float64{0})
	if n := testing.AllocsPerRun(100, func() {
		for _, err := range []error{
			c.Allreduce(send, recv, kernel.Sum), c.Reduce(send, recv, kernel.Sum, 0), c.Broadcast(recv, 0),
			c.Gather(send, recv, 0), c.Scatter(send, recv, 0), c.Allgather(send, recv), c.Alltoall(send, recv), c.Barrier(),
			c.Scan(send, recv, kernel.Sum), c.Exscan(send, recv, kernel.Sum), c.ReduceScatter(send, recv, kernel.LOr),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkSelfAllreduce(b *testing.B) {
	c := Group(1)[0]
	send, recv := memory.Of(dtype.Float64, []float64{1}), memory.Of(dtype.Float64, []float64{0})
	for b.Loop() {
		if err := c.Allreduce(send, recv, kernel.Sum); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSelfBroadcast(b *testing.B) {
	c := Group(1)[0]
	buf := memory.Of(dtype.Float64, []float64{1})
	for b.Loop() {
		if err := c.Broadcast(buf, 0); err != nil {
			b.Fatal(err)
		}
	}
}
