package shmem

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
		if got := launched(env(row.env)); got != row.want {
			t.Errorf("%v: %d processes, want %d", row.env, got, row.want)
		}
	}
}

func TestArena(t *testing.T) {
	for text, want := range map[string]int{
		"8388608": 7 << 20, "8m": 7 << 20, " 1G": 896 << 20, "0.5G": 448 << 20, "4096K": 3584 << 10,
	} {
		if got, err := arena(env(map[string]string{sizeVariable: text})); err != nil || got != want {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"lots", "-1", "0", "1K", "NaN", "Inf", "1e300", "K", "2000000T", " "} {
		if _, err := arena(env(map[string]string{sizeVariable: text})); !errors.Is(err, status.InvalidArgument) {
			t.Errorf("%q: %v, want an invalid argument", text, err)
		}
	}
}

// TestLayout: neighbours do not overlap, and many processes get smaller rings.
func TestLayout(t *testing.T) {
	for _, n := range []int{1, 2, 7, 1000, 100_000} {
		m := layout(n)
		if m.ring < leastRing || m.ring > mostRing || m.ring > leastRing && n*m.ring > allRings {
			t.Errorf("%d processes: rings of %d bytes", n, m.ring)
		}
		if m.credit(n-1)+line > m.records(0) || m.records(1)-m.records(0) != m.ring || m.records(0)%4096 != 0 {
			t.Errorf("%d processes: counters end at %d, rings start at %d", n, m.credit(n-1)+line, m.records(0))
		}
	}
}
