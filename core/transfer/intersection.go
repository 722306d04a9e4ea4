package transfer

import (
	"slices"

	"dtl/core/partition"
)

// piece is some indices along one dimension that one rank holds at the source and one at the destination: the first
// lies at local on each side, and each next one step further. It is the window's first. Each stands for width of
// them, which lie side by side on both sides; usually 1.
type piece struct {
	first, count, width int64
	local, step         [2]int64
}

// reader yields a rank's indices along one dimension of one side, in ascending order of the window's.
type reader struct {
	window Slice
	part   partition.Partition
	rank   int
	runs   partition.Runs
	list   []progression // those of a window that descends, the last first
	now    progression
	ok     bool
}

// start goes to the first progression that does not end before the window's index from.
func (r *reader) start(from int64) {
	w := r.window
	if w.Step > 0 {
		r.runs = r.part.From(r.rank, w.at(from))
	} else {
		r.collect(from)
	}
	r.next()
}

// collect lists what a window that descends has from an index on.
func (r *reader) collect(from int64) {
	w := r.window
	r.list = r.list[:0]
	runs := r.part.From(r.rank, w.at(w.Count-1))
	for run, ok := runs.Next(); ok && run.Global <= w.at(from); run, ok = runs.Next() {
		if p := w.through(run); p.count > 0 {
			r.list = append(r.list, p)
		}
	}
}

// next goes on to the next progression.
func (r *reader) next() {
	w := r.window
	if w.Step < 0 {
		n := len(r.list)
		if r.ok = n > 0; r.ok {
			r.now, r.list = r.list[n-1], r.list[:n-1]
		}
		return
	}
	for {
		run, ok := r.runs.Next()
		if !ok || run.Global > w.at(w.Count-1) {
			r.ok = false
			return
		}
		if r.now = w.through(run); r.now.count > 0 {
			r.ok = true
			return
		}
	}
}

// intersection yields what a rank of the source and one of the destination both have along a dimension.
type intersection struct {
	sides [2]reader
	cycle cycle
}

func (d *dimension) intersection(coordinates [2]int) *intersection {
	m := &intersection{}
	if d.count == 0 {
		return m
	}
	for s := range m.sides {
		m.sides[s] = reader{window: d.windows[s], part: d.parts[s], rank: coordinates[s]}
	}
	m.cycle.dimension = d
	m.start(0)
	return m
}

// start goes to the first index in common that is from or more. One rank's part can lie far into the other's: it
// begins where both have begun.
func (m *intersection) start(from int64) {
	a, b := &m.sides[0], &m.sides[1]
	a.ok, b.ok = false, false
	if from == m.cycle.dimension.count {
		return
	}
	a.start(from)
	if !a.ok {
		return
	}
	b.start(max(from, a.now.first))
	if b.ok && b.now.first > a.now.last() {
		a.start(b.now.first)
	}
}

// next sets p to the next piece. Reports false if there is none.
func (m *intersection) next(p *piece) bool {
	if d := m.cycle.dimension; d != nil && d.period > 0 {
		return m.cycled(p)
	}
	return m.step(p)
}

// step is next by a look at the next runs.
func (m *intersection) step(p *piece) bool {
	a, b := &m.sides[0], &m.sides[1]
	for a.ok && b.ok {
		x, y := a.now.last(), b.now.last()
		met := intersect(&a.now, &b.now, x, y, p)
		if x <= y {
			a.next()
		}
		if y <= x {
			b.next()
		}
		if met {
			return true
		}
	}
	return false
}

// all returns the pieces as a list.
func (m *intersection) all() []piece {
	var list []piece
	for p := (piece{}); m.next(&p); {
		list = append(list, p)
	}
	return slices.Clip(list)
}
