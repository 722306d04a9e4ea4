package shmem

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"dtl/backends/internal/exittest"
	_ "dtl/backends/shmem/internal/exporttest"
	"dtl/core/backend"
	"dtl/core/backend/backendtest"
	"dtl/core/status"
)

// Tests called TestRank… are one rank of a job: TestJobs starts this binary under oshrun, with the variable asRank set.
const asRank = "DTL_TEST_SHMEM_RANK"

// marks is the variable that names the folder where ranks leave word: launchers lose what is printed last.
const marks = "DTL_TEST_SHMEM_MARKS"

// mark leaves word that this process has come so far in a test.
func mark(t *testing.T, word string) {
	t.Helper()
	path := filepath.Join(os.Getenv(marks), t.Name()+"."+word+"."+strconv.Itoa(os.Getpid()))
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Error(err)
	}
}

func TestMain(m *testing.M) {
	code := m.Run()
	Finalize() // a Go program's end is not C's
	os.Exit(code)
}

// rankWorld returns the world that the job's ranks share, which the test's end closes.
func rankWorld(t *testing.T) backend.ReducingCommunicator {
	t.Helper()
	if os.Getenv(asRank) == "" {
		t.Skip("one rank of a job, which TestJobs starts under oshrun")
	}
	c, err := shmem.World()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if !t.Failed() {
			mark(t, "passed")
		}
	})
	if want := launched(getenv); c.Size() != want {
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

func TestRankMemorySpace(t *testing.T) {
	rankWorld(t)
	backendtest.MemorySpace(t, shmem.Memory())
}

func TestRankVersion(t *testing.T) {
	rankWorld(t)
	if name, major, minor := version(); name == "" || major != 1 || minor < 4 {
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
	mark(t, "leaving")
	exittest.Exit(0)
}

// TestRankExitsWithFailure leaves on one rank, while the others wait for it.
func TestRankExitsWithFailure(t *testing.T) {
	c := rankWorld(t)
	if c.Rank() == 1 {
		mark(t, "leaving")
		exittest.Exit(3)
	}
	_ = c.Barrier()
	time.Sleep(time.Minute) // longer than the job may take: the abort ends this rank
}

func TestRankAborts(t *testing.T) {
	c := rankWorld(t)
	if c.Rank() == 1 {
		mark(t, "leaving")
		Abort(5)
	}
	_ = c.Barrier()
	time.Sleep(time.Minute)
}
