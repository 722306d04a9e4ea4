package partition

import (
	"math/rand/v2"
	"strconv"
	"testing"
)

// BenchmarkBatch times Owners and Locate over a million random indices, which is what vec[idx] asks.
func BenchmarkBatch(b *testing.B) {
	const size = 8_000_003
	globals := make([]int64, 1<<20)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range globals {
		globals[i] = random.Int64N(size - 1)
	}
	owners, locals := make([]int32, len(globals)), make([]int64, len(globals))
	for _, ranks := range []int{2, 3, 64} {
		for _, row := range benchmarked(b, size, ranks) {
			b.Run("Owners/"+row.name, func(b *testing.B) {
				each(b, len(globals), func() { row.p.Owners(globals, owners) })
			})
			b.Run("Locate/"+row.name, func(b *testing.B) {
				each(b, len(globals), func() { row.p.Locate(ranks/2, globals, locals) })
			})
		}
	}
}

func benchmarked(b *testing.B, size int64, ranks int) []row {
	b.Helper()
	of := func(name string) string { return name + " on " + strconv.Itoa(ranks) }
	block, err := NewBlock(size, ranks)
	rows := []row{{name: of("block"), p: must(b, block, err)}}
	cyclic, err := NewCyclic(size, ranks)
	rows = append(rows, row{name: of("cyclic"), p: must(b, cyclic, err)})
	hundred, err := NewBlockCyclic(size, ranks, 100)
	rows = append(rows, row{name: of("blocks of 100"), p: must(b, hundred, err)})
	sizes := make([]int64, ranks)
	for rank := range sizes {
		sizes[rank] = block.LocalSize(rank)
	}
	explicit, err := NewExplicit(sizes)
	rows = append(rows, row{name: of("explicit"), p: must(b, explicit, err)})
	hash, err := NewHash(size, ranks)
	rows = append(rows, row{name: of("hash"), p: must(b, hash, err)})
	rows = append(rows, row{name: of("start of cyclic"), p: NewSub(cyclic, 0, size-1)})
	return append(rows, row{name: of("end of block"), p: NewSub(block, 1, size-1)})
}

// BenchmarkHash times what a Hash costs before its first answer.
func BenchmarkHash(b *testing.B) {
	const size = 1 << 20
	b.Run("NewHash", func(b *testing.B) {
		each(b, size, func() { _, _ = NewHash(size, 3) })
	})
	b.Run("set", func(b *testing.B) {
		each(b, size, func() { newMembers(size, 1, 3) })
	})
}

// each reports the time of one index of n.
func each(b *testing.B, n int, f func()) {
	for b.Loop() {
		f()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/index")
}
