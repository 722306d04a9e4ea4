package partition

import (
	"math"
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzPartition makes a partition of any kind and a range of it, and checks what must hold of all: every index has one
// owner, the sizes add up, local and global indices lead back to each other, and the runs ascend and cover the part.
func FuzzPartition(f *testing.F) {
	for kind := range uint8(KindExplicit + 1) {
		f.Add(kind, uint16(0), uint8(1), uint16(1), uint16(0), uint16(0))
		f.Add(kind, uint16(1), uint8(7), uint16(3), uint16(0), uint16(1))
		f.Add(kind, uint16(5), uint8(7), uint16(1), uint16(2), uint16(2))
		f.Add(kind, uint16(1000), uint8(3), uint16(7), uint16(100), uint16(512))
		f.Add(kind, uint16(1024), uint8(1), uint16(2000), uint16(512), uint16(512))
	}
	f.Fuzz(func(t *testing.T, kind uint8, size uint16, ranks uint8, block, offset, count uint16) {
		p := fuzzed(t, Kind(kind)%(KindExplicit+1), int64(size%3000), int(ranks%9)+1, int64(block)+1)
		checkWhole(t, p)
		o := int64(offset) % (p.GlobalSize() + 1)
		checkWhole(t, NewSub(p, o, int64(count)%(p.GlobalSize()-o+1)))
	})
}

func fuzzed(t *testing.T, kind Kind, size int64, ranks int, block int64) Partition {
	switch kind {
	case KindCyclic:
		p, err := NewCyclic(size, ranks)
		return must(t, p, err)
	case KindBlockCyclic:
		p, err := NewBlockCyclic(size, ranks, block)
		return must(t, p, err)
	case KindHash:
		p, err := NewHash(size, ranks)
		return must(t, p, err)
	case KindReplicated:
		p, err := NewReplicated(size, ranks)
		return must(t, p, err)
	case KindExplicit:
		sizes := make([]int64, ranks)
		for i := range sizes {
			sizes[i] = block * int64(i*i+3) % (size + 1)
		}
		p, err := NewExplicit(sizes)
		return must(t, p, err)
	}
	p, err := NewBlock(size, ranks)
	return must(t, p, err)
}

func checkWhole(t *testing.T, p Partition) {
	t.Helper()
	holders := make([]int, p.GlobalSize())
	for rank := range p.Ranks() {
		local, last := int64(0), int64(-1)
		runs := p.From(rank, 0)
		for r, ok := runs.Next(); ok; r, ok = runs.Next() {
			require.True(t, r.Count > 0 && r.Local == local, "%+v after %d elements", r, local)
			for i := range r.Count {
				g := r.Global + i*r.Step
				if g <= last || p.Global(rank, local) != g || p.Before(rank, g) != local || !p.Holds(rank, g) {
					require.FailNow(t, "place", "%d on rank %d, after %d", g, rank, last)
				}
				holders[g]++
				local, last = local+1, g
			}
		}
		require.Equal(t, p.LocalSize(rank), local)
	}
	want := 1
	if p.Kind() == KindReplicated {
		want = p.Ranks()
	}
	for g, n := range holders {
		if n != want || !p.Holds(p.Owner(int64(g)), int64(g)) {
			require.FailNow(t, "holders", "of %d: %d, want %d and the owner", g, n, want)
		}
	}
}

// FuzzPartitionLarge compares the kinds that are arithmetic with their definitions, at sizes that cannot be walked.
func FuzzPartitionLarge(f *testing.F) {
	for _, size := range []int64{1, 9, 1<<32 - 1, 1 << 62, math.MaxInt64} {
		for _, ranks := range []int32{1, 2, 3, 1 << 20, math.MaxInt32} {
			for _, block := range []int64{1, 3, 1 << 33, math.MaxInt64} {
				f.Add(size, ranks, block, size/2, size/3)
				f.Add(size, ranks, block, size-1, int64(0))
			}
		}
	}
	f.Fuzz(func(t *testing.T, size int64, ranks int32, block, index, offset int64) {
		if size < 1 || ranks < 1 || block < 1 || index < 0 || offset < 0 {
			return
		}
		index %= size
		checkBlock(t, size, int(ranks), index)
		checkCyclic(t, size, int(ranks), block, index)
		p, err := NewBlockCyclic(size, int(ranks), block)
		require.NoError(t, err)
		offset %= index + 1
		s := NewSub(p, offset, size-offset)
		rank := p.Owner(index)
		checkPlace(t, s, index-offset, rank, p.Before(rank, index)-p.Before(rank, offset))
	})
}

// FuzzDivisor compares with the processor's division.
func FuzzDivisor(f *testing.F) {
	for _, n := range []int64{0, 1, 2, 6, 7, math.MaxUint32, math.MaxInt64 - 1, math.MaxInt64} {
		for _, by := range []uint64{1, 2, 3, 7, 1 << 31, 1<<32 - 1, 1<<32 + 1, 1 << 62, math.MaxInt64, 1 << 63} {
			f.Add(n, by)
		}
	}
	f.Fuzz(func(t *testing.T, n int64, by uint64) {
		if n < 0 || by < 1 || by > 1<<63 {
			return
		}
		d := newDivisor(by)
		q, rest := d.divide(n)
		require.Equal(t, uint64(n)/by, uint64(q))
		require.Equal(t, uint64(n)%by, uint64(rest))
		if above, exact := d.above(n); exact {
			high, _ := bits.Mul64(uint64(n), above)
			require.Equal(t, uint64(n)/by, high)
		}
	})
}
