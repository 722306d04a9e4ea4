package transfer

import "dtl/core/partition"

// repeat works out after how many indices both sides are back where they began, a whole number of blocks further on.
// It does so where there are blocks that are dealt out in turn, for they are many.
func (d *dimension) repeat() {
	if single(d.parts[0]) && single(d.parts[1]) {
		return
	}
	var each [2]int64 // a rank's elements in one turn
	period := int64(1)
	for s, p := range d.parts {
		if each[s] = turn(p); each[s] == 0 {
			return
		}
		if each[s] < 0 {
			continue // a range
		}
		ranks := int64(p.Ranks())
		if each[s] > d.count/ranks {
			return
		}
		g, _ := invert(abs(d.windows[s].Step), each[s]*ranks)
		own := each[s] * ranks / g
		g, _ = invert(period, own)
		if period/g > d.count/own {
			return
		}
		period = period / g * own
	}
	if period > d.count/4 {
		return
	}
	d.period = period
	for s, p := range d.parts {
		d.shift[s] = period * d.windows[s].Step
		if each[s] > 0 {
			d.shift[s] /= int64(p.Ranks())
		}
	}
}

// turn returns how many elements a rank gets in turn; -1 where it has a range, 0 where it cannot be said.
func turn(p partition.Partition) int64 {
	switch k := p.Kind(); {
	case k == partition.KindHash && p.Ranks() > 1:
		return 0
	case k == partition.KindCyclic && p.Ranks() > 1:
		return 1
	case single(p):
		return -1
	}
	runs := p.From(0, 0)
	runs.Next() // which can be the rest of a block
	r, _ := runs.Next()
	if _, ok := runs.Next(); !ok {
		return 0
	}
	return r.Count
}

// cycle replays what repeats.
type cycle struct {
	dimension *dimension
	wide      bool    // elements side by side along the dimension are so in memory
	begun     bool    // the first piece, which can be the rest of a block, is out
	pieces    []piece // of one period
	next      int     // in pieces
	left      int64   // periods
	end       int64   // the first index after them
	shift     [2]int64
}

// longest is how many pieces a cycle keeps at most.
const longest = 1024

// cycled is next for a dimension that repeats.
func (m *intersection) cycled(p *piece) bool {
	c := &m.cycle
	if c.left > 0 {
		m.replay(p)
		return true
	}
	if !m.step(p) {
		return false
	}
	if c.pieces == nil && c.begun {
		m.record(p)
	}
	c.begun = true
	return true
}

// replay sets p to the next of the pieces that were kept, moved on by the periods since.
func (m *intersection) replay(p *piece) {
	c := &m.cycle
	*p = c.pieces[c.next]
	p.local[0] += c.shift[0]
	p.local[1] += c.shift[1]
	if c.next++; c.next == len(c.pieces) {
		c.next = 0
		c.left--
		c.shift[0] += c.dimension.shift[0]
		c.shift[1] += c.dimension.shift[1]
		if c.left == 0 && c.end > 0 {
			m.start(c.end)
		}
	}
}

// record keeps the pieces of a period that begins with p, and sets p to what comes first: to itself, or to a piece
// that stands for all periods where there is nothing else in one. p is not the first piece of all, so it begins where
// a block does, and so does each period.
func (m *intersection) record(p *piece) {
	c := &m.cycle
	period, end := c.dimension.period, c.dimension.count
	for s := range m.sides {
		if r := &m.sides[s]; single(r.part) {
			end = min(end, r.now.last()+1)
		}
	}
	c.pieces = []piece{*p}
	periods := (end - p.first) / period
	if periods < 2 {
		return
	}
	c.left = 1 // but for a period that is found to the end
	for q := (piece{}); len(c.pieces) < longest && m.step(&q); {
		if q.first >= p.first+period {
			c.left, c.end = periods, p.first+periods*period
			break
		}
		c.pieces = append(c.pieces, q)
	}
	if c.end > 0 && c.wide && len(c.pieces) == 1 && p.step == [2]int64{1, 1} {
		c.left = 0
		m.start(c.end)
		p.count, p.width, p.step = periods, p.count, c.dimension.shift
		return
	}
	m.replay(p)
}

func abs(a int64) int64 { return max(a, -a) }
