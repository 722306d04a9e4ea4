package partition

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"dtl/core/status"
)

func mustBlock(t *testing.T, size int64, ranks int) Block {
	t.Helper()
	b, err := NewBlock(size, ranks)
	if err != nil {
		t.Fatal(err)
	}
	if b.GlobalSize() != size || b.Ranks() != ranks {
		t.Fatalf("%d elements on %d ranks, want %d on %d", b.GlobalSize(), b.Ranks(), size, ranks)
	}
	return b
}

func TestSizes(t *testing.T) {
	rows := []struct {
		name  string
		size  int64
		sizes []int64
	}{
		{"one rank", 5, []int64{5}},
		{"even", 8, []int64{4, 4}},
		{"uneven", 10, []int64{3, 3, 2, 2}},
		{"one over", 10, []int64{4, 3, 3}},
		{"fewer elements than ranks", 2, []int64{1, 1, 0, 0, 0}},
		{"no elements", 0, []int64{0, 0, 0}},
		{"one of each", 3, []int64{1, 1, 1}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			b := mustBlock(t, row.size, len(row.sizes))
			var got, owners, want []int64
			for rank, n := range row.sizes {
				got = append(got, b.LocalSize(rank))
				want = append(want, slices.Repeat([]int64{int64(rank)}, int(n))...)
			}
			if !slices.Equal(got, row.sizes) {
				t.Errorf("sizes %v, want %v", got, row.sizes)
			}
			for i := range row.size {
				owner, err := b.Owner(i)
				if err != nil {
					t.Fatal(err)
				}
				owners = append(owners, int64(owner))
			}
			if !slices.Equal(owners, want) {
				t.Errorf("owners %v, want %v", owners, want)
			}
		})
	}
}

// TestAgainstDealing deals elements out one at a time, which defines the sizes, and walks the result.
func TestAgainstDealing(t *testing.T) {
	for size := range int64(40) {
		for ranks := 1; ranks <= 12; ranks++ {
			dealt := make([]int64, ranks)
			for i := range size {
				dealt[i%int64(ranks)]++
			}
			b := mustBlock(t, size, ranks)
			var global int64
			for rank, n := range dealt {
				if b.LocalSize(rank) != n || b.Offset(rank) != global {
					t.Fatalf("%d on %d, rank %d: size %d offset %d, want %d and %d",
						size, ranks, rank, b.LocalSize(rank), b.Offset(rank), n, global)
				}
				for local := range n {
					wantPlace(t, b, global, rank, local)
					global++
				}
			}
		}
	}
}

func wantPlace(t *testing.T, b Block, global int64, rank int, local int64) {
	t.Helper()
	owner, err := b.Owner(global)
	if err != nil || owner != rank {
		t.Fatalf("owner of %d: %d (%v), want %d", global, owner, err, rank)
	}
	if got, err := b.LocalIndex(global); err != nil || got != local {
		t.Fatalf("local index of %d: %d (%v), want %d", global, got, err, local)
	}
	if got, err := b.GlobalIndex(rank, local); err != nil || got != global {
		t.Fatalf("global index of %d on rank %d: %d (%v), want %d", local, rank, got, err, global)
	}
}

func wantError(t *testing.T, err error, code status.Code, text string) {
	t.Helper()
	if !errors.Is(err, code) || !strings.Contains(err.Error(), text) {
		t.Errorf("got %v, want %v with %q", err, code, text)
	}
}

func TestRefusals(t *testing.T) {
	_, err := NewBlock(-3, 2)
	wantError(t, err, status.InvalidArgument, "size -3 is negative")
	for _, ranks := range []int{0, -1, math.MinInt} {
		_, err = NewBlock(3, ranks)
		wantError(t, err, status.InvalidArgument, "ranks: there must be at least 1")
	}
	b := mustBlock(t, 10, 4)
	for index, text := range map[int64]string{
		10: "index 10 outside [0, 10)", -1: "index -1 outside [0, 10)",
		math.MaxInt64: "index 9223372036854775807 outside [0, 10)", math.MinInt64: "outside [0, 10)",
	} {
		_, err = b.Owner(index)
		wantError(t, err, status.OutOfBounds, text)
		_, err = b.LocalIndex(index)
		wantError(t, err, status.OutOfBounds, text)
	}
	_, err = b.GlobalIndex(4, 0)
	wantError(t, err, status.OutOfBounds, "rank 4 outside [0, 4)")
	_, err = b.GlobalIndex(-1, 0)
	wantError(t, err, status.OutOfBounds, "rank -1 outside [0, 4)")
	_, err = b.GlobalIndex(3, 2)
	wantError(t, err, status.OutOfBounds, "index 2 outside [0, 2) of rank 3")
	_, err = b.GlobalIndex(0, -1)
	wantError(t, err, status.OutOfBounds, "index -1 outside [0, 3) of rank 0")
	_, err = mustBlock(t, 0, 3).Owner(0)
	wantError(t, err, status.OutOfBounds, "index 0 outside [0, 0)")
	_, err = Block{}.Owner(0)
	wantError(t, err, status.OutOfBounds, "index 0 outside [0, 0)")
}

// FuzzBlock compares with arithmetic that cannot overflow, at every size: the offset of rank r is
// r*(size/ranks) + min(r, size%ranks).
func FuzzBlock(f *testing.F) {
	sizes := []int64{0, 1, 9, 10, math.MaxInt32, 1 << 62, math.MaxInt64}
	for _, size := range sizes {
		for _, ranks := range []int{1, 2, 3, 7, 1 << 20, math.MaxInt32, math.MaxInt} {
			f.Add(size, ranks, size/2, ranks/2)
			f.Add(size, ranks, size-1, ranks-1)
		}
	}
	f.Fuzz(func(t *testing.T, size int64, ranks int, index int64, rank int) {
		if size < 0 || ranks < 1 {
			if _, err := NewBlock(size, ranks); !errors.Is(err, status.InvalidArgument) {
				t.Fatalf("NewBlock(%d, %d): %v", size, ranks, err)
			}
			return
		}
		b := mustBlock(t, size, ranks)
		checkRank(t, b, int(uint(rank)%uint(ranks)))
		owner, err := b.Owner(index)
		if inside := index >= 0 && index < size; !inside {
			wantError(t, err, status.OutOfBounds, "outside [0, ")
			return
		}
		if err != nil || owner < 0 || owner >= ranks {
			t.Fatalf("owner of %d: %d, %v", index, owner, err)
		}
		// Offset is right by checkRank; so the owner is the one rank whose range holds the index.
		checkRank(t, b, owner)
		wantPlace(t, b, index, owner, index-b.Offset(owner))
	})
}

// checkRank checks a rank's offset and that its range ends where the next one starts, so that the sizes sum.
func checkRank(t *testing.T, b Block, rank int) {
	t.Helper()
	n, size, r := big.NewInt(int64(b.Ranks())), big.NewInt(b.GlobalSize()), big.NewInt(int64(rank))
	share, extra := new(big.Int).DivMod(size, n, new(big.Int))
	want := new(big.Int).Mul(r, share)
	if r.Cmp(extra) < 0 {
		extra = r
	}
	want.Add(want, extra)
	if got := big.NewInt(b.Offset(rank)); got.Cmp(want) != 0 {
		t.Fatalf("%v on %v: offset of rank %d is %v, want %v", size, n, rank, got, want)
	}
	end := b.GlobalSize()
	if rank+1 < b.Ranks() {
		end = b.Offset(rank + 1)
	}
	if b.LocalSize(rank) < 0 || b.Offset(rank)+b.LocalSize(rank) != end {
		t.Fatalf("%v on %v: rank %d ends at %d, the next begins at %d", size, n, rank, b.Offset(rank)+b.LocalSize(rank), end)
	}
}

func BenchmarkOwner(b *testing.B) {
	block, err := NewBlock(1_000_003, 7)
	if err != nil {
		b.Fatal(err)
	}
	var i int64
	for b.Loop() {
		_, _ = block.Owner(i)
		i = (i + 7919) % 1_000_003
	}
}
