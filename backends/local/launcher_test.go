package local

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// This binary is its own launcher: with -n and a number before a command it starts that on so many ranks, as dtl run does.

func TestMain(m *testing.M) {
	if len(os.Args) > 3 && os.Args[1] == "-n" {
		os.Exit(launch(os.Args[2], os.Args[3:]))
	}
	code := m.Run()
	Leave() // which Python's end does elsewhere
	os.Exit(code)
}

// launch returns the exit code of the job: the first that is not 0, upon which it ends the others.
func launch(ranks string, command []string) int {
	size, err := strconv.Atoi(ranks)
	if err != nil {
		return 2
	}
	random := make([]byte, 8)
	_, _ = rand.Read(random) // never fails
	token := hex.EncodeToString(random)
	fd, err := unix.MemfdCreate(fileName+token, unix.MFD_CLOEXEC)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	return together(size, func(rank int) *exec.Cmd {
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		cmd.SysProcAttr = &unix.SysProcAttr{Pdeathsig: unix.SIGKILL}
		if step := os.Getenv("DTL_TEST_STEP"); step != "" { // as srun --mpi=none does it
			cmd.Env = append(os.Environ(), "SLURM_JOB_ID="+step, "SLURM_STEP_ID=0", "SLURM_STEP_NUM_NODES=1",
				"SLURM_STEP_NUM_TASKS="+ranks, "SLURM_PROCID="+strconv.Itoa(rank))
			return cmd
		}
		cmd.Env = append(os.Environ(), rankVariable+"="+strconv.Itoa(rank), sizeVariable+"="+ranks,
			fmt.Sprintf("%s=%d/%d/%s", memoryVariable, os.Getpid(), fd, token))
		return cmd
	})
}

// together runs a command a rank, and returns the first exit code that is not 0, upon which it ends the others.
func together(size int, command func(rank int) *exec.Cmd) (first int) {
	var started []*exec.Cmd
	codes := make(chan int, size)
	for rank := range size {
		cmd := command(rank)
		if err := cmd.Start(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
		started = append(started, cmd)
		go func() {
			_ = cmd.Wait() // its state says it
			codes <- cmd.ProcessState.ExitCode()
		}()
	}
	for range started {
		if code := <-codes; code != 0 && first == 0 {
			first = code
			for _, cmd := range started {
				_ = cmd.Process.Kill() // or it has ended
			}
		}
	}
	return first
}
