package shmem

import (
	"errors"
	"os"
	"testing"

	"dtl/backends/internal/environ"
	"dtl/backends/internal/jobtest"
	_ "dtl/backends/shmem/internal/exporttest"
	"dtl/backends/shmem/library"
	"dtl/core/backend"
	"dtl/core/backend/backendtest"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/status"
)

// Tests called TestRank… are one rank of a job, which the tests of jobs_test.go start.

func TestMain(m *testing.M) {
	code := m.Run()
	Finalize() // a Go program's end is not C's
	os.Exit(code)
}

// rankWorld returns the world that the job's ranks share, which the test's end closes.
func rankWorld(t *testing.T) backend.ReducingCommunicator {
	t.Helper()
	jobtest.OnlyAsRank(t)
	c, err := shmem.World()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	if want := library.Launched(environ.Get); c.Size() != want {
		t.Fatalf("the world has %d ranks, the launcher started %d", c.Size(), want)
	}
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

func TestRankWindowInSymmetricMemory(t *testing.T) {
	c := rankWorld(t)
	backendtest.WindowIn(t, func(t *testing.T, body func(*testing.T, backend.ReducingCommunicator)) { body(t, c) }, symmetricSpace)
}

func symmetricSpace(backend.ReducingCommunicator) memory.Allocator { return shmem.Memory() }

func TestRankMemorySpace(t *testing.T) {
	rankWorld(t)
	backendtest.MemorySpace(t, shmem.Memory())
}

func TestRankVersion(t *testing.T) {
	rankWorld(t)
	if name, major, minor := library.Version(); name == "" || major != 1 || minor < 4 {
		t.Errorf("%q, version %d.%d of the standard; want at least 1.4", name, major, minor)
	}
}

// The tests below end the process or OpenSHMEM. The first is the last of its job.

func TestRankAfterFinalize(t *testing.T) {
	rankWorld(t)
	if !Finalize() {
		t.Error("there was nothing to finalise")
	}
	if _, err := shmem.World(); !errors.Is(err, status.Communication) {
		t.Errorf("world: got %v", err)
	}
	if Finalize() || Abort(7) {
		t.Error("a second end")
	}
}

func TestRankExitsWithSuccess(t *testing.T) {
	rankWorld(t)
	jobtest.Mark(t, "leaving")
	jobtest.Exit(0)
}

// TestRankExitsWithACallUnderWay: the root's gather waits for the others, which never start theirs, in a goroutine.
func TestRankExitsWithACallUnderWay(t *testing.T) {
	c := rankWorld(t)
	if c.Rank() == 0 {
		whole := memory.Of(dtype.Int64, make([]int64, c.Size()))
		if _, err := c.(backend.AsyncCommunicator).Igather(whole.Slice(0, 1), whole, 0); err != nil {
			t.Fatal(err)
		}
	}
	_ = c.Barrier()
	jobtest.Mark(t, "leaving")
	jobtest.Exit(0)
}

func TestRankExitsWithFailure(t *testing.T) {
	jobtest.EndRank1(t, rankWorld(t), func() { jobtest.Exit(3) })
}

func TestRankAborts(t *testing.T) {
	jobtest.EndRank1(t, rankWorld(t), func() { Abort(5) })
}
