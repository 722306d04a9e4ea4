package library

import (
	"errors"
	"testing"

	"dtl/core/status"
)

func env(pairs map[string]string) func(string) string {
	return func(name string) string { return pairs[name] }
}

func TestLaunched(t *testing.T) {
	for _, row := range []struct {
		env  map[string]string
		want int
	}{
		{nil, 0},
		{map[string]string{"OMPI_COMM_WORLD_SIZE": "4"}, 4},
		{map[string]string{"PMI_SIZE": "3"}, 3},
		{map[string]string{"OMPI_COMM_WORLD_SIZE": "2", "SLURM_STEP_NUM_TASKS": "1"}, 2},
		{map[string]string{"OMPI_COMM_WORLD_SIZE": "many"}, 0},
		{map[string]string{"PMI_SIZE": "-1"}, 0},
	} {
		if got := Launched(env(row.env)); got != row.want {
			t.Errorf("%v: %d processes, want %d", row.env, got, row.want)
		}
	}
}

func TestArena(t *testing.T) {
	for text, want := range map[string]int{
		"8388608": 7 << 20, "8m": 7 << 20, " 1G": 896 << 20, "0.5G": 448 << 20, "4096K": 3584 << 10,
	} {
		if got, err := arena(env(map[string]string{SizeVariable: text})); err != nil || got != want {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"lots", "-1", "0", "1K", "NaN", "Inf", "1e300", "K", "2000000T", " "} {
		if _, err := arena(env(map[string]string{SizeVariable: text})); !errors.Is(err, status.InvalidArgument) {
			t.Errorf("%q: %v, want an invalid argument", text, err)
		}
	}
}
