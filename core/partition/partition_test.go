package partition

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dtl/core/status"
)

// TestAgainstDealing asks every kind every question. The sizes lie around 0, the number of ranks, and the words and
// chunks in which Hash counts.
func TestAgainstDealing(t *testing.T) {
	for _, size := range []int64{0, 1, 2, 7, 8, 63, 64, 65, 100, 511, 512, 1000, 1024} {
		for ranks := 1; ranks <= 7; ranks++ {
			for _, row := range kinds(t, size, ranks) {
				t.Run(row.name, func(t *testing.T) { checkAll(t, row.p, row.want) })
			}
		}
	}
}

func TestSubAgainstDealing(t *testing.T) {
	for _, size := range []int64{0, 1, 2, 7, 8, 100} {
		for ranks := 1; ranks <= 7; ranks++ {
			for _, row := range kinds(t, size, ranks) {
				t.Run(row.name, func(t *testing.T) { checkSubs(t, row) })
			}
		}
	}
}

func checkSubs(t *testing.T, row row) {
	size := row.want.size
	cuts := [][2]int64{{0, size}, {0, 0}, {size, 0}, {0, size / 2}, {size / 3, size / 2}, {size / 2, size - size/2}}
	for _, cut := range cuts {
		offset, count := cut[0], cut[1]
		s := NewSub(row.p, offset, count)
		want := row.want.sub(offset, count)
		require.Equal(t, row.p.Kind(), s.Kind())
		checkAll(t, s, want)
		for rank := range s.Ranks() {
			below, _ := slices.BinarySearch(row.want.parts[rank], offset)
			require.EqualValues(t, below, s.Skipped(rank), "rank %d", rank)
		}
		checkAll(t, NewSub(s, count/4, count/2), want.sub(count/4, count/2))
	}
}

// checkAll compares every answer of a partition with what was dealt.
func checkAll(t *testing.T, p Partition, want dealt) {
	t.Helper()
	require.Equal(t, want.size, p.GlobalSize())
	require.Equal(t, len(want.parts), p.Ranks())
	globals := make([]int64, want.size)
	for i := range globals {
		globals[i] = want.size - 1 - int64(i)
	}
	checkOwners(t, p, want, globals)
	for rank, part := range want.parts {
		require.EqualValues(t, len(part), p.LocalSize(rank), "rank %d", rank)
		checkPart(t, p, rank, part)
		checkLocate(t, p, rank, part, globals)
	}
}

func checkOwners(t *testing.T, p Partition, want dealt, globals []int64) {
	t.Helper()
	owners := slices.Repeat([]int32{-7}, len(globals)+1)
	p.Owners(globals, owners)
	for i, g := range globals {
		owner := want.owner(g)
		if p.Owner(g) != owner || int(owners[i]) != owner {
			require.FailNow(t, "owner", "of %d: %d and %d, want %d", g, p.Owner(g), owners[i], owner)
		}
	}
	require.EqualValues(t, -7, owners[len(globals)], "beyond the list")
	p.Owners(nil, nil)
}

// checkPart checks Holds, Before and Global at every index, and From at every index of a short part: of a long one, at
// some, and around where the words of a set begin.
func checkPart(t *testing.T, p Partition, rank int, part []int64) {
	t.Helper()
	local := 0
	for g := range p.GlobalSize() + 1 {
		if p.Before(rank, g) != int64(local) {
			require.FailNow(t, "before", "%d on rank %d: %d, want %d", g, rank, p.Before(rank, g), local)
		}
		if len(part) <= 100 || g%29 == 0 || (g+1)%64 < 3 {
			checkRuns(t, p, rank, g, part[local:])
		}
		holds := local < len(part) && part[local] == g
		if g < p.GlobalSize() && p.Holds(rank, g) != holds {
			require.FailNow(t, "holds", "rank %d, %d: want %v", rank, g, holds)
		}
		if holds {
			if p.Global(rank, int64(local)) != g {
				require.FailNow(t, "global", "%d on rank %d: %d, want %d", local, rank, p.Global(rank, int64(local)), g)
			}
			local++
		}
	}
}

// checkRuns checks that the runs from a start are ascending, side by side, as few as can be, and cover part exactly.
func checkRuns(t *testing.T, p Partition, rank int, start int64, part []int64) {
	t.Helper()
	runs, local, covered, end := p.From(rank, start), p.Before(rank, start), 0, int64(-1)
	for {
		r, ok := runs.Next()
		if !ok {
			break
		}
		more := r.Step == 1 && r.Global == end // of the run before
		if r.Count < 1 || r.Step < 1 || r.Local != local || more || covered+int(r.Count) > len(part) {
			require.FailNow(t, "run", "%+v on rank %d from %d, after %d of %d", r, rank, start, covered, len(part))
		}
		for i := range r.Count {
			if part[covered] != r.Global+i*r.Step {
				require.FailNow(t, "run", "%+v on rank %d from %d: element %d is not %d", r, rank, start, i, part[covered])
			}
			covered++
		}
		local += r.Count
		end = r.Global + r.Count
	}
	_, again := runs.Next()
	if covered != len(part) || again {
		require.FailNow(t, "runs", "on rank %d from %d: %d elements, want %d", rank, start, covered, len(part))
	}
}

func checkLocate(t *testing.T, p Partition, rank int, part, globals []int64) {
	t.Helper()
	locals := slices.Repeat([]int64{-7}, len(globals)+1)
	p.Locate(rank, globals, locals)
	for i, g := range globals {
		local, held := slices.BinarySearch(part, g)
		if !held {
			local = -1
		}
		if locals[i] != int64(local) {
			require.FailNow(t, "locate", "%d on rank %d: %d, want %d", g, rank, locals[i], local)
		}
	}
	require.EqualValues(t, -7, locals[len(globals)], "beyond the list")
	inPlace := slices.Clone(globals)
	p.Locate(rank, inPlace, inPlace)
	require.Equal(t, locals[:len(globals)], inPlace)
}

// TestGuide pins the example that the guide gives.
func TestGuide(t *testing.T) {
	p, err := NewCyclic(8, 2)
	require.NoError(t, err)
	assert.Equal(t, KindCyclic, p.Kind())
	for rank, want := range [][]int64{{0, 2, 4, 6}, {1, 3, 5, 7}} {
		var got []int64
		for local := range p.LocalSize(rank) {
			got = append(got, p.Global(rank, local))
		}
		assert.Equal(t, want, got)
	}
}

// TestOneRun: elements in arithmetic progression are one run, however many they are.
func TestOneRun(t *testing.T) {
	cyclic, _ := NewCyclic(10, 3)
	alone, _ := NewBlockCyclic(10, 1, 3)
	for _, row := range []struct {
		p    Partition
		want Run
	}{
		{cyclic, Run{Global: 1, Step: 3, Count: 3, Local: 0}},
		{alone, Run{Global: 1, Step: 1, Count: 9, Local: 1}},
		{NewSub(cyclic, 1, 6), Run{Global: 3, Step: 3, Count: 1, Local: 1}},
	} {
		rank := row.p.Ranks() / 2
		runs := row.p.From(rank, 1)
		got, ok := runs.Next()
		assert.True(t, ok)
		assert.Equal(t, row.want, got)
		_, ok = runs.Next()
		assert.False(t, ok)
	}
}

func TestParametersAsGiven(t *testing.T) {
	for _, size := range []int64{0, 1, 10} {
		p, err := NewBlockCyclic(size, 2, 300)
		require.NoError(t, err)
		assert.EqualValues(t, 300, p.BlockSize())
		assert.Equal(t, KindBlockCyclic, p.Kind())
	}
}

func TestRefusals(t *testing.T) {
	all := map[string]func(size int64, ranks int) error{
		"block":      func(n int64, r int) error { _, err := NewBlock(n, r); return err },
		"cyclic":     func(n int64, r int) error { _, err := NewCyclic(n, r); return err },
		"blocks":     func(n int64, r int) error { _, err := NewBlockCyclic(n, r, 4); return err },
		"hash":       func(n int64, r int) error { _, err := NewHash(n, r); return err },
		"replicated": func(n int64, r int) error { _, err := NewReplicated(n, r); return err },
	}
	for name, make := range all {
		wantError(t, make(-3, 2), status.InvalidArgument, "size -3 is negative", name)
		wantError(t, make(math.MinInt64, 2), status.InvalidArgument, "is negative", name)
		wantError(t, make(3, 0), status.InvalidArgument, "0 ranks: there must be at least 1", name)
		wantError(t, make(3, -1), status.InvalidArgument, "-1 ranks: there must be at least 1", name)
		wantError(t, make(3, math.MaxInt32+1), status.InvalidArgument, "there can be at most 2147483647", name)
	}
	for _, block := range []int64{0, -1, math.MinInt64} {
		_, err := NewBlockCyclic(3, 2, block)
		wantError(t, err, status.InvalidArgument, "it must be at least 1")
	}
	_, err := NewExplicit(nil)
	wantError(t, err, status.InvalidArgument, "0 ranks")
	_, err = NewExplicit([]int64{4, -2})
	wantError(t, err, status.InvalidArgument, "local size -2 of rank 1 is negative")
	_, err = NewExplicit([]int64{math.MaxInt64, 0, 1})
	wantError(t, err, status.InvalidArgument, "add up to more than 9223372036854775807")
}

func wantError(t *testing.T, err error, code status.Code, text string, about ...any) {
	t.Helper()
	assert.ErrorIs(t, err, code, about...)
	assert.ErrorContains(t, err, text, about...)
}
