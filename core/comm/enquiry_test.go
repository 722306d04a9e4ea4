package comm_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/core/comm"
	"dtl/core/kernel"
	"dtl/core/status"
)

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
						assert.NoError(t, c.Barrier(), "beside an enquiry")
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
