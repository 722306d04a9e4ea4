package comm

import (
	"sync/atomic"
	"time"
	"unsafe"

	"dtl/core/backend"
	"dtl/core/comm/unexpected"
	"dtl/core/dtype"
	"dtl/core/memory"
)

// gathering is a meeting by messages: every rank gets what every rank lays down, a block of equal length, in as many
// rounds as the number of ranks has binary digits, in each of which it has twice as many as before (Bruck et al., 1997).
// Nobody waits inside the backend, so a rank that waits in vain can leave.
type gathering struct {
	comm     *Comm
	number   atomic.Uint64   // of the meeting; a block begins with it
	bytes    int             // of a block
	room     *memory.Storage // for blocks, from this rank's on
	distance int             // of the round under way; from the number of ranks on, all blocks are here
	begun    bool            // the round has
	recv     backend.Request // what is to come in this round, where it has not come at once
	sends    []backend.Request
	early    []unexpected.Message // from ranks that are in the next meeting already
}

// at returns the address of the n-th block from this rank's on.
func (g *gathering) at(n int) unsafe.Pointer { return unsafe.Add(g.room.Addr(), n*g.bytes) }

// numbered returns of which meeting the n-th block is.
func (g *gathering) numbered(n int) uint64 { return *(*uint64)(g.at(n)) }

// of returns the address of what a rank laid down, until the next meeting.
func (g *gathering) of(rank int) unsafe.Pointer {
	return g.at((rank - g.comm.rank + g.comm.size) % g.comm.size)
}

// open begins the next meeting, in which each rank lays down so many bytes, and returns where this one does.
func (g *gathering) open(bytes int) (unsafe.Pointer, error) {
	if g.room == nil || g.room.Size() < bytes*g.comm.size {
		storage, err := memory.NewStorage(g.comm.memory, bytes*g.comm.size, alignment)
		if err != nil {
			return nil, err
		}
		if g.room != nil {
			g.room.Release()
		}
		g.room = storage
	}
	g.bytes, g.distance, g.begun = bytes, 1, false
	*(*uint64)(g.at(0)) = g.number.Add(1)
	return g.at(0), nil
}

// goOn goes on with the meeting for about so long, and reports whether all blocks are here.
func (g *gathering) goOn(patience time.Duration) (bool, error) {
	for g.distance < g.comm.size {
		if here, err := g.round(patience); !here {
			return false, err
		}
		g.distance *= 2
		g.begun = false
	}
	for len(g.sends) > 0 {
		if _, done, err := g.sends[0].WaitFor(patience); !done || err != nil {
			return false, err
		}
		g.sends = g.sends[1:]
	}
	return true, nil
}

// round sends the blocks that are here to the rank as far below as there are blocks, and receives as many from above.
func (g *gathering) round(patience time.Duration) (here bool, err error) {
	c := g.comm
	n := min(g.distance, c.size-g.distance)
	from, to := (c.rank+g.distance)%c.size, (c.rank-g.distance+c.size)%c.size
	into := memory.Span{Addr: g.at(g.distance), Count: n * g.bytes, Type: dtype.Uint8}
	if !g.begun {
		first := memory.Span{Addr: g.at(0), Count: into.Count, Type: dtype.Uint8}
		r, err := c.payload.SendFor(first, to, c.lane(meetingLane), 0)
		if err != nil {
			return false, err
		}
		if r != nil {
			g.sends = append(g.sends, r)
		}
		g.begun = true
		if g.takeEarly(from, into) {
			return true, nil
		}
	}
	for {
		if g.recv == nil {
			_, g.recv, err = c.payload.RecvFor(into, from, c.lane(meetingLane), patience)
		} else {
			var done bool
			if _, done, err = g.recv.WaitFor(patience); done {
				g.recv = nil
			}
		}
		if err != nil || g.recv != nil {
			return false, err
		}
		if g.numbered(g.distance) == g.number.Load() { // else it is of a meeting that was given up
			return true, nil
		}
	}
}

// takeEarly fills into with what has come from a rank for this meeting already.
func (g *gathering) takeEarly(from int, into memory.Span) bool {
	for i, m := range g.early {
		if m.Status.Source != from {
			continue
		}
		g.early = append(g.early[:i], g.early[i+1:]...)
		copy(bytesAt(into.Addr, into.Bytes()), bytesAt(m.Buffer.Addr(), m.Status.Bytes))
		m.Buffer.Release()
		return g.numbered(g.distance) == g.number.Load()
	}
	return false
}

// ahead calls f with each vote for the next meeting that has come. No meeting is under way.
func (g *gathering) ahead(f func(v *vote)) {
	c := g.comm
	for {
		b, err := memory.NewStorage(c.memory, voteBytes*c.size, alignment)
		if err != nil {
			return
		}
		st, there, err := c.payload.TryRecv(span(b, voteBytes*c.size), backend.AnySource, c.lane(meetingLane))
		if !there || err != nil {
			b.Release()
			break
		}
		g.early = append(g.early, unexpected.Message{Buffer: b, Status: st})
	}
	for _, m := range g.early {
		for i := range m.Status.Bytes / voteBytes {
			if v := (*vote)(unsafe.Add(m.Buffer.Addr(), i*voteBytes)); v.number == g.number.Load()+1 {
				f(v)
			}
		}
	}
}

// leave ends a meeting to which not all come. What is under way keeps the memory.
func (g *gathering) leave() {
	if g.recv != nil {
		if _, gone := takeBack(g.recv); !gone {
			g.room = nil
		}
	}
	for _, r := range g.sends {
		if _, done, _ := r.WaitFor(patience); !done {
			g.room = nil
		}
	}
	g.recv, g.sends, g.distance = nil, nil, g.comm.size
}

// close gives the memory back.
func (g *gathering) close() {
	for _, m := range g.early {
		m.Buffer.Release()
	}
	if g.room != nil {
		g.room.Release()
	}
	g.early, g.room = nil, nil
}

// vote is what a rank lays down in the meeting before a call.
type vote struct {
	number      uint64 // of the meeting
	print, want uint64
	code        int64
	started     uint64 // how many collectives that do not block the rank has started before
	share       Shared
}

const (
	voteBytes = int(unsafe.Sizeof(vote{}))
	// shareBytes is how many bytes of elements come along.
	shareBytes = int(unsafe.Sizeof(Shared{}))
)
