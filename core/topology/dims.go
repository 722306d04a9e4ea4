package topology

import (
	"slices"

	"dtl/core/status"
)

// MaxAxes is how many axes a grid has at most.
const MaxAxes = 32

// Fill returns the extents of a grid of n ranks, with those that are 0 chosen: as equal as they can be, the larger ones
// first (MPI_Dims_create). It refuses what is no grid of exactly n ranks.
func Fill(n int, dims []int64) ([]int64, error) {
	if len(dims) > MaxAxes {
		return nil, status.New(status.InvalidArgument, "dims has %d axes; there can be at most %d", len(dims), MaxAxes)
	}
	rest, free := int64(n), 0
	for axis, extent := range dims {
		switch {
		case extent < 0:
			return nil, status.New(status.InvalidArgument, "dims %v: axis %d has %d; it must be at least 1, or 0 to be chosen", dims, axis, extent)
		case extent == 0:
			free++
		case rest%extent != 0:
			return nil, unequal(n, dims)
		default:
			rest /= extent
		}
	}
	if free == 0 && rest != 1 {
		return nil, unequal(n, dims)
	}
	chosen := factors(rest, free, rest)
	filled := slices.Clone(dims)
	for axis, extent := range filled {
		if extent == 0 {
			filled[axis], chosen = chosen[0], chosen[1:]
		}
	}
	return filled, nil
}

func unequal(n int, dims []int64) error {
	return status.New(status.InvalidArgument, "dims %v do not multiply to the %d ranks", dims, n)
}

// factors returns k numbers that multiply to n, descending, none above most, and of those the ones whose largest is the
// smallest, then the next, and so on; nil if there are none.
func factors(n int64, k int, most int64) []int64 {
	if k == 0 {
		if n == 1 {
			return []int64{}
		}
		return nil
	}
	for _, d := range divisors(n) {
		if d > most {
			break
		}
		if !reaches(d, k, n) {
			continue
		}
		if rest := factors(n/d, k-1, d); rest != nil {
			return append([]int64{d}, rest...)
		}
	}
	return nil
}

// reaches reports whether d to the power of k is at least n.
func reaches(d int64, k int, n int64) bool {
	for range k {
		if d == 1 {
			return n == 1
		}
		if n = (n + d - 1) / d; n == 1 {
			return true
		}
	}
	return n == 1
}

// divisors returns those of n, ascending.
func divisors(n int64) (all []int64) {
	for d := int64(1); d*d <= n; d++ {
		if n%d == 0 {
			all = append(all, d)
			if d*d < n {
				all = append(all, n/d)
			}
		}
	}
	slices.Sort(all)
	return all
}
