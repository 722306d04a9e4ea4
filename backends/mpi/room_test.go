package mpi

import "testing"

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
