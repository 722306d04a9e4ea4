package radix

import (
	"dtl/core/dtype"
	"dtl/core/memory"
)

// RecordType returns the type of the records that keep elements and their numbers together, where numbers are below n:
// a word with both where it has room, else two.
func RecordType(t dtype.Type, n int64) dtype.Type {
	if t.Size() <= 4 && n <= 1<<32 {
		return dtype.Uint64
	}
	return dtype.Complex128
}

// Records makes records of elements, numbered from first on. All NaNs get one key, so that records in the order of
// uint64 are sorted stably.
func Records(records, s memory.Span, o Order, first int64, workers Workers) {
	switch s.Type.Size() {
	case 1:
		numbered[uint8](records, s, &o, first, workers)
	case 2:
		numbered[uint16](records, s, &o, first, workers)
	case 4:
		numbered[uint32](records, s, &o, first, workers)
	default:
		numbered[uint64](records, s, &o, first, workers)
	}
}

func numbered[T words](records, s memory.Span, o *Order, first int64, workers Workers) {
	a := items[T](s)
	workers.over(len(a), workers.parts(len(a)), func(_, lo, hi int) {
		order := *o
		if records.Type == dtype.Uint64 {
			for i, out := lo, items[uint64](records); i < hi; i++ {
				out[i] = order.rank(uint64(a[i]))<<32 | uint64(first+int64(i))
			}
			return
		}
		for i, out := lo, items[[2]uint64](records); i < hi; i++ {
			out[i] = [2]uint64{order.rank(uint64(a[i])), uint64(first + int64(i))}
		}
	})
}

// rank is key with one for all NaNs.
func (o *Order) rank(b uint64) uint64 {
	return min(o.key(b), o.greatest())
}

// Numbers writes the numbers of records to dst, which is int64.
func Numbers(dst, records memory.Span, workers Workers) {
	out := memory.As[int64](dst)
	workers.over(len(out), workers.parts(len(out)), func(_, lo, hi int) {
		if records.Type == dtype.Uint64 {
			for i, in := lo, items[uint64](records); i < hi; i++ {
				out[i] = int64(in[i] & (1<<32 - 1))
			}
			return
		}
		for i, in := lo, items[[2]uint64](records); i < hi; i++ {
			out[i] = int64(in[i][1])
		}
	})
}
