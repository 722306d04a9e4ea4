package gpu

import (
	"unsafe"

	"dtl/core/backend"
	"dtl/core/dtype"
	"dtl/core/memory"
)

// totalBytes is the size of a total of a scan.
const totalBytes = 16

// scanned is a scan whose pieces have their totals: those of the elements, and, where these are many, those of pieces of the totals.
type scanned struct {
	q      *queue
	how    backend.Scan
	src    memory.Span
	each   [2]int // how many elements a thread takes, and how many totals
	n      [2]int // how many totals there are of each
	work   memory.Block
	totals [][2]int64
}

var _ backend.Scanned = (*scanned)(nil)

// Scan queues the kernels of kernels/scans.c that combine pieces, and waits for what they make.
func (q *queue) Scan(how backend.Scan, src memory.Span) (backend.Scanned, error) {
	s := &scanned{q: q, how: how, src: src}
	if _, err := s.kernel("scan", how.Type); err != nil || src.Count == 0 {
		return s, err
	}
	s.each[0] = max(eachThread, (src.Count+mostThreads-1)/mostThreads)
	s.n[0] = (src.Count + s.each[0] - 1) / s.each[0]
	s.each[1] = (s.n[0] + fewPartials - 1) / fewPartials
	s.n[1] = (s.n[0] + s.each[1] - 1) / s.each[1]
	work, err := q.own.AllocateUsed((s.n[0]+s.n[1])*totalBytes, grain)
	if err != nil {
		return nil, err
	}
	s.work = work
	if err := s.total(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// level returns where the totals of elements are, or those of the totals; these are the same where they are few.
func (s *scanned) level(i int) memory.Span {
	from := i * s.n[0]
	if s.each[1] == 1 {
		from = 0
	}
	return memory.Span{
		Addr: unsafe.Add(s.work.Addr, from*totalBytes), Count: s.n[i] * totalBytes, Type: dtype.Uint8, Place: s.work.Place,
	}
}

func (s *scanned) kernel(what string, t dtype.Type) (uintptr, error) {
	return s.q.on.kernels.named(s.q.on.driven, "scans", what+"_"+s.how.Operator+"_"+t.String())
}

// launch queues a kernel whose threads take so many of n each.
func (s *scanned) launch(what string, t dtype.Type, out, a, before unsafe.Pointer, n, each int) error {
	f, err := s.kernel(what, t)
	if err != nil {
		return err
	}
	exclusive := uint64(0)
	if s.how.Exclusive {
		exclusive = 1
	}
	threads := (n + each - 1) / each
	return s.q.on.launch(s.q.stream, f, (threads+blockThreads-1)/blockThreads, blockThreads,
		[]uint64{word(out), word(a), word(before), uint64(n), uint64(each), exclusive})
}

func (s *scanned) total() error {
	first, last := s.level(0), s.level(1)
	if err := s.launch("totals", s.how.Type, first.Addr, s.src.Addr, nil, s.src.Count, s.each[0]); err != nil {
		return err
	}
	if s.each[1] > 1 {
		if err := s.launch("merge_totals", s.how.Totals, last.Addr, first.Addr, nil, s.n[0], s.each[1]); err != nil {
			return err
		}
	}
	s.totals = make([][2]int64, s.n[1])
	return s.q.Copy(memory.Span{Addr: unsafe.Pointer(&s.totals[0]), Count: last.Count, Type: dtype.Uint8}, last)
}

// Totals returns what the pieces come to.
func (s *scanned) Totals() [][2]int64 { return s.totals }

// Write queues what writes each element's result.
func (s *scanned) Write(dst memory.Span, before [][2]int64) error {
	if s.src.Count == 0 {
		return nil
	}
	first, last := s.level(0), s.level(1)
	if err := s.q.Copy(last, memory.Span{Addr: unsafe.Pointer(&before[0]), Count: last.Count, Type: dtype.Uint8}); err != nil {
		return err
	}
	if s.each[1] > 1 {
		if err := s.launch("spread_totals", s.how.Totals, first.Addr, first.Addr, last.Addr, s.n[0], s.each[1]); err != nil {
			return err
		}
	}
	return s.launch("scan", s.how.Type, dst.Addr, s.src.Addr, first.Addr, s.src.Count, s.each[0])
}

// Close gives the memory of the totals back.
func (s *scanned) Close() {
	if s.work.Addr != nil {
		s.q.own.Deallocate(s.work)
		s.work = memory.Block{}
	}
}
