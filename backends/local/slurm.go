package local

import (
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"dtl/backends/internal/slurm"
	"dtl/core/status"
)

// Tasks that Slurm's srun --mpi=none starts on one node have no launcher that makes their memory. The first task does, and
// hands it to the others over a socket that has the name of the step; and each watches the processes of the others.

// step is a job step of Slurm as one of its tasks sees it; its size is 0 where there is none that this backend connects.
type step struct {
	name       string
	rank, size int
}

// connected are variables that are set where something else connects the tasks of a step.
var connected = append([]string{memoryVariable, "PMIX_NAMESPACE", "MPI_LOCALNRANKS"}, inner...)

// stepOf reads what srun says.
func stepOf(getenv func(string) string) step {
	for _, name := range connected {
		if getenv(name) != "" {
			return step{}
		}
	}
	if kind := getenv("SLURM_MPI_TYPE"); kind != "" && kind != "none" {
		return step{}
	}
	s := slurm.StepOf(getenv)
	if s.Nodes != 1 || s.Tasks < 2 || s.Tasks > mostRanks || s.Task >= s.Tasks {
		return step{}
	}
	return step{fmt.Sprintf("@dtl-slurm-%s.%d-%d", s.Job, s.Number, os.Getuid()), s.Task, s.Tasks}
}

// stepSeconds is how long the tasks of a step may take to come to where they join it.
const stepSeconds = 120

// join maps the memory that the first task makes, waits until all tasks have, and watches them from then on.
func (t step) join() (*segment, error) {
	j := job{rank: t.rank, size: t.size}
	file, err := t.memory()
	if err != nil {
		return nil, status.New(status.BackendUnavailable, "task %d of %d of this Slurm step gets no memory from its first task, which "+
			"makes it where srun has --mpi=none: %w; a step of several nodes needs MPI", t.rank, t.size, err)
	}
	s, err := j.joinIn(file)
	if err == nil {
		err = s.watch()
	}
	return s, err
}

// memory makes a file, or gets that of the first task.
func (t step) memory() (*os.File, error) {
	if t.rank > 0 {
		return t.given()
	}
	fd, err := unix.MemfdCreate(fileName+"slurm", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: t.name, Net: "unix"})
	if err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	handed, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	go func() {
		defer listener.Close()
		defer unix.Close(handed)
		for left := t.size - 1; left > 0; {
			to, err := listener.AcceptUnix()
			if err != nil {
				return
			}
			if ours(to) {
				_, _, _ = to.WriteMsgUnix([]byte{1}, unix.UnixRights(handed), nil) // who has gone is noticed otherwise
				left--
			}
			_ = to.Close()
		}
	}()
	return os.NewFile(uintptr(fd), fileName), nil
}

// given gets the file of the first task, which may come later.
func (t step) given() (*os.File, error) {
	var from *net.UnixConn
	var err error
	for until := time.Now().Add(stepSeconds * time.Second); ; time.Sleep(time.Millisecond) {
		if from, err = net.DialUnix("unix", nil, &net.UnixAddr{Name: t.name, Net: "unix"}); err == nil {
			break
		}
		if time.Now().After(until) {
			return nil, fmt.Errorf("it has not come for %d s: %w", stepSeconds, err)
		}
	}
	defer from.Close()
	if !ours(from) {
		return nil, fmt.Errorf("who has its name is another user")
	}
	word, beside := make([]byte, 1), make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := from.ReadMsgUnix(word, beside)
	if err != nil {
		return nil, err
	}
	messages, err := unix.ParseSocketControlMessage(beside[:n])
	if err != nil || len(messages) != 1 {
		return nil, fmt.Errorf("it has sent no memory: %w", err)
	}
	rights, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(rights) != 1 {
		return nil, fmt.Errorf("it has sent no memory: %w", err)
	}
	unix.CloseOnExec(rights[0])
	return os.NewFile(uintptr(rights[0]), fileName), nil
}

// ours reports whether the other end is a process of the same user.
func ours(c *net.UnixConn) (same bool) {
	raw, err := c.SyscallConn()
	if err != nil {
		return false
	}
	_ = raw.Control(func(fd uintptr) {
		who, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
		same = err == nil && int(who.Uid) == os.Getuid()
	})
	return same
}

// own is the entry of this process, where the ranks watch each other; nil elsewhere.
var own atomic.Pointer[entry]

// Leave says that this process ends in order.
func Leave() { say(left) }

// say has the others know how this process ends: left, or told where it ends the job and has said why.
func say(state int64) {
	if e := own.Load(); e != nil {
		e.state.Store(state)
	}
}

// watch ends this process when another has ended without a word, which one of those that notice tells.
func (s *segment) watch() error {
	var polled []unix.PollFd
	var ranks []int
	for rank := range s.entries {
		if rank == s.rank {
			continue
		}
		fd, err := unix.PidfdOpen(int(s.entries[rank].process.Load()), 0)
		if err == syscall.ESRCH {
			s.gone(rank)
			continue
		}
		if err != nil {
			return status.New(status.BackendUnavailable, "rank %d cannot watch rank %d: %w", s.rank, rank, err)
		}
		polled = append(polled, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
		ranks = append(ranks, rank)
	}
	own.Store(&s.entries[s.rank])
	go func() {
		for len(polled) > 0 {
			if n, err := unix.Poll(polled, -1); n <= 0 || err != nil {
				continue // a signal
			}
			for i := len(polled) - 1; i >= 0; i-- {
				if polled[i].Revents != 0 {
					s.gone(ranks[i])
					_ = unix.Close(int(polled[i].Fd))
					polled, ranks = append(polled[:i], polled[i+1:]...), append(ranks[:i], ranks[i+1:]...)
				}
			}
		}
	}()
	return nil
}

// gone heeds that the process of a rank has ended.
func (s *segment) gone(rank int) {
	e := &s.entries[rank]
	switch {
	case e.state.Load() == left:
		return
	case e.state.CompareAndSwap(ready, told):
		fmt.Fprintf(os.Stderr, "dtl: rank %d (process %d) left the job without finishing: it was killed, or called os._exit, or ran "+
			"another program in its place\n", rank, e.process.Load())
	}
	say(told)
	os.Exit(1)
}
