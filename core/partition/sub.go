package partition

// Sub is a range of another partition's elements, each where it was.
type Sub struct {
	of     Partition
	offset int64
	count  int64
}

var _ Partition = Sub{}

// NewSub returns the elements [offset, offset+count) of a partition, which has them.
func NewSub(of Partition, offset, count int64) Sub {
	if s, ok := of.(Sub); ok {
		return Sub{of: s.of, offset: s.offset + offset, count: count}
	}
	return Sub{of: of, offset: offset, count: count}
}

// Range returns the elements [offset, offset+count) of a partition, which has them, as the simplest partition that says
// where they are: ranges of ranges are Explicit.
func Range(of Partition, offset, count int64) Partition {
	if offset == 0 && count == of.GlobalSize() {
		return of
	}
	sub := NewSub(of, offset, count)
	switch {
	case contiguous(of):
		offsets := make([]int64, sub.Ranks()+1)
		for rank := range sub.Ranks() {
			offsets[rank+1] = offsets[rank] + sub.LocalSize(rank)
		}
		return Explicit{offsets: offsets}
	case of.Kind() == KindReplicated:
		return Replicated{size: count, ranks: of.Ranks()}
	}
	return sub
}

// Of returns the partition that this is a range of.
func (s Sub) Of() Partition { return s.of }

// Kind returns the whole's kind.
func (s Sub) Kind() Kind { return s.of.Kind() }

// GlobalSize returns the number of elements in the range.
func (s Sub) GlobalSize() int64 { return s.count }

// Ranks returns the number of ranks.
func (s Sub) Ranks() int { return s.of.Ranks() }

// Skipped returns how many of a rank's elements in the whole lie before the range.
func (s Sub) Skipped(rank int) int64 { return s.of.Before(rank, s.offset) }

// LocalSize returns the number of elements of the range that a rank holds.
func (s Sub) LocalSize(rank int) int64 { return s.Before(rank, s.count) }

// Owner returns the rank that holds an index of the range.
func (s Sub) Owner(global int64) int { return s.of.Owner(s.offset + global) }

// Holds reports whether a rank holds an index of the range.
func (s Sub) Holds(rank int, global int64) bool { return s.of.Holds(rank, s.offset+global) }

// Before returns how many of a rank's elements in the range have an index below global.
func (s Sub) Before(rank int, global int64) int64 {
	return s.of.Before(rank, s.offset+global) - s.Skipped(rank)
}

// Global returns the index in the range of a rank's local one.
func (s Sub) Global(rank int, local int64) int64 {
	return s.of.Global(rank, s.Skipped(rank)+local) - s.offset
}

// From returns the rank's elements in the range whose index is global or more.
func (s Sub) From(rank int, global int64) Runs {
	return &within{s: s, skipped: s.Skipped(rank), runs: s.of.From(rank, s.offset+global)}
}

// within yields the whole's runs up to the end of the range.
type within struct {
	s       Sub
	skipped int64
	runs    Runs
}

func (w *within) Next() (Run, bool) {
	r, ok := w.runs.Next()
	if !ok || r.Global >= w.s.offset+w.s.count {
		return Run{}, false
	}
	r.Global -= w.s.offset
	r.Local -= w.skipped
	r.Count = min(r.Count, (w.s.count-1-r.Global)/r.Step+1)
	return r, true
}

// Locate sets locals[i] to where the rank holds globals[i], or to -1.
func (s Sub) Locate(rank int, globals, locals []int64) {
	locals = locals[:len(globals)]
	for i, g := range globals {
		locals[i] = s.offset + g
	}
	s.of.Locate(rank, locals, locals)
	skipped := s.Skipped(rank)
	for i, local := range locals {
		locals[i] = local - skipped&^(local>>63) // -1 stays: no branch to guess
	}
}

// Owners sets owners[i] to the owner of globals[i].
func (s Sub) Owners(globals []int64, owners []int32) {
	if s.offset == 0 {
		s.of.Owners(globals, owners)
		return
	}
	whole := make([]int64, min(len(globals), 1024))
	for len(globals) > 0 {
		n := min(len(globals), len(whole))
		for i, g := range globals[:n] {
			whole[i] = s.offset + g
		}
		s.of.Owners(whole[:n], owners[:n])
		globals, owners = globals[n:], owners[n:]
	}
}
