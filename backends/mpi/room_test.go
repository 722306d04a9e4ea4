package mpi

import (
	"slices"
	"testing"
)

func TestSegmentNames(t *testing.T) {
	const mapped = "7f47bfcf8000-7f47c0000000 rw-s 00000000 00:30 4                          /dev/shm/mpich_shm_31878053_0\n" +
		"7f47c422b000-7f47c4234000 rw-s 00000000 00:30 5                          /dev/shm/ucx_shm_posix_226cd2ca (deleted)\n" +
		"7f47c5000000-7f47c6000000 rw-p 00000000 00:00 0 \n" +
		"7f47c7000000-7f47c8000000 r-xp 00000000 00:30 9                          /usr/lib/libmpi.so.12\n"
	if got, want := segmentNames(mapped), []string{"/dev/shm/mpich_shm_31878053_0"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFits(t *testing.T) {
	rows := []struct {
		name       string
		ranks      int
		size, left uint64
		want       bool
	}{
		{"room", 2, 8 * perRank, 8 * perRank, true},
		{"no room at all", 2, 4096, 4096, false},
		{"full", 2, 8 * perRank, 0, false},
		{"too small for all ranks", 4, 3 * perRank, 3 * perRank, false},
		{"the other ranks have theirs", 4, 4 * perRank, perRank, true},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if got := fits(row.ranks, row.size, row.left); got != row.want {
				t.Errorf("got %t, want %t", got, row.want)
			}
		})
	}
}
