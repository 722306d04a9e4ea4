package board

import (
	"sync/atomic"
	"unsafe"
)

// Where there are more than a handful of ranks, those that wait for all do not look at each other. They count themselves in
// groups. The last one of a group compares what its members laid down, combines their elements where the call asks for that,
// and counts itself in a group of groups for all of them. The last one of all publishes the outcome, which the others read. So
// a rank writes and reads a few cache lines for each digit of the number of ranks, and nobody waits for a rank to come back.
//
// An outcome is written over when all ranks have come to a later meeting of this kind: by then all have read it.

// GroupSize is the most members of a group.
const GroupSize = 8

// The states of an outcome.
const (
	Differ   = iota // the members, in what they call, or one of them cannot make its call
	Agree           // they make the same call
	Combined        // and their elements have been combined
)

// Group is what its members share.
type Group struct {
	arrived      uint64 // the number of a meeting, and how many members have come there
	_            [56]byte
	seq          uint64 // of the meeting whose outcome it has, of the group of all; written last
	history      uint64
	elementsHash uint64
	state        int32
	bytes        int32
	elements     [inline]byte
	payload      [MaxPayload]byte
}

const (
	groupBytes = int(unsafe.Sizeof(Group{}))
	countBits  = 16
)

// groups returns how many groups there are of so many ranks, in all levels.
func groups(ranks int) (n int) {
	if ranks <= GroupSize {
		return 0
	}
	for ranks > 1 {
		ranks = (ranks + GroupSize - 1) / GroupSize
		n += ranks
	}
	return n
}

func (b *Board) group(n int) *Group {
	return (*Group)(unsafe.Add(unsafe.Pointer(b.slot(b.size)), n*groupBytes))
}

// Groups reports whether the ranks meet in groups when they wait for all.
func (b *Board) Groups() bool { return b.size > GroupSize }

// come counts a member in for a meeting, and returns how many have come.
func (g *Group) come(seq uint64) int {
	for {
		now := atomic.LoadUint64(&g.arrived)
		next := now + 1
		if now>>countBits != seq {
			next = seq<<countBits | 1
		}
		if now>>countBits > seq { // nobody waits there any more
			return 0
		}
		if atomic.CompareAndSwapUint64(&g.arrived, now, next) {
			return int(next & (1<<countBits - 1))
		}
	}
}

// place returns where the group's elements are.
func (g *Group) place() unsafe.Pointer {
	if g.bytes <= inline {
		return unsafe.Pointer(&g.elements)
	}
	return unsafe.Pointer(&g.payload)
}

// member is what one member of a group brings: a rank, or another group.
type member struct {
	history, elementsHash uint64
	state                 int32
	at                    unsafe.Pointer
	bytes                 int
}

// ComeTogether counts this rank in, which has laid down its entry, and does what the last one of a group does. combine adds elements
// to others; nil where nothing is combined.
func (b *Board) ComeTogether(combine func(into, from unsafe.Pointer)) {
	seq := b.local.seq
	first, below, child, children := 0, -1, b.rank, b.size
	for children > 1 {
		n := child / GroupSize
		g, members := b.group(first+n), min(GroupSize, children-n*GroupSize)
		if g.come(seq) != members {
			return
		}
		for i := range members {
			g.add(b.member(below, n*GroupSize+i), i == 0, combine)
		}
		child, children = n, (children+GroupSize-1)/GroupSize
		below, first = first, first+children
	}
	atomic.StoreUint64(&b.group(first-1).seq, seq)
}

// member returns what a rank brings, or, of a level of groups, one of these.
func (b *Board) member(level, n int) member {
	if level >= 0 {
		g := b.group(level + n)
		return member{g.history, g.elementsHash, g.state, g.place(), int(g.bytes)}
	}
	e := b.Entry(n)
	m := member{history: e.History, elementsHash: e.ElementsHash, state: Combined}
	if e.Code != 0 {
		m.state = Differ
	}
	m.at, m.bytes = b.Payload(n)
	return m
}

// add takes a member into the outcome of a group.
func (g *Group) add(m member, first bool, combine func(into, from unsafe.Pointer)) {
	if first {
		g.history, g.elementsHash, g.state, g.bytes = m.history, m.elementsHash, m.state, int32(m.bytes)
		if combine == nil {
			g.state = min(g.state, Agree)
		} else {
			copy(unsafe.Slice((*byte)(g.place()), m.bytes), unsafe.Slice((*byte)(m.at), m.bytes))
		}
		return
	}
	g.state = min(g.state, m.state)
	if m.history != g.history || combine != nil && m.bytes != int(g.bytes) ||
		m.elementsHash != 0 && g.elementsHash != 0 && m.elementsHash != g.elementsHash {
		g.state = Differ
	}
	g.elementsHash |= m.elementsHash
	if g.state == Combined && combine != nil {
		combine(g.place(), m.at)
	}
}

// Together reports whether the outcome of this meeting is there, and whether all ranks agree.
func (b *Board) Together() (there, agreed bool) {
	g := b.group(groups(b.size) - 1)
	there = atomic.LoadUint64(&g.seq) == b.local.seq
	return there, there && g.state != Differ
}

// Combination returns the address of all ranks' elements, combined, if they are Together and the call asks for that; else nil.
func (b *Board) Combination() unsafe.Pointer {
	if !b.Groups() {
		return nil
	}
	if g := b.group(groups(b.size) - 1); atomic.LoadUint64(&g.seq) == b.local.seq && g.state == Combined {
		return g.place()
	}
	return nil
}

// The outcome is in a cache line of its own.
const _ = uint(0 - unsafe.Offsetof(Group{}.seq)%64)
