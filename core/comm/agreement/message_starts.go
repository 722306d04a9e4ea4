package agreement

import (
	"sync/atomic"
	"unsafe"

	"dtl/core/backend"
	"dtl/core/board"
	"dtl/core/comm/wire"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/status"
	"dtl/core/watchdog"
)

// messageStarts compares starts of ranks that share no memory. They gather what each is about to start, on a communicator
// of their own. All see the same statements, so either all of them begin an operation or none does.
type messageStarts struct {
	on        backend.AsyncCommunicator
	memory    memory.Allocator
	departure func(rank int) watchdog.Departure
	started   *uint64 // where meetings look how many there are
	lost      atomic.Uint64
}

var _ comparer = (*messageStarts)(nil)

// CompareByMessages has the ranks compare their starts by messages from now on, over a communicator that Free closes.
// departure says how a rank has left, and meetings look at started how many starts there are.
func (s *Starts) CompareByMessages(on backend.AsyncCommunicator, mem memory.Allocator, departure func(rank int) watchdog.Departure,
	started *uint64) {
	s.by = &messageStarts{on: on, memory: mem, departure: departure, started: started}
}

// startStatement is what a rank states of a start.
type startStatement struct {
	stated wire.Statement
	length int32
	_      int32
	text   [board.MaxPost]byte
}

const startStatementBytes = int(unsafe.Sizeof(startStatement{}))

// gathering is a start in line until the statements of all ranks are here.
type gathering struct {
	size    int
	room    *memory.Storage // for this rank's statement, and then for everybody's
	request backend.Request
}

func (c *messageStarts) state(s *Starts, post board.Post, mine error) (permission, error) {
	room, err := memory.NewStorage(c.memory, startStatementBytes*(s.size+1), memory.Alignment)
	if err != nil {
		return nil, err
	}
	g := &gathering{size: s.size, room: room}
	stated := g.of(-1)
	stated.stated = wire.Statement{Fingerprint: post.Fingerprint, Want: post.Want, Code: post.Code}
	stated.length = int32(copy(stated.text[:], post.Bytes))
	whole := memory.Span{Addr: room.Addr(), Count: startStatementBytes * (s.size + 1), Type: dtype.Uint8}
	if g.request, err = c.on.Iallgather(whole.Slice(0, startStatementBytes), whole.Slice(startStatementBytes, whole.Count)); err != nil {
		room.Release()
		return nil, err
	}
	s.count++
	atomic.StoreUint64(c.started, s.count)
	return g, nil
}

// of returns a rank's statement; this rank's own as it sends it is number -1.
func (g *gathering) of(rank int) *startStatement {
	return (*startStatement)(unsafe.Add(g.room.Addr(), (rank+1)*startStatementBytes))
}

func (g *gathering) given() (bool, error) {
	_, done, err := g.request.Test()
	if !done {
		return false, nil
	}
	defer g.room.Release()
	return true, errorOr(err, g.disagreement())
}

// disagreement is nil where the statements are alike.
func (g *gathering) disagreement() error {
	agreement, agreed := wire.Agreement{Fingerprint: g.of(0).stated.Fingerprint}, true
	for rank := range g.size {
		agreed = agreed && agreement.Includes(g.of(rank).stated)
	}
	if agreed {
		return nil
	}
	codes, texts := make([]status.Code, g.size), make([]string, g.size)
	for rank := range texts {
		s := g.of(rank)
		codes[rank] = status.Code(s.stated.Code)
		texts[rank] = callOf(board.Post{Code: s.stated.Code, Bytes: s.text[:min(max(int(s.length), 0), len(s.text))]})
	}
	return Verdict(codes, texts)
}

func (c *messageStarts) lostFrom() uint64                      { return c.lost.Load() }
func (c *messageStarts) lose(seq uint64)                       { c.lost.CompareAndSwap(0, seq) }
func (c *messageStarts) startedBy(rank int) uint64             { return c.departure(rank).Started }
func (c *messageStarts) posted(int, uint64) (board.Post, bool) { return board.Post{}, false }
func (c *messageStarts) defers() bool                          { return false }
func (c *messageStarts) stop(*Starts)                          {} // the others may have begun what is in line
func (c *messageStarts) free() error                           { return c.on.Close() }
