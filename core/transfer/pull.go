package transfer

import (
	"errors"
	"unsafe"

	"dtl/core/board/cma"
	"dtl/core/comm"
	"dtl/core/phase"
)

// Where each rank can read the memory of all others, elements are not sent: their receiver reads them where they are. So nobody packs, no
// rank waits for another one between the agreement and the end, and a message less lies between source and destination.

const (
	// worth is how many bytes some rank receives at least: reading costs the ranks one more meeting, at the end.
	worth = 256 << 10
	// shortest is how many bytes a stretch has at least on the average: the system takes some time for each.
	shortest = 512
)

// Share returns what this rank tells the others in the agreement before the transfer: where its part is, how far apart neighbours
// are in each of two dimensions, and how many bytes it would read, or -1 if it has to be sent messages. Of no transfer it is nothing.
func (t *Transfer) Share() (s comm.Shared) {
	if t == nil {
		return s
	}
	s[0], s[3] = int64(uintptr(t.memory[0].Addr)), -1
	copy(s[1:3], t.memory[0].Strides)
	if t.reads() {
		s[3] = t.bytes
	}
	return s
}

// reads reports whether this rank could read what it receives.
func (t *Transfer) reads() bool {
	if len(t.plan.dims) > 2 || t.plan.onDevices || t.plan.link != nil || t.OnDevice() || t.others != nil || t.comm.Reading() == nil {
		return false
	}
	for _, f := range t.in {
		if f == nil {
			continue
		}
		g, _ := f.stretches()
		if f.bytes/f.blocks(g, [2][]int64{f.dense(0), f.dense(1)}) < shortest {
			return false
		}
	}
	return true
}

// Pulls reports, from what all ranks have told, whether they read; alike on all ranks. Then Pull takes the place of Run.
func (t *Transfer) Pulls(all []comm.Shared) bool {
	most := int64(0)
	for _, s := range all {
		if s[3] < 0 {
			return false
		}
		most = max(most, s[3])
	}
	return most >= worth
}

// Pull moves the elements and releases the transfer. Until all ranks have returned from it, of which the caller has them agree, none changes
// its part of the source. A rank that fails goes on with the others' parts. Local.
func (t *Transfer) Pull(all []comm.Shared) error {
	defer t.Release()
	p := &puller{phase: phase.Begin("redistribution", "exchange", t.bytes), board: &t.comm.Reading().Presences}
	defer p.phase.End()
	failed := t.keep()
	for _, f := range t.in {
		if f != nil {
			failed = errors.Join(failed, p.pull(f, all[f.peer]))
		}
	}
	return failed
}

// puller reads what one rank has for this one.
type puller struct {
	board *cma.Presences
	phase *phase.Phase
	peer  int
	from  uint64         // where the first element of the source is in the other process
	to    unsafe.Pointer // and that of the destination here
	runs  []cma.Run
}

func (p *puller) pull(f *flow, source comm.Shared) error {
	p.peer, p.from, p.to = f.peer, uint64(source[0]), f.memory.Addr
	strides := [2][]int64{source[1 : 1+len(f.dims)], f.memory.Strides}
	w := f.pair.walk(f.grain(strides), strides)
	for left := f.bytes; left > 0; {
		s := w.next(left)
		if s.stride == [2]int64{s.unit, s.unit} {
			s.unit, s.count = s.unit*s.count, 1
		}
		if err := p.units(s); err != nil {
			return err
		}
		left -= s.unit * s.count
		p.phase.Add(s.unit * s.count)
	}
	return p.read()
}

// units notes the units of a stretch, and reads where many are noted.
func (p *puller) units(s stretch) error {
	for i := range s.count {
		p.runs = append(p.runs, cma.RunOf(unsafe.Add(p.to, s.at[1]+i*s.stride[1]), p.from+uint64(s.at[0]+i*s.stride[0]), s.unit))
		if len(p.runs) == cma.MostRuns {
			if err := p.read(); err != nil {
				return err
			}
		}
	}
	return nil
}

// read reads what is noted.
func (p *puller) read() error {
	err := p.board.ReadRuns(p.peer, p.runs)
	p.runs = p.runs[:0]
	return err
}
