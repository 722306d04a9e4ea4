package gpu

import (
	"math/bits"
	"unsafe"

	"dtl/core/backend"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/status"
)

// widest is the most bytes that a thread moves at a time.
const widest = 16

// wordOf returns the most bytes that all addresses and distances are multiples of.
func wordOf(all ...uint64) int {
	together := uint64(widest)
	for _, each := range all {
		together |= each
	}
	return 1 << bits.TrailingZeros64(together)
}

func bytesAt(at unsafe.Pointer, n int, place memory.Place) memory.Span {
	return memory.Span{Addr: at, Count: n, Type: dtype.Uint8, Place: place}
}

// onDevice calls f with a span's bytes on the device: the span, where it is there, else a copy.
func (q *queue) onDevice(s memory.Span, f func(at unsafe.Pointer) error) error {
	if s.Place != memory.Host {
		return f(s.Addr)
	}
	return q.scratch(s.Bytes(), func(b memory.Block) error {
		if err := q.Copy(bytesAt(b.Addr, s.Bytes(), b.Place), s); err != nil {
			return err
		}
		return f(b.Addr)
	})
}

// toward calls f with memory on the device for what a span is to hold: the span, where it is there, else memory that is copied to it.
func (q *queue) toward(s memory.Span, f func(at unsafe.Pointer) error) error {
	if s.Place != memory.Host {
		return f(s.Addr)
	}
	return q.scratch(s.Bytes(), func(b memory.Block) error {
		if err := f(b.Addr); err != nil {
			return err
		}
		return q.Copy(s, bytesAt(b.Addr, s.Bytes(), b.Place))
	})
}

// Take queues a kernel of kernels/moves.c.
func (q *queue) Take(dst, src memory.Span, p backend.Places) error {
	if dst.Bytes() != p.At.Count*p.Size {
		return status.New(status.Internal, "%d places of %d bytes for %d", p.At.Count, p.Size, dst.Bytes())
	}
	return q.toward(dst, func(to unsafe.Pointer) error { return q.places("take", to, src.Addr, p, p.Size) })
}

// Put queues a kernel of kernels/moves.c.
func (q *queue) Put(dst, src memory.Span, p backend.Places) error {
	each := p.Size
	if src.Bytes() == p.Size {
		each = 0
	} else if src.Bytes() != p.At.Count*p.Size {
		return status.New(status.Internal, "%d bytes for %d places of %d", src.Bytes(), p.At.Count, p.Size)
	}
	return q.onDevice(src, func(from unsafe.Pointer) error { return q.places("put", dst.Addr, from, p, each) })
}

// places queues a kernel that moves elements to or from places.
func (q *queue) places(what string, to, from unsafe.Pointer, p backend.Places, each int) error {
	size := wordOf(word(to), word(from), uint64(p.Size), uint64(p.Scale))
	f, err := q.on.kernels.named(q.on.driven, "moves", what+"_"+carriers[size].String())
	if err != nil || p.At.Count == 0 || p.Size == 0 {
		return err
	}
	return q.onDevice(p.At, func(at unsafe.Pointer) error {
		n := p.At.Count * p.Size / size
		return q.each(f, n, word(to), word(from), word(at), uint64(n), uint64(p.Size/size), uint64(each/size), uint64(p.Scale))
	})
}

// Runs queues a kernel of kernels/moves.c, or a copy where all bytes lie side by side.
func (q *queue) Runs(dst, src memory.Span, all []backend.Run) error {
	if len(all) == 1 && (all[0].Count == 1 || all[0].ToStep == all[0].Unit && all[0].FromStep == all[0].Unit) {
		r := all[0]
		n := int(r.Count * r.Unit)
		return q.Copy(bytesAt(unsafe.Add(dst.Addr, r.To), n, dst.Place), bytesAt(unsafe.Add(src.Addr, r.From), n, src.Place))
	}
	return q.onDevice(src, func(from unsafe.Pointer) error {
		return q.toward(dst, func(to unsafe.Pointer) error { return q.runs(to, from, all) })
	})
}

func (q *queue) runs(to, from unsafe.Pointer, all []backend.Run) error {
	together := word(to) | word(from)
	for _, r := range all {
		together |= uint64(r.To) | uint64(r.From) | uint64(r.Unit)
		if r.Count > 1 {
			together |= uint64(r.ToStep) | uint64(r.FromStep)
		}
	}
	size := int64(wordOf(together))
	f, err := q.on.kernels.named(q.on.driven, "moves", "runs_"+carriers[int(size)].String())
	if err != nil {
		return err
	}
	table, n := make([]int64, 0, 6*len(all)), int64(0)
	for _, r := range all {
		if r.Count > 0 && r.Unit > 0 {
			table = append(table, n, r.To, r.From, r.ToStep, r.FromStep, r.Unit/size)
			n += r.Count * r.Unit / size
		}
	}
	if n == 0 {
		return nil
	}
	return q.onDevice(memory.Of(dtype.Int64, table), func(at unsafe.Pointer) error {
		return q.each(f, int(n), word(to), word(from), word(at), uint64(n), uint64(len(table)/6))
	})
}

// Truths queues the kernels of kernels/moves.c that find where a mask is true, and waits for their number.
func (q *queue) Truths(mask memory.Span, base int64) (*memory.Storage, int, error) {
	k := &q.on.kernels
	count, err := k.named(q.on.driven, "moves", "count_true_bool")
	if err != nil {
		return nil, 0, err
	}
	place, err := k.named(q.on.driven, "moves", "place_true_bool")
	if err != nil {
		return nil, 0, err
	}
	each := max(leastPiece, (mask.Count+mostThreads-1)/mostThreads)
	pieces := (mask.Count + each - 1) / each
	blocks := (pieces + blockThreads - 1) / blockThreads
	var found *memory.Storage
	n := 0
	err = q.scratch(8*pieces, func(counts memory.Block) (err error) {
		words := []uint64{word(counts.Addr), word(mask.Addr), 0, uint64(mask.Count), uint64(each), uint64(base)}
		if pieces > 0 {
			if err := q.on.launch(q.stream, count, blocks, blockThreads, words); err != nil {
				return err
			}
		}
		if n, err = q.before(memory.Span{Addr: counts.Addr, Count: pieces, Type: dtype.Uint64, Place: counts.Place}); err != nil {
			return err
		}
		if found, err = memory.NewScratch(&q.own, 8*n, grain); err != nil || n == 0 {
			return err
		}
		words[2] = word(found.Addr())
		return q.on.launch(q.stream, place, blocks, blockThreads, words)
	})
	if err != nil && found != nil {
		found.Release()
		found = nil
	}
	return found, n, err
}

// before gives each of some counts what those before it come to, and returns what all come to.
func (q *queue) before(counts memory.Span) (int, error) {
	scan, err := q.Scan(backend.Scan{Operator: "sum", Type: dtype.Uint64, Totals: dtype.Uint64, Exclusive: true}, counts)
	if err != nil {
		return 0, err
	}
	defer scan.Close()
	ahead, sum := make([][2]int64, len(scan.Totals())), int64(0)
	for i, total := range scan.Totals() {
		ahead[i][0] = sum
		sum += total[0]
	}
	return int(sum), scan.Write(counts, ahead)
}
