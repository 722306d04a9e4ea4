package comm_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/core/comm"
	"dtl/core/kernel"
	"dtl/core/status"
)

// startSums starts sums of one element, the odd one with another operator, and returns their results and requests.
func startSums(t *testing.T, c *comm.Comm, count, odd int) (out []float64, requests []*comm.Request, failed error) {
	out = make([]float64, count)
	for i := range out {
		op := kernel.Sum
		if i == odd {
			op = kernel.Prod
		}
		r, err := c.Iallreduce(floats([]float64{float64(i)}), floats(out[i:i+1]), op)
		if err != nil {
			return out, requests, err
		}
		requests = append(requests, r)
	}
	return out, requests, nil
}

// TestOneRankIsFarAhead has rank 0 start collectives before the others start their first.
func TestOneRankIsFarAhead(t *testing.T) {
	for _, count := range []int{20, 80, 200} {
		for n := 2; n <= 3; n++ {
			t.Run(fmt.Sprint(count, " calls, ", n, " ranks"), func(t *testing.T) {
				onRanks(t, n, func(c *comm.Comm) {
					if c.Rank() > 0 {
						assert.NoError(t, c.Barrier())
					}
					out, requests, err := startSums(t, c, count, -1)
					assert.NoError(t, err)
					if c.Rank() == 0 {
						assert.NoError(t, c.Barrier())
					}
					for i := range requests {
						at := (i + count/2) % count
						done(t, requests[at])
						assert.EqualValues(t, n*at, out[at])
					}
					assert.Zero(t, c.Active())
				})
			})
		}
	}
}

// TestOneRankIsFarAheadAndAnotherDiffers has the last rank make another call than all others, of which rank 0 has started
// all before: every rank gets the error from that call on, and no result of it.
func TestOneRankIsFarAheadAndAnotherDiffers(t *testing.T) {
	const odd = 3
	for _, count := range []int{20, 80, 200, 1000} {
		for n := 2; n <= 3; n++ {
			t.Run(fmt.Sprint(count, " calls, ", n, " ranks"), func(t *testing.T) {
				meetingRanks(t, n, func(c *comm.Comm) {
					call := -1
					if c.Rank() == n-1 {
						call = odd
					}
					if c.Rank() > 0 {
						assert.NoError(t, c.Barrier())
					}
					out, requests, err := startSums(t, c, count, call)
					if c.Rank() == 0 {
						assert.NoError(t, err)
						assert.NoError(t, c.Barrier())
					}
					if c.Rank() == n-1 {
						assert.Len(t, requests, odd)
						assert.ErrorIs(t, err, status.Mismatch)
					}
					for i, r := range requests {
						_, err := r.Wait()
						if i < odd {
							assert.NoError(t, err)
							assert.EqualValues(t, n*i, out[i])
						} else {
							assert.ErrorIs(t, err, status.Mismatch)
							assert.ErrorContains(t, err, "called iallreduce(1 element of float64, PROD)")
						}
					}
					_, err = c.Ibarrier()
					assert.ErrorIs(t, err, status.Mismatch, "who was through hears of it")
					assert.NoError(t, c.Barrier(), "what blocks goes on")
				})
			})
		}
	}
}

// TestDeferredFarAhead has rank 0 defer calls before the others do, of which one is another.
func TestDeferredFarAhead(t *testing.T) {
	const count, odd = 200, 100
	meetingRanks(t, 3, func(c *comm.Comm) {
		stream, err := c.DupFor("later")
		assert.NoError(t, err)
		if c.Rank() > 0 {
			assert.NoError(t, c.Barrier())
		}
		var numbers []uint64
		for i := range count {
			call := "sort"
			if i == odd && c.Rank() == 2 {
				call = "scan"
			}
			seq, err := c.Defer(call, "")
			if err != nil {
				assert.ErrorIs(t, err, status.Mismatch)
				break
			}
			numbers = append(numbers, seq)
		}
		if c.Rank() == 0 {
			assert.Len(t, numbers, count)
			assert.NoError(t, c.Barrier())
		}
		for i, seq := range numbers {
			if i == odd && c.Rank() == 2 {
				break // whose call is another
			}
			if err := served(c, stream, seq); i < odd {
				assert.NoError(t, err)
			} else {
				assert.ErrorIs(t, err, status.Mismatch)
				break
			}
		}
		assert.NoError(t, c.Barrier(), "all have heard of it")
		assert.NoError(t, stream.Close())
	})
}

// TestStartsFromThreads has threads of each rank start the same collective: each pair is compared, whoever comes when.
func TestStartsFromThreads(t *testing.T) {
	onRanks(t, 2, func(c *comm.Comm) {
		var all sync.WaitGroup
		for range 2 {
			all.Add(1)
			go func() {
				defer all.Done()
				for range 25 {
					done(t, begun(t)(c.Ibarrier()))
				}
			}()
		}
		all.Wait()
	})
}

// apart runs a test on ranks that share no memory.
func apart(t *testing.T, n int, body func(c *comm.Comm)) {
	t.Helper()
	comm.SetSharing(false)
	defer comm.SetSharing(true)
	meetingRanks(t, n, body)
}

// TestCollectivesThatDisagreeApart has all ranks get the error, whoever comes when, and nobody out of step after it.
func TestCollectivesThatDisagreeApart(t *testing.T) {
	start := func(c *comm.Comm, count int, op kernel.Op) (*comm.Request, error) {
		return c.Iallreduce(floats(make([]float64, count)), floats(make([]float64, count)), op)
	}
	rows := map[string]struct {
		call func(c *comm.Comm) (*comm.Request, error)
		code status.Code
		text string
	}{
		"operation": {(*comm.Comm).Ibarrier, status.Mismatch, "called ibarrier()"},
		"count, less": {func(c *comm.Comm) (*comm.Request, error) { return start(c, 2, kernel.Sum) }, status.Mismatch,
			"called iallreduce(2 elements of float64, SUM)"},
		"count, more": {func(c *comm.Comm) (*comm.Request, error) { return start(c, 50_000, kernel.Sum) }, status.Mismatch,
			"called iallreduce(50000 elements of float64, SUM)"},
		"op": {func(c *comm.Comm) (*comm.Request, error) { return start(c, 4, kernel.Max) }, status.Mismatch,
			"called iallreduce(4 elements of float64, MAX)"},
		"argument": {func(c *comm.Comm) (*comm.Request, error) {
			return c.Iallreduce(floats(make([]float64, 4)), floats(make([]float64, 1)), kernel.Sum)
		}, status.InvalidArgument, "out has 1 elements"},
		"broadcast": {func(c *comm.Comm) (*comm.Request, error) {
			value := array(ramp(0, 5000))
			return c.Ibroadcast(&value, nil, 2)
		}, status.Mismatch, "called ibroadcast("},
		"rows": {func(c *comm.Comm) (*comm.Request, error) {
			return c.Ialltoallv(array(ramp(0, 3)), []int64{1, 1, 1}, nil, nil)
		}, status.Mismatch, "called ialltoallv("},
	}
	for name, row := range rows {
		for _, late := range []int{-1, 0, 2} { // who starts after the others wait for it
			t.Run(name, func(t *testing.T) {
				apart(t, 3, func(c *comm.Comm) {
					call := func(c *comm.Comm) (*comm.Request, error) { return start(c, 4, kernel.Sum) }
					done(t, begun(t)(call(c)))
					if c.Rank() == 2 {
						call = row.call
					}
					if c.Rank() == late {
						assert.NoError(t, c.Barrier())
					}
					r, err := call(c)
					if c.Rank() != late {
						assert.NoError(t, c.Barrier(), "beside a start in line")
					}
					if err == nil {
						_, err = r.Wait()
					}
					assert.ErrorIs(t, err, row.code)
					assert.ErrorContains(t, err, row.text)
					done(t, begun(t)(start(c, 4, kernel.Sum)))
					assert.Zero(t, c.Active())
				})
			})
		}
	}
}

// TestOperationsApartBeginInOrder waits for what was started last, while other ranks are in calls that block.
func TestOperationsApartBeginInOrder(t *testing.T) {
	for n := 1; n <= 5; n++ {
		apart(t, n, func(c *comm.Comm) {
			f := &inFlight{t: t, c: c}
			for _, count := range []int{1, 70_000, 3} {
				f.reduce(count)
				f.broadcast(count, count%n)
			}
			if c.Rank() == 0 {
				for i := range f.requests {
					f.checks[i](done(t, f.requests[i]))
				}
			}
			assert.NoError(t, c.Barrier(), "rank 0 waits for what the others have to begin here")
			if c.Rank() > 0 {
				for i := len(f.requests) - 1; i >= 0; i-- {
					f.checks[i](done(t, f.requests[i]))
				}
			}
			assert.Zero(t, c.Active())
		})
	}
}
