package topology

import (
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"

	"dtl/core/status"
)

// widest is the number of CPUs that a set holds.
const widest = len(unix.CPUSet{}) * 64

// Mask returns the CPUs that the calling thread may run on.
func Mask() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, status.New(status.Backend, "the kernel does not say which CPUs this thread may run on: %w", err)
	}
	return members(&set), nil
}

func members(set *unix.CPUSet) (cpus []int) {
	for cpu := range widest {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus
}

// Allowed returns the CPUs that this process may be bound to, whatever it is bound to now: what its control group leaves
// of the machine. It tries, on a thread of its own, because the kernel knows every kind of group.
func Allowed() []int {
	answer := make(chan []int)
	go func() {
		runtime.LockOSThread()
		var before, all unix.CPUSet
		for cpu := range widest {
			all.Set(cpu)
		}
		if unix.SchedGetaffinity(0, &before) != nil || unix.SchedSetaffinity(0, &all) != nil {
			runtime.UnlockOSThread()
			answer <- Kernel().Online()
			return
		}
		cpus, err := Mask()
		if err != nil {
			cpus = Kernel().Online()
		}
		if unix.SchedSetaffinity(0, &before) == nil {
			runtime.UnlockOSThread() // else the thread ends here
		}
		answer <- cpus
	}()
	return <-answer
}

// Bind has every thread of this process run on these CPUs alone, those that Go and other libraries started, too; threads
// that they start later do as the thread that starts them. It returns the CPUs that the caller may run on then.
func Bind(cpus []int) ([]int, error) {
	allowed := Allowed()
	if len(cpus) == 0 {
		return nil, status.New(status.InvalidArgument, "there is no CPU to bind to")
	}
	var set unix.CPUSet
	for _, cpu := range cpus {
		if len(both([]int{cpu}, allowed)) == 0 {
			return nil, status.New(status.OutOfBounds, "CPU %d is none of those that this process may use, %s", cpu, FormatList(allowed))
		}
		set.Set(cpu)
	}
	bound := map[string]bool{}
	for range rounds {
		found, err := bindThreads(&set, bound)
		if err != nil {
			return nil, status.New(status.Backend, "binding to CPUs %s: %w", FormatList(cpus), err)
		}
		if !found {
			break
		}
	}
	return Mask()
}

// rounds is how often Bind looks for threads that were started meanwhile.
const rounds = 16

// bindThreads binds the threads that have not been, and reports whether there were any.
func bindThreads(set *unix.CPUSet, bound map[string]bool) (found bool, err error) {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return false, err
	}
	for _, thread := range threads {
		number, err := strconv.Atoi(thread.Name())
		if err != nil || bound[thread.Name()] {
			continue
		}
		if err := unix.SchedSetaffinity(number, set); err != nil && err != unix.ESRCH { // it has ended
			return false, err
		}
		bound[thread.Name()], found = true, true
	}
	return found, nil
}
