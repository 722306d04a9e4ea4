package partition

import (
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// dealt is what a partition must be: the global indices of each rank, found by dealing them out one at a time.
type dealt struct {
	size  int64
	parts [][]int64
}

func deal(size int64, ranks int, next func(i int64) int) dealt {
	d := dealt{size: size, parts: make([][]int64, ranks)}
	for i := range size {
		rank := next(i)
		d.parts[rank] = append(d.parts[rank], i)
	}
	return d
}

// dealBlocks gives each rank a block of the given length in turn.
func dealBlocks(size int64, ranks int, block int64) dealt {
	rank, left := 0, block
	return deal(size, ranks, func(int64) int {
		if left == 0 {
			rank, left = rank+1, block
			if rank == ranks {
				rank = 0
			}
		}
		left--
		return rank
	})
}

// dealSizes fills the ranks one after the other.
func dealSizes(sizes []int64) dealt {
	size, rank, given := int64(0), 0, int64(0)
	for _, n := range sizes {
		size += n
	}
	return deal(size, len(sizes), func(int64) int {
		for given == sizes[rank] {
			rank, given = rank+1, 0
		}
		given++
		return rank
	})
}

// blockSizes deals elements like cards, which defines how many each rank of a Block has.
func blockSizes(size int64, ranks int) []int64 {
	sizes := make([]int64, ranks)
	for i := range size {
		sizes[i%int64(ranks)]++
	}
	return sizes
}

// hashOwner is the owner by the documented formula, in arithmetic without overflow.
func hashOwner(i int64, ranks int) int {
	two64 := new(big.Int).Lsh(big.NewInt(1), 64)
	word := func(x *big.Int) *big.Int { return x.Mod(x, two64) }
	hex := func(s string) *big.Int {
		x, _ := new(big.Int).SetString(s, 16)
		return x
	}
	shifted := func(x *big.Int, n uint) *big.Int { return new(big.Int).Xor(x, new(big.Int).Rsh(x, n)) }
	z := word(new(big.Int).Add(big.NewInt(i), hex("9e3779b97f4a7c15")))
	z = word(new(big.Int).Mul(shifted(z, 30), hex("bf58476d1ce4e5b9")))
	z = word(new(big.Int).Mul(shifted(z, 27), hex("94d049bb133111eb")))
	z = shifted(z, 31)
	z.Mul(z, big.NewInt(int64(ranks)))
	return int(z.Rsh(z, 64).Int64())
}

func dealHash(size int64, ranks int) dealt {
	return deal(size, ranks, func(i int64) int { return hashOwner(i, ranks) })
}

func dealAll(size int64, ranks int) dealt {
	one := deal(size, 1, func(int64) int { return 0 })
	return dealt{size: size, parts: slices.Repeat(one.parts, ranks)}
}

// sub keeps the indices in [offset, offset+count), counted from offset.
func (d dealt) sub(offset, count int64) dealt {
	s := dealt{size: count, parts: make([][]int64, len(d.parts))}
	for rank, part := range d.parts {
		for _, g := range part {
			if g >= offset && g < offset+count {
				s.parts[rank] = append(s.parts[rank], g-offset)
			}
		}
	}
	return s
}

func (d dealt) owner(global int64) int {
	return slices.IndexFunc(d.parts, func(part []int64) bool { return slices.Contains(part, global) })
}

// row is a partition and what it must be.
type row struct {
	name string
	p    Partition
	want dealt
}

func must[P Partition](t testing.TB, p P, err error) Partition {
	t.Helper()
	require.NoError(t, err)
	return p
}

// kinds returns every kind of partition of so many elements, with several parameters.
func kinds(t testing.TB, size int64, ranks int) []row {
	t.Helper()
	var rows []row
	add := func(p Partition, want dealt, name string, extra ...any) {
		name = fmt.Sprintf("%s/%d on %d", fmt.Sprintf(name, extra...), size, ranks)
		rows = append(rows, row{name, p, want})
	}
	even := blockSizes(size, ranks)
	block, err := NewBlock(size, ranks)
	add(must(t, block, err), dealSizes(even), "block")
	cyclic, err := NewCyclic(size, ranks)
	add(must(t, cyclic, err), dealBlocks(size, ranks, 1), "cyclic")
	for _, n := range []int64{1, 2, 3, 8, 64, 5000} {
		p, err := NewBlockCyclic(size, ranks, n)
		add(must(t, p, err), dealBlocks(size, ranks, n), "blocks of %d", n)
	}
	hash, err := NewHash(size, ranks)
	add(must(t, hash, err), dealHash(size, ranks), "hash")
	replicated, err := NewReplicated(size, ranks)
	add(must(t, replicated, err), dealAll(size, ranks), "replicated")
	backwards := slices.Clone(even)
	slices.Reverse(backwards)
	explicit, err := NewExplicit(backwards)
	add(must(t, explicit, err), dealSizes(backwards), "explicit")
	for _, rank := range []int{0, ranks / 2, ranks - 1} {
		sizes := make([]int64, ranks)
		sizes[rank] = size
		add(On(rank, ranks, size), dealSizes(sizes), "all on %d", rank)
	}
	return rows
}
