package transfer

import (
	"unsafe"

	"dtl/core/backend"
	"dtl/core/memory"
)

const (
	// chunk is the most bytes of a message. What is packed stays in the processor's cache until it is sent.
	chunk = 256 << 10
	// bare is the most bytes of a message that neither side packs. After each, pages of files may be given back.
	bare = memory.Piece
	// long is from how many bytes on stretches that lie side by side are messages of their own, for no packing.
	long = 32 << 10
)

// Memory is one rank's part of a side: where the first element lies and how far apart neighbours are, in bytes, in
// each dimension. A rank that has no part, or no elements, passes the zero Memory.
//
// Of elements that a device alone reaches, Queue is of what is done with them there. Place says where elements are: also those of managed
// memory, on which the host works.
type Memory struct {
	Addr    unsafe.Pointer
	Strides []int64
	Queue   backend.Queue
	Place   memory.Place
	Combine Combine // of a destination on the host: what comes is combined with what is there

	waits bool // each move on the device is waited for, since the host touches managed memory at the other end
}

// Combine combines count units at dst with as many at src, a stride apart at each, instead of copying them. A unit is size bytes, which are
// whole elements.
type Combine func(dst unsafe.Pointer, dstStride int, src unsafe.Pointer, srcStride, count, size int)

// flow is one direction between this rank and another: a stream that both cut into messages at the same places.
type flow struct {
	*pair
	side   int // this rank's: 0 sends, 1 receives
	peer   int
	memory Memory
	chunk  int64
	own    grain
	apart  bool // messages are stretches, cut where either side's dense memory has a gap; else all but the last are full
	packed bool // messages go through a buffer
	buffer memory.Place

	left int64   // bytes that no message has
	cuts *walker // finds the stretches
	walk *walker // packs or unpacks
}

// newFlow works out how the stream goes, and does not start it.
func (q *pair) newFlow(side, peer int, mine Memory, chunk int64) *flow {
	f := &flow{pair: q, side: side, peer: peer, memory: mine, chunk: chunk, left: q.bytes}
	f.own = q.grain(f.strides())
	if _, f.apart = q.stretches(); f.apart && len(q.dims) == 1 {
		f.chunk = max(chunk, q.plan.bare()) // no part of one dimension has gaps, so neither side packs
	}
	f.packed = mine.Queue != nil || side == 1 && mine.Combine != nil || f.own.kept > 0 && !(f.apart && f.aligned())
	return f
}

// strides returns this rank's alone.
func (f *flow) strides() (s [2][]int64) {
	s[f.side] = f.memory.Strides
	return s
}

// stretches returns how the stream lies in dense memory of both sides, and whether its stretches are worth a message
// each.
func (q *pair) stretches() (g grain, apart bool) {
	dense := [2][]int64{q.dense(0), q.dense(1)}
	g = q.grain(dense)
	return g, q.bytes/q.blocks(g, dense) >= long
}

// blocks returns about how many stretches there are.
func (q *pair) blocks(g grain, strides [2][]int64) int64 {
	n := int64(1)
	for d := range g.kept {
		v := &q.dims[d]
		if d == g.kept-1 && strides[0][d] == g.unit && strides[1][d] == g.unit {
			n *= v.blocks
		} else {
			n *= v.count
		}
	}
	return n
}

// aligned reports whether this rank's memory is dense within a stretch.
func (f *flow) aligned() bool {
	g, _ := f.stretches()
	dense, extents := f.dense(f.side), f.local(f.side)
	for d := max(g.kept-1, 0); d < len(dense); d++ {
		if extents[d] > 1 && f.memory.Strides[d] != dense[d] {
			return false
		}
	}
	return true
}

// message is n bytes of the stream, which lie at addr if they are not packed.
type message struct {
	n    int64
	addr unsafe.Pointer
}

// next cuts off the next message.
func (f *flow) next() message {
	m := message{n: min(f.chunk, f.left)}
	begin := f.own.base[f.side] + f.bytes - f.left
	if f.apart {
		if f.cuts == nil {
			f.cuts = f.cutter()
		}
		m.n = min(m.n, f.cuts.side())
		if at := f.cuts.skip(m.n); f.own.kept > 0 {
			begin = at[f.side]
		}
	}
	if !f.packed {
		m.addr = unsafe.Add(f.memory.Addr, begin)
	}
	f.left -= m.n
	return m
}

// cutter walks the stretches, with this rank's own strides where a message needs its place.
func (f *flow) cutter() *walker {
	g, _ := f.stretches()
	strides := [2][]int64{f.dense(0), f.dense(1)}
	if !f.packed {
		strides[f.side] = f.memory.Strides
	}
	return f.pair.walk(g, strides)
}

// move packs the next n bytes into buffer, or unpacks them from it.
func (f *flow) move(buffer unsafe.Pointer, n int64) error {
	if f.walk == nil {
		f.walk = f.pair.walk(f.own, f.strides())
		f.walk.put = f.memory.Combine
	}
	switch {
	case f.memory.Queue != nil:
		return f.moveOnDevice(buffer, n)
	case f.side == 0:
		f.walk.pack(buffer, f.memory.Addr, n)
	default:
		f.walk.unpack(f.memory.Addr, buffer, n)
	}
	return nil
}
