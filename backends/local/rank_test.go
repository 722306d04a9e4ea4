package local

import (
	"testing"

	"dtl/backends/internal/jobtest"
	"dtl/core/backend"
	"dtl/core/backend/backendtest"
)

// Tests called TestRank… are one rank of a job, which the tests of jobs_test.go start.

// rankWorld returns the world that the job's ranks share, which the test's end closes.
func rankWorld(t *testing.T) backend.ReducingCommunicator {
	t.Helper()
	jobtest.OnlyAsRank(t)
	c, err := local.World()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func TestRankConformance(t *testing.T) {
	c := rankWorld(t)
	backendtest.Communicator(t, func(t *testing.T, body func(*testing.T, backend.ReducingCommunicator)) { body(t, c) })
}

func TestRankWindow(t *testing.T) {
	c := rankWorld(t)
	backendtest.Window(t, func(t *testing.T, body func(*testing.T, backend.ReducingCommunicator)) { body(t, c) })
}

// The tests below end the process.

func TestRankExitsWithSuccess(t *testing.T) {
	rankWorld(t)
	jobtest.Mark(t, "leaving")
	jobtest.Exit(0)
}

func TestRankExitsWithFailure(t *testing.T) {
	jobtest.EndRank1(t, rankWorld(t), func() { jobtest.Exit(3) })
}

func TestRankAborts(t *testing.T) {
	jobtest.EndRank1(t, rankWorld(t), func() { Abort(5) })
}
