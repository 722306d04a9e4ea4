package local

import (
	"errors"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"dtl/core/backend"
	"dtl/core/status"
)

func TestRegistered(t *testing.T) {
	b, err := backend.Lookup("local")
	if err != nil || b.Name() != "local" || backend.Probe("local") != nil {
		t.Errorf("Lookup: %v, %v", b, err)
	}
}

// variables returns what reads them.
func variables(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestWhatTheLauncherSays(t *testing.T) {
	for _, row := range []struct {
		name   string
		env    func(string) string
		want   job
		active bool
		fault  string
	}{
		{"nothing", variables(), job{size: 1}, false, ""},
		{"a rank", variables(rankVariable, "2", sizeVariable, "4", memoryVariable, "77/5/abc"), job{2, 4, 77, 5, "abc"}, true, ""},
		{"mpirun within a rank",
			variables(rankVariable, "2", sizeVariable, "4", memoryVariable, "77/5/abc", "OMPI_COMM_WORLD_SIZE", "2"), job{size: 1}, false, ""},
		{"a rank outside", variables(rankVariable, "4", sizeVariable, "4", memoryVariable, "77/5/abc"), job{}, true, "describe no job"},
		{"no size", variables(rankVariable, "0", memoryVariable, "77/5/abc"), job{}, true, "describe no job"},
		{"no numbers", variables(rankVariable, "a", sizeVariable, "b", memoryVariable, "c"), job{}, true, "describe no job"},
	} {
		j, err := jobOf(row.env)
		if j != row.want || launched(row.env) != row.active || (err == nil) != (row.fault == "") {
			t.Errorf("%s: %+v, %v", row.name, j, err)
		}
		if err != nil && (!strings.Contains(err.Error(), row.fault) || !errors.Is(err, status.BackendUnavailable)) {
			t.Errorf("%s: %v", row.name, err)
		}
	}
}

// made returns the job of a rank whose file this process has open.
func made(t *testing.T, name string, rank, size int) job {
	t.Helper()
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	return job{rank, size, os.Getpid(), fd, "token"}
}

func TestFilesThatAreNotTheJobs(t *testing.T) {
	for _, j := range []job{
		made(t, "another", 0, 2), // of a process with the launcher's number
		{0, 2, os.Getpid(), 1 << 20, "token"},
		{0, 2, 1 << 30, 3, "token"},
	} {
		if _, err := j.join(); !errors.Is(err, status.BackendUnavailable) {
			t.Errorf("%+v: %v", j, err)
		}
	}
}

// TestARankIsOneProcess: a second one is refused, which would read the first one's messages.
func TestARankIsOneProcess(t *testing.T) {
	j := made(t, fileName+"token", 0, 1)
	if _, err := j.join(); err != nil {
		t.Fatal(err)
	}
	if _, err := j.join(); !errors.Is(err, status.BackendUnavailable) || !strings.Contains(err.Error(), "is rank 0 of this job already") {
		t.Error(err)
	}
}

// TestNoMemory: a rank that gets none says so, and so do the others, in time.
func TestNoMemory(t *testing.T) {
	j := made(t, fileName+"token", 0, 2)
	first, part := layout(2)
	file, err := j.open()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := reserve(file, first+2*part, 0, first); err != nil {
		t.Fatal(err)
	}
	mapped, err := unix.Mmap(int(file.Fd()), 0, first+2*part, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(mapped) }()
	segmentIn(mapped, 1, 2).entries[1].state.Store(failed)
	if _, err := j.join(); !errors.Is(err, status.OutOfMemory) || !strings.Contains(err.Error(), "rank 1 of 2") {
		t.Error(err)
	}
}

// TestNoRoom: a file that cannot grow stands for a machine without memory.
func TestNoRoom(t *testing.T) {
	fd, err := unix.MemfdCreate(fileName+"token", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_GROW); err != nil {
		t.Fatal(err)
	}
	_, err = job{1, 2, os.Getpid(), fd, "token"}.join()
	if !errors.Is(err, status.OutOfMemory) || !strings.Contains(err.Error(), "rank 1 of 2 got no shared memory") {
		t.Error(err)
	}
}

func TestAlone(t *testing.T) {
	c, err := local.World()
	if err != nil || c.Size() != 1 || c.Rank() != 0 {
		t.Fatal(c, err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := local.Adopt(3); !errors.Is(err, status.Unsupported) {
		t.Error(err)
	}
	if Abort(7) {
		t.Error("a process alone has ended a job")
	}
}
