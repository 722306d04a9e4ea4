package container

import (
	"slices"
	"testing"
)

// TestLastOfEach holds that threads which write in no order write what a loop would.
func TestLastOfEach(t *testing.T) {
	for _, offsets := range [][]int64{
		nil, {0}, {8, 16, 24}, {24, 16, 8}, {8, 8, 8}, {-1, 8, -1, 0}, {8, 0, 8, -8, 0, 16}, {-1, -1},
	} {
		const size = 8
		want := map[int64]int64{}
		for i, at := range offsets {
			if at >= 0 {
				want[at/size] = int64(i * size)
			}
		}
		places, from := lastOfEach(offsets, size)
		got := map[int64]int64{}
		for i, place := range places {
			got[place] = from[i]
		}
		if len(places) != len(want) || len(got) != len(want) || !slices.IsSorted(from) {
			t.Errorf("%v: places %v, from %v", offsets, places, from)
		}
		for place, at := range want {
			if got[place] != at {
				t.Errorf("%v: place %d is written from %d, want %d", offsets, place, got[place], at)
			}
		}
	}
}
