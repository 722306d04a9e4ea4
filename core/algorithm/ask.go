package algorithm

import (
	"unsafe"

	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/kernel/move"
	"dtl/core/memory"
)

// ask has each key answered by its owner. Collective.
func ask(over *comm.Comm, keys []uint64, owners []int32, answers []int64, answer func(key uint64) int64) error {
	ranks := over.Size()
	asked, next := make([]int64, ranks), make([]int, ranks)
	for _, rank := range owners {
		asked[rank]++
	}
	asking, err := over.Counts(asked)
	if err != nil {
		return err
	}
	for rank := 1; rank < ranks; rank++ {
		next[rank] = next[rank-1] + int(asked[rank-1])
	}
	count := len(keys) + int(sum(asking))
	storage, err := memory.NewStorage(over.Memory(), 8*(count+1), memory.Alignment)
	if err != nil {
		return err
	}
	defer storage.Release()
	both := memory.Span{Addr: storage.Addr(), Count: count, Type: dtype.Uint64}
	mine, theirs := both.Slice(0, len(keys)), both.Slice(len(keys), count)
	if len(keys) > 0 {
		move.PackByOwner(mine.Addr, unsafe.Pointer(&keys[0]), owners, append([]int{}, next...), 8)
	}
	if err := over.Exchange(divided(mine, asked), divided(theirs, asking)); err != nil {
		return err
	}
	for i, key := range memory.As[uint64](theirs) {
		memory.As[uint64](theirs)[i] = uint64(answer(key))
	}
	if err := over.Exchange(divided(theirs, asking), divided(mine, asked)); err != nil {
		return err
	}
	if len(keys) > 0 {
		move.UnpackByOwner(unsafe.Pointer(&answers[0]), mine.Addr, owners, next, 8)
	}
	return nil
}

func sum(counts []int64) (n int64) {
	for _, count := range counts {
		n += count
	}
	return n
}
