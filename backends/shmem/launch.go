package shmem

import (
	"math"
	"strconv"
	"strings"

	"dtl/core/status"
)

// sizeVariable is the standard's variable for how large the symmetric heap is.
const sizeVariable = "SHMEM_SYMMETRIC_SIZE"

const (
	// usual is how much symmetric memory a process has where nobody says.
	usual = 256 << 20
	// reserve is the part of the heap that the library keeps for itself: one in so many bytes.
	reserve = 8
)

// launched returns how many processes a launcher started together with this one, 0 if none started it.
func launched(getenv func(string) string) int {
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
	text := getenv(sizeVariable)
	if text == "" {
		text = strconv.Itoa(usual)
	}
	size, err := bytesOf(text)
	if err != nil {
		return 0, err
	}
	if least := 4 << 20; size < least {
		return 0, status.New(status.InvalidArgument, "%s=%s is less than %d bytes", sizeVariable, text, least)
	}
	return roundUp(size-size/reserve-4095, 4096), nil
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
		return 0, status.New(status.InvalidArgument, "%s=%s is no size", sizeVariable, text)
	}
	return int(n * factor), nil
}
