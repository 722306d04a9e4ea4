package mpi

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"dtl/backends/internal/environ"
	"dtl/backends/internal/jobtest"
	"dtl/core/backend"
	"dtl/core/backend/backendtest"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
)

// Tests called TestRank… are one rank of a job, which the tests of jobs_test.go start.

// awaitOthers lets the other ranks come as far as this one after MPI_Finalize: MPICH's launcher may end them when the
// first leaves.
func awaitOthers() {
	for range 200 {
		if ours, all := jobtest.Passed("TestRankAfterFinalize"); !ours || all >= launcher(environ.Get).Size {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func TestMain(m *testing.M) {
	code := m.Run()
	if jobtest.Kind() != "" {
		awaitOthers()
		if _, err := Finalize(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// rankWorld returns the world that the job's ranks share; MPI starts once a process, the test closes it.
func rankWorld(t *testing.T) *Comm {
	t.Helper()
	jobtest.OnlyAsRank(t)
	c, err := mpi.World()
	if err != nil {
		t.Fatal(err)
	}
	if want := launcher(environ.Get).Size; c.Size() != want {
		t.Fatalf("the world has %d ranks, the launcher started %d", c.Size(), want)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c.(*Comm)
}

func TestRankConformance(t *testing.T) {
	c := rankWorld(t)
	backendtest.Communicator(t, func(t *testing.T, body func(*testing.T, backend.ReducingCommunicator)) { body(t, c) })
}

// TestRankConformanceOfLargeCounts sends all but the smallest messages in the way of counts beyond an int.
func TestRankConformanceOfLargeCounts(t *testing.T) {
	c := rankWorld(t)
	defer setCountLimit(setCountLimit(999))
	backendtest.Communicator(t, func(t *testing.T, body func(*testing.T, backend.ReducingCommunicator)) { body(t, c) })
}

// TestRankConformanceOfProbes receives from any source as with MPICH on several nodes.
func TestRankConformanceOfProbes(t *testing.T) {
	c := rankWorld(t)
	c.probes = &probes{}
	backendtest.Messages(t, func(t *testing.T, body func(*testing.T, backend.ReducingCommunicator)) { body(t, c) })
}

func TestRankWindow(t *testing.T) {
	c := rankWorld(t)
	backendtest.Window(t, func(t *testing.T, body func(*testing.T, backend.ReducingCommunicator)) { body(t, c) })
}

// TestRankWindowOfLargeCounts moves most in parts, as counts beyond an int.
func TestRankWindowOfLargeCounts(t *testing.T) {
	c := rankWorld(t)
	defer setCountLimit(setCountLimit(999))
	backendtest.Window(t, func(t *testing.T, body func(*testing.T, backend.ReducingCommunicator)) { body(t, c) })
}

// TestRankSumOfPartsBeyondLimit: what one rank has fits an int, what all have does not.
func TestRankSumOfPartsBeyondLimit(t *testing.T) {
	c := rankWorld(t)
	defer setCountLimit(setCountLimit(5))
	send := []int32{int32(c.Rank()), 10, 20}
	recv := make([]int32, 3*c.Size())
	if err := c.Allgather(memory.Of(dtype.Int32, send), memory.Of(dtype.Int32, recv)); err != nil {
		t.Fatal(err)
	}
	for r := range c.Size() {
		if got, want := [3]int32(recv[3*r:]), ([3]int32{int32(r), 10, 20}); got != want {
			t.Errorf("part %d is %v, want %v", r, got, want)
		}
	}
}

func TestRankErrorsAreReturned(t *testing.T) {
	c := rankWorld(t)
	one := memory.Of(dtype.Uint8, make([]byte, 1))
	_, err := c.SendFor(one, c.Size()+3, 0, 0)
	if !errors.Is(err, status.Communication) || !strings.Contains(err.Error(), "MPI_Isend") || !strings.Contains(err.Error(), "rank") {
		t.Errorf("send to a rank that does not exist: got %v", err)
	}
	if err := c.Broadcast(one, -7); !errors.Is(err, status.Communication) {
		t.Errorf("broadcast from a root that does not exist: got %v", err)
	}
}

func TestRankAdopt(t *testing.T) {
	c := rankWorld(t)
	d, err := mpi.Adopt(uintptr(c.handle))
	if err != nil {
		t.Fatal(err)
	}
	if d.Rank() != c.Rank() || d.Size() != c.Size() {
		t.Errorf("rank %d of %d, want %d of %d", d.Rank(), d.Size(), c.Rank(), c.Size())
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if err := c.Barrier(); err != nil {
		t.Errorf("the original after its duplicate is closed: %v", err)
	}
	if _, err := mpi.Adopt(0); !errors.Is(err, status.InvalidArgument) {
		t.Errorf("no communicator: got %v", err)
	}
}

func TestRankNative(t *testing.T) {
	c := rankWorld(t)
	var in, out [1]float64
	r, err := c.Irecv(memory.Of(dtype.Float64, in[:]), c.Rank(), 4)
	if err != nil {
		t.Fatal(err)
	}
	if number, peek := r.(backend.NativeRequest).Native(); number == 0 || peek == 0 {
		t.Error("nothing to look at while the receive is under way")
	}
	s, err := c.Isend(memory.Of(dtype.Float64, out[:]), c.Rank(), 4)
	if err != nil {
		t.Fatal(err)
	}
	for _, each := range []backend.Request{r, s} {
		if _, err := each.Wait(); err != nil {
			t.Error(err)
		}
		if number, _ := each.(backend.NativeRequest).Native(); number != 0 {
			t.Errorf("%d is left of what is complete", number)
		}
	}
}

func TestRankDescribe(t *testing.T) {
	rankWorld(t)
	d, err := Describe()
	if err != nil {
		t.Fatal(err)
	}
	if want := os.Getenv("DTL_MPI_LIB"); d.Path != want || d.Source != "DTL_MPI_LIB names it" {
		t.Errorf("path %s because %s, want %s", d.Path, d.Source, want)
	}
	if want := jobtest.Kind(); string(d.ABI) != want {
		t.Errorf("ABI %s, want %s", d.ABI, want)
	}
	if n := Program(); n != 0 {
		t.Errorf("program %d of a command that has one", n)
	}
	if d.Version == "" || d.ThreadLevel != 3 || ThreadLevel() != 3 || !Initialized() {
		t.Errorf("version %q, thread level %d, initialised %v", d.Version, d.ThreadLevel, Initialized())
	}
}

// BenchmarkRankAllreduce measures a call of 8 bytes, whose costs beyond MPI are the way through Go.
func BenchmarkRankAllreduce(b *testing.B) {
	if jobtest.Kind() == "" {
		b.Skip("one rank of a job; run it under a launcher")
	}
	w, err := mpi.World()
	if err != nil {
		b.Fatal(err)
	}
	c := w.(*Comm)
	send, recv := memory.Of(dtype.Float64, make([]float64, 1)), memory.Of(dtype.Float64, make([]float64, 1))
	b.ReportAllocs()
	for b.Loop() {
		if err := c.Allreduce(send, recv, kernel.Sum); err != nil {
			b.Fatal(err)
		}
	}
}

// The tests below end the process or MPI, so each is a job of its own.

func TestRankAfterFinalize(t *testing.T) {
	c := rankWorld(t)
	if ours, err := Finalize(); !ours || err != nil {
		t.Fatalf("finalize: %v, %v", ours, err)
	}
	if err := c.Barrier(); !errors.Is(err, status.Communication) || !strings.Contains(err.Error(), "finalised") {
		t.Errorf("barrier: got %v", err)
	}
	if _, err := mpi.World(); !errors.Is(err, status.Communication) || !strings.Contains(err.Error(), "finalised") {
		t.Errorf("world: got %v", err)
	}
	if Initialized() || ThreadLevel() != -1 {
		t.Errorf("initialised %v, thread level %d", Initialized(), ThreadLevel())
	}
	if ours, err := Finalize(); ours || err != nil {
		t.Errorf("second finalize: %v, %v", ours, err)
	}
}

func TestRankExitsWithSuccess(t *testing.T) {
	rankWorld(t)
	jobtest.Mark(t, "leaving")
	jobtest.Exit(0)
}

func TestRankExitsWithFailure(t *testing.T) {
	jobtest.EndRank1(t, rankWorld(t), func() { jobtest.Exit(3) })
}

func TestRankAborts(t *testing.T) {
	jobtest.EndRank1(t, rankWorld(t), func() { _, _ = Abort(5) })
}

func TestRankLauncherDisagrees(t *testing.T) {
	jobtest.OnlyAsRank(t)
	_, err := mpi.World()
	if !errors.Is(err, status.Communication) {
		t.Fatalf("got %v, want a communication error", err)
	}
	for _, want := range []string{launcher(environ.Get).Name, "2 processes", os.Getenv("DTL_MPI_LIB")} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
}
