package transfer_test

import (
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"dtl/backends/cpu"
	"dtl/core/backend"
	"dtl/core/comm"
	"dtl/core/partition"
	"dtl/core/transfer"
)

// dice turns a fuzzer's bytes into choices.
type dice struct{ data []byte }

// below returns a number in [0, n).
func (d *dice) below(n int64) int64 {
	v := int64(0)
	for range 2 {
		v <<= 8
		if len(d.data) > 0 {
			v |= int64(d.data[0])
			d.data = d.data[1:]
		}
	}
	return v % n
}

// partition chooses a partition.
func (d *dice) partition(t *testing.T, n int64, ranks int) partition.Partition {
	var p partition.Partition
	var err error
	switch d.below(7) {
	case 0:
		p, err = partition.NewBlock(n, ranks)
	case 1:
		p, err = partition.NewCyclic(n, ranks)
	case 2:
		p, err = partition.NewBlockCyclic(n, ranks, 1+d.below(9))
	case 3:
		p, err = partition.NewHash(n, ranks)
	case 4:
		p, err = partition.NewReplicated(n, ranks)
	case 5:
		sizes, left := make([]int64, ranks), n
		for r := range sizes {
			sizes[r] = d.below(left + 1)
			left -= sizes[r]
		}
		sizes[0] += left
		p, err = partition.NewExplicit(sizes)
	default:
		skip := d.below(20)
		p, err = partition.NewBlockCyclic(n+skip+d.below(20), ranks, 1+d.below(5))
		return partition.NewSub(onePart(t, p, err), skip, n)
	}
	return onePart(t, p, err)
}

// window chooses count indices, and a size that has them.
func (d *dice) window(count int64) (transfer.Slice, int64) {
	w := transfer.Slice{Start: d.below(30), Step: 1 + d.below(12), Count: count}
	last := w.Start + max(count-1, 0)*w.Step
	size := last + 1 + d.below(30)
	if d.below(2) == 1 {
		w.Start, w.Step = last, -w.Step
	}
	return w, size
}

func (d *dice) side(t *testing.T, counts []int64) transfer.Side {
	var s transfer.Side
	dims := make([]partition.Partition, len(counts))
	for i, n := range counts {
		w, size := d.window(n)
		s.Window = append(s.Window, w)
		if ranks := 1 + int(d.below(4)); i == 0 {
			dims[i] = d.partition(t, size, ranks)
		} else {
			p, err := partition.NewBlock(size, 1)
			dims[i] = onePart(t, p, err)
		}
	}
	s.Layout = layout(t, dims...)
	return s
}

// FuzzTransfer moves any window to any other.
func FuzzTransfer(f *testing.F) {
	f.Add([]byte("any partition to any other, in steps, on a few ranks, with a small limit"))
	for seed := range byte(60) {
		data := make([]byte, 120)
		for i := range data {
			data[i] = byte(i)*seed*31 + seed>>2*byte(i*i) + seed
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d := &dice{data}
		counts := []int64{d.below(300)}
		if d.below(3) == 0 {
			counts = []int64{d.below(20), d.below(8)}
		}
		trial{
			src: d.side(t, counts), dst: d.side(t, counts),
			item: 1 + int(d.below(17)), pad: [2]int64{d.below(2), d.below(2)}, limit: d.below(300), ranks: 4,
		}.run(t)
	})
}

// BenchmarkTransfer moves 1 Mi float64 between two ranks of one process and back.
func BenchmarkTransfer(b *testing.B) {
	const n, item = 1 << 20, 8
	blocks, err := partition.NewBlock(n, 2)
	require.NoError(b, err)
	cyclic, err := partition.NewCyclic(n, 2)
	require.NoError(b, err)
	dealt, err := partition.NewBlockCyclic(n, 2, 4)
	require.NoError(b, err)
	hash, err := partition.NewHash(n, 2)
	require.NoError(b, err)
	quarter, err := partition.NewExplicit([]int64{n / 4, n * 3 / 4})
	require.NoError(b, err)
	for name, other := range map[string]partition.Partition{
		"cyclic": cyclic, "block cyclic": dealt, "hash": hash, "quarters": quarter,
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(2 * n * item)
			thereAndBack(b, blocks, other, item)
		})
	}
}

func thereAndBack(b *testing.B, p, q partition.Partition, item int) {
	a, err := partition.NewLayout(p)
	require.NoError(b, err)
	z, err := partition.NewLayout(q)
	require.NoError(b, err)
	there, err := transfer.New(transfer.Side{Layout: a}, transfer.Side{Layout: z}, item)
	require.NoError(b, err)
	back, err := transfer.New(transfer.Side{Layout: z}, transfer.Side{Layout: a}, item)
	require.NoError(b, err)
	memoryOf := func(l partition.Layout, rank int) transfer.Memory {
		part := make([]uint64, l.LocalSize(rank)) // this backend copies before it returns
		return transfer.Memory{Addr: unsafe.Pointer(unsafe.SliceData(part)), Strides: []int64{int64(item)}}
	}
	host, err := backend.As[backend.MemoryProvider](backend.Local)
	require.NoError(b, err)
	var both sync.WaitGroup
	for _, rank := range cpu.Group(2) {
		both.Go(func() {
			c, err := comm.New(rank, host.Memory())
			if err != nil {
				panic(err)
			}
			from, to := memoryOf(a, c.Rank()), memoryOf(z, c.Rank())
			for range b.N {
				if there.Execute(c, from, to, 0) != nil || back.Execute(c, to, from, 0) != nil {
					panic("a transfer failed")
				}
			}
		})
	}
	both.Wait()
}
