package comm_test

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/core/backend"
	"dtl/core/backend/backendtest"
	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/status"
)

// upTo5 runs a test on 1 to 5 ranks; with -short, on some of them.
func upTo5(t *testing.T, body func(c *comm.Comm)) {
	t.Helper()
	for _, n := range backendtest.Sizes(t, 5) {
		onRanks(t, n, body)
	}
}

func neighbours(c *comm.Comm) (next, previous int64) {
	n := c.Size()
	return int64((c.Rank() + 1) % n), int64((c.Rank() + n - 1) % n)
}

// done waits for a request and returns the elements of its result.
func done(t *testing.T, r *comm.Request) []float64 {
	t.Helper()
	result, err := r.Wait()
	assert.NoError(t, err)
	return elements(result)
}

func TestRequestsInARing(t *testing.T) {
	upTo5(t, func(c *comm.Comm) {
		next, previous := neighbours(c)
		var sent, received []*comm.Request
		for tag, count := range lengths {
			s, err := c.Isend(array(ramp(c.Rank(), count)), next, int64(tag))
			assert.NoError(t, err)
			r, err := c.Irecv(nil, comm.Expected{}, previous, int64(tag))
			assert.NoError(t, err)
			sent, received = append(sent, s), append(received, r)
		}
		for i := len(lengths) - 1; i >= 0; i-- { // in another order than they were started
			sameElements(t, ramp(int(previous), lengths[i]), done(t, received[i]))
			assert.Empty(t, done(t, sent[i]))
		}
		assert.Zero(t, c.Active())
	})
}

func TestRequestIntoAnOutput(t *testing.T) {
	upTo5(t, func(c *comm.Comm) {
		next, previous := neighbours(c)
		for _, count := range lengths {
			into := make([]float64, count)
			out := array(into)
			r, err := c.Irecv(&out, comm.Expected{}, previous, 0)
			assert.NoError(t, err)
			s, err := c.Isend(array(ramp(c.Rank(), count)), next, 0)
			assert.NoError(t, err)
			for !r.Test() {
			}
			assert.Empty(t, done(t, r))
			done(t, s)
			sameElements(t, ramp(int(previous), count), into)
		}
	})
}

// TestRequestThatDoesNotFit: the message stays for the next that asks.
func TestRequestThatDoesNotFit(t *testing.T) {
	for _, count := range lengths[1:] {
		onRanks(t, 2, func(c *comm.Comm) {
			if c.Rank() == 0 {
				assert.NoError(t, c.Send(array(ramp(0, count)), 1, 5))
				return
			}
			for range 2 { // from the backend, and the unexpected-message queue
				r, err := c.Irecv(nil, comm.Expected{Type: dtype.Int64}, 0, 5)
				assert.NoError(t, err)
				_, err = r.Wait()
				assert.ErrorIs(t, err, status.InvalidArgument)
				assert.ErrorContains(t, err, "irecv: dtype int64 was asked for, but the message has")
			}
			out := array(make([]float64, count+1))
			r, err := c.Irecv(&out, comm.Expected{}, backend.AnySource, backend.AnyTag)
			assert.NoError(t, err)
			_, err = r.Wait()
			assert.ErrorContains(t, err, "out holds")
			r, err = c.Irecv(nil, comm.Expected{Type: dtype.Float64, Count: int64(count)}, 0, 5)
			assert.NoError(t, err)
			sameElements(t, ramp(0, count), done(t, r))
		})
	}
}

func TestRequestsOfNobody(t *testing.T) {
	upTo5(t, func(c *comm.Comm) {
		s, err := c.Isend(array(ramp(0, 3)), backend.ProcNull, 0)
		assert.NoError(t, err)
		r, err := c.Irecv(nil, comm.Expected{}, backend.ProcNull, 0)
		assert.NoError(t, err)
		assert.True(t, s.Test() && r.Test())
		assert.Empty(t, done(t, s))
		assert.Empty(t, done(t, r))
		_, err = r.Wait()
		assert.ErrorIs(t, err, status.InvalidArgument, "what came is handed over once")
	})
}

func TestRequestsThatAreRefused(t *testing.T) {
	upTo5(t, func(c *comm.Comm) {
		n := int64(c.Size())
		for _, peer := range []int64{-3, n, n + 7} {
			_, err := c.Isend(array(ramp(0, 3)), peer, 0)
			assert.ErrorIs(t, err, status.OutOfBounds)
			_, err = c.Irecv(nil, comm.Expected{}, peer, 0)
			assert.ErrorIs(t, err, status.OutOfBounds)
		}
		_, err := c.Isend(array(ramp(0, 3)), 0, -1)
		assert.ErrorIs(t, err, status.OutOfBounds)
		_, err = c.RecvInit(nil, comm.Expected{Count: -1}, 0, 0)
		assert.ErrorIs(t, err, status.InvalidArgument)
		assert.Zero(t, c.Active())
	})
}

func TestCancelledRequest(t *testing.T) {
	upTo5(t, func(c *comm.Comm) {
		next, previous := neighbours(c)
		first, err := c.Irecv(nil, comm.Expected{}, previous, 4)
		assert.NoError(t, err)
		second, err := c.Irecv(nil, comm.Expected{}, previous, 4)
		assert.NoError(t, err)
		assert.Equal(t, 2, c.Active())
		assert.ErrorIs(t, c.Idle(), status.ViewsOut)
		assert.ErrorContains(t, c.Idle(), "2 requests are active")
		assert.ErrorIs(t, first.Close(), status.ViewsOut)
		yes, err := first.Cancel()
		assert.NoError(t, err)
		assert.True(t, yes)
		assert.Empty(t, done(t, first))
		assert.NoError(t, c.Barrier())
		assert.NoError(t, c.Send(array(ramp(7, 600)), next, 4))
		sameElements(t, ramp(7, 600), done(t, second))
		no, err := second.Cancel()
		assert.NoError(t, err)
		assert.False(t, no, "it is over")
		assert.NoError(t, c.Idle())
	})
}

func TestResultThatNobodyWants(t *testing.T) {
	onRanks(t, 1, func(c *comm.Comm) {
		for _, count := range lengths {
			r, err := c.Irecv(nil, comm.Expected{}, 0, 0)
			assert.NoError(t, err)
			assert.NoError(t, c.Send(array(ramp(0, count)), 0, 0))
			assert.True(t, r.Test())
			assert.NoError(t, r.Close()) // onRanks counts the memory
		}
	})
}

func TestPersistentRequests(t *testing.T) {
	upTo5(t, func(c *comm.Comm) {
		next, previous := neighbours(c)
		for _, count := range lengths {
			data, into := make([]float64, count), make([]float64, count)
			out := array(into)
			s, err := c.SendInit(array(data), next, 2)
			assert.NoError(t, err)
			r, err := c.RecvInit(&out, comm.Expected{}, previous, 2)
			assert.NoError(t, err)
			_, err = r.Wait()
			assert.ErrorContains(t, err, "has not been started")
			for round := range 3 {
				copy(data, ramp(round+c.Rank(), count))
				assert.NoError(t, r.Start())
				assert.NoError(t, s.Start())
				assert.ErrorContains(t, s.Start(), "has been started already")
				done(t, r)
				done(t, s)
				sameElements(t, ramp(round+int(previous), count), into)
			}
			assert.NoError(t, s.Close())
			assert.NoError(t, r.Close())
		}
	})
}

func TestRequestAfterTheEnd(t *testing.T) {
	var late *comm.Request
	onRanks(t, 1, func(c *comm.Comm) {
		var err error
		late, err = c.RecvInit(nil, comm.Expected{}, 0, 0)
		assert.NoError(t, err)
	})
	assert.ErrorIs(t, late.Start(), status.InvalidHandle)
}

func TestWaitAny(t *testing.T) {
	onRanks(t, 3, func(c *comm.Comm) {
		if c.Rank() > 0 {
			assert.NoError(t, c.Send(array(ramp(c.Rank(), 5)), 0, 0))
			return
		}
		var requests []*comm.Request
		for source := range int64(3) {
			r, err := c.Irecv(nil, comm.Expected{}, source, 0)
			assert.NoError(t, err)
			requests = append(requests, r)
		}
		seen := map[int]bool{}
		for range 2 {
			i, err := c.WaitAny(requests)
			assert.NoError(t, err)
			sameElements(t, ramp(i, 5), done(t, requests[i]))
			seen[i] = true
		}
		assert.Equal(t, map[int]bool{1: true, 2: true}, seen)
		yes, err := requests[0].Cancel()
		assert.NoError(t, err)
		assert.True(t, yes)
		i, err := c.WaitAny(requests)
		assert.NoError(t, err)
		assert.Zero(t, i, "what was cancelled is over")
		done(t, requests[0])
		i, err = c.WaitAny(requests)
		assert.NoError(t, err)
		assert.Equal(t, -1, i)
	})
}

func TestWaitAnyAlone(t *testing.T) {
	onRanks(t, 1, func(c *comm.Comm) {
		r, err := c.Irecv(nil, comm.Expected{}, 0, 0)
		assert.NoError(t, err)
		i, err := c.WaitAny([]*comm.Request{r})
		assert.NoError(t, err)
		assert.Zero(t, i)
		_, err = r.Wait()
		assert.ErrorIs(t, err, status.Communication, "nobody sends")
	})
}

// TestRequestsOfManyGoroutines has some wait for the same request: one gets the result.
func TestRequestsOfManyGoroutines(t *testing.T) {
	onRanks(t, 2, func(c *comm.Comm) {
		if c.Rank() == 1 {
			assert.NoError(t, c.Send(array(ramp(1, 1000)), 0, 0))
			return
		}
		r, err := c.Irecv(nil, comm.Expected{}, 1, 0)
		assert.NoError(t, err)
		var all sync.WaitGroup
		results := make(chan []float64, 4)
		for range 4 {
			all.Go(func() {
				r.Test()
				if result, err := r.Wait(); err == nil {
					results <- elements(result)
				}
			})
		}
		all.Wait()
		assert.Len(t, results, 1)
		sameElements(t, ramp(1, 1000), <-results)
	})
}

func TestProbe(t *testing.T) {
	for _, count := range lengths {
		upTo5(t, func(c *comm.Comm) {
			next, previous := neighbours(c)
			_, there, err := c.Iprobe(backend.AnySource, backend.AnyTag)
			assert.NoError(t, err)
			assert.False(t, there)
			assert.NoError(t, c.Barrier())
			s, err := c.Isend(array(ramp(c.Rank(), count), 1, int64(count)), next, 3)
			assert.NoError(t, err)
			second, err := c.Isend(array(ramp(1, 1)), next, 4)
			assert.NoError(t, err)
			want := comm.Notice{Source: int(previous), Tag: 3, Type: dtype.Float64, Shape: []int64{1, int64(count)}}
			for _, tag := range []int64{3, backend.AnyTag} { // a probe leaves the message where it is
				n, err := c.Probe(backend.AnySource, tag)
				assert.NoError(t, err)
				assert.Equal(t, want, n)
				n, there, err = c.Iprobe(previous, tag)
				assert.NoError(t, err)
				assert.True(t, there)
				assert.Equal(t, want, n)
			}
			n, err := c.Probe(previous, 4)
			assert.NoError(t, err)
			assert.Equal(t, 4, n.Tag)
			r, err := c.Irecv(nil, comm.Expected{}, backend.AnySource, backend.AnyTag)
			assert.NoError(t, err)
			sameElements(t, ramp(int(previous), count), done(t, r), "the first comes first")
			again, err := c.Recv(nil, comm.Expected{}, previous, backend.AnyTag)
			assert.NoError(t, err)
			sameElements(t, ramp(1, 1), elements(again))
			done(t, s)
			done(t, second)
		})
	}
}

func TestProbeOfNobody(t *testing.T) {
	onRanks(t, 1, func(c *comm.Comm) {
		n, err := c.Probe(backend.ProcNull, 0)
		assert.NoError(t, err)
		assert.Equal(t, comm.Notice{Source: backend.ProcNull, Tag: backend.AnyTag}, n)
		_, err = c.Probe(0, 5)
		assert.ErrorIs(t, err, status.Communication)
		assert.ErrorContains(t, err, "rank 0 with tag 5 is pending, and this communicator has one rank")
		_, _, err = c.Iprobe(9, 0)
		assert.ErrorIs(t, err, status.OutOfBounds)
	})
}

// TestOneRequestIsTested: what it needs of the others goes on, here and on other ranks that test one of theirs only.
func TestOneRequestIsTested(t *testing.T) {
	upTo5(t, func(c *comm.Comm) {
		next, previous := neighbours(c)
		for _, count := range lengths {
			r := begun(t)(c.Irecv(nil, comm.Expected{}, previous, 0))
			s := begun(t)(c.Isend(array(ramp(c.Rank(), count)), next, 0))
			for !s.Test() {
				runtime.Gosched()
			}
			sameElements(t, ramp(int(previous), count), append([]float64{}, done(t, r)...))
			done(t, s)
		}
		f := &inFlight{t: t, c: c}
		for serial := range 8 {
			f.exchange(serial, func(int, int) int { return 2000 })
		}
		for tested := c.Rank() % 2 * 7; !f.requests[tested].Test(); {
			runtime.Gosched()
		}
		f.finish(rand.New(rand.NewPCG(7, uint64(c.Rank()))))
	})
}
