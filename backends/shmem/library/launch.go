package library

import (
	"math"
	"strconv"
	"strings"

	"dtl/backends/internal/dl"
	"dtl/backends/internal/environ"
	"dtl/backends/internal/supervisor"
	"dtl/core/status"
)

// SizeVariable is the standard's variable for how large the symmetric heap is.
const SizeVariable = "SHMEM_SYMMETRIC_SIZE"

const (
	// usual is how much symmetric memory a process has where nobody says.
	usual = 256 << 20
	// reserve is the part of the heap that the library keeps for itself: one in so many bytes.
	reserve = 8
)

// Launched returns how many processes a launcher started together with this one, 0 if none started it.
func Launched(getenv func(string) string) int {
	for _, name := range []string{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"} {
		if n, err := strconv.Atoi(getenv(name)); err == nil && n > 0 {
			return n
		}
	}
	return 0
}

// arena returns how many bytes of the symmetric heap are this backend's: what the environment says, less what the
// library needs itself.
func arena(getenv func(string) string) (int, error) {
	text := getenv(SizeVariable)
	if text == "" {
		text = strconv.Itoa(usual)
	}
	size, err := bytesOf(text)
	if err != nil {
		return 0, err
	}
	if least := 4 << 20; size < least {
		return 0, status.New(status.InvalidArgument, "%s=%s is less than %d bytes", SizeVariable, text, least)
	}
	return (size - size/reserve) / 4096 * 4096, nil
}

// bytesOf reads a size as the standard spells it: a number, which may be no whole one, and perhaps one of K, M, G and T.
func bytesOf(text string) (int, error) {
	number, factor := strings.TrimSpace(text), 1.0
	if number != "" {
		if power := strings.IndexByte("KMGT", strings.ToUpper(number)[len(number)-1]); power >= 0 {
			number, factor = number[:len(number)-1], math.Pow(1024, float64(power+1))
		}
	}
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || !(n > 0) || n*factor > 1<<50 {
		return 0, status.New(status.InvalidArgument, "%s=%s is no size", SizeVariable, text)
	}
	return int(n * factor), nil
}

// settings are the environment variables with which a library is opened and started.
var settings = []environ.Setting{
	environ.KeepSignals,
	{Name: "OMPI_MCA_btl", Value: "^openib"}, // with which Open MPI's shmem_finalize crashes
	{Name: SizeVariable, Value: strconv.Itoa(usual)},
}

// Open opens the library at a path, and returns how much symmetric memory it will have for this backend. Its errors come in
// time: what fails from then on, fails in the library, which ends the process.
func Open(path string) (size int, err error) {
	err = environ.With(settings, func() error {
		if Launched(environ.Get) == 0 {
			return status.New(status.BackendUnavailable, "no launcher started this process; start it with oshrun")
		}
		if size, err = arena(environ.Get); err != nil {
			return err
		}
		if strings.Contains(path, openMPI) && !programEnds() {
			return status.New(status.BackendUnavailable, "the program does not export _end, and Open MPI's OpenSHMEM would take "+
				"libraries' data for the program's; link it with -rdynamic")
		}
		opened, err := dl.Linker.OpenGlobal(path)
		if err != nil {
			return err
		}
		return bind(opened)
	})
	return size, err
}

// Start initialises the library that is open, and takes size bytes of its symmetric heap. It refuses to work where the
// launcher started other processes than the library connects. Collective.
func Start(size int) (s *Symmetric, err error) {
	supervisor.Starting()
	err = environ.With(settings, func() (err error) {
		s, err = start(size)
		return err
	})
	if err != nil {
		return nil, err
	}
	supervisor.Joined()
	if n := Launched(environ.Get); n != s.Processes() {
		return nil, status.New(status.Communication, "the launcher started %d processes, but OpenSHMEM connects %d; "+
			"the launcher has to be that of the library", n, s.Processes())
	}
	return s, nil
}
