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
