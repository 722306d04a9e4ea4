package agreement

import (
	"slices"
	"sync/atomic"
	"time"
	"unsafe"

	"dtl/core/backend"
	"dtl/core/comm/agreement/nodes"
	"dtl/core/comm/wire"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/status"
)

// Ranks of several nodes that go on from calls with a root have not looked at each other. Each keeps a record of its last calls,
// with a hash of all calls up to it, and tells all others of them when it waits, and when it has not come by for a moment. So each
// rank knows in the end what each made of a call, without a further word of any of them.
// The first call of which the records differ is the same on all ranks, and so is the error: those that are still in that call
// tell their texts, and of the others the record says which it was.

// records are what the ranks tell each other.
type records struct {
	link       Link
	at         *nodes.Meeting
	rank, size int
	peers      []*peer         // by rank; nil: it has told nothing
	texts      []told          // of ranks that could not go on
	room       *memory.Storage // for a message that comes
	sent       []sentRecords   // under way
	differs    uint64          // the first call in which the ranks differ; 0: none is known
	asked      bool            // a rank waits that has not been told since
}

// peer is what another rank has told.
type peer struct {
	records  [nodes.Kept]nodes.Record
	blocked  uint64 // the call in which it waits for others; 0: it waits in none
	deadlock bool   // it waits there for a collective that does not block
	started  uint64 // how many of those it has started
}

// told is what a rank says of a call from which it cannot go on.
type told struct {
	from   int
	number uint64
	code   status.Code
	text   string
}

// sentRecords are messages under way from the same memory.
type sentRecords struct {
	room     *memory.Storage
	requests []backend.Request
}

// recordsMessage is one of the messages: some records, or a text.
type recordsMessage struct {
	of       uint64 // Link.Number
	number   uint64 // of the sender's last call
	started  uint64
	blocked  uint8 // 1: the sender waits in that call
	deadlock uint8
	count    uint16 // of records
	length   int32  // of the text
	textOf   uint64 // the call that the text is of
	code     int32
	_        [20]byte
	body     [recordsInMessage * nodes.RecordBytes]byte
}

const (
	recordsInMessage = 45 // which libraries send at once
	recordsHead      = int(unsafe.Offsetof(recordsMessage{}.body))
	recordsBytes     = int(unsafe.Sizeof(recordsMessage{}))
)

func newRecords(link Link, at *nodes.Meeting) *records {
	return &records{link: link, at: at, rank: link.On.Rank(), size: link.On.Size(), peers: make([]*peer, link.On.Size())}
}

// tell sends all others the records that they have not been sent. blocked says that this rank waits in its last call.
func (x *records) tell(blocked bool) error {
	number := x.at.Number()
	for first := x.at.Told() + 1; ; first += recordsInMessage {
		count := min(int(number+1-first), recordsInMessage)
		err := x.send(count*nodes.RecordBytes, func(m *recordsMessage) {
			m.count, m.blocked = uint16(count), uint8(truth(blocked))
			m.deadlock = x.at.RecordOf(number).Deadlock
			for i := range count {
				*(*nodes.Record)(unsafe.Pointer(&m.body[i*nodes.RecordBytes])) = *x.at.RecordOf(first + uint64(i))
			}
		})
		if err != nil {
			return err
		}
		if first+recordsInMessage > number {
			x.asked = false
			x.at.Tell()
			return nil
		}
	}
}

// tellText tells all others what this rank says of a call from which it cannot go on.
func (x *records) tellText(number uint64, text string, code status.Code) error {
	const longest = 480
	n := min(len(text), longest)
	return x.send(n, func(m *recordsMessage) {
		m.textOf, m.code, m.blocked = number, int32(code), 1
		m.length = int32(copy(m.body[:n], text))
	})
}

func truth(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// send sends a message with so many bytes of records or text to all others.
func (x *records) send(bytes int, fill func(m *recordsMessage)) error {
	room, err := memory.NewStorage(x.link.Memory, recordsHead+bytes, memory.Alignment)
	if err != nil {
		return err
	}
	content := recordsMessage{of: x.link.Number, number: x.at.Number(), started: atomic.LoadUint64(x.at.Started())}
	fill(&content)
	message := memory.Span{Addr: room.Addr(), Count: recordsHead + bytes, Type: dtype.Uint8}
	copy(bytesAt(message.Addr, message.Count), bytesAt(unsafe.Pointer(&content), message.Count))
	s := sentRecords{room: room}
	for step := 1; step < x.size; step++ {
		r, err := x.link.On.SendFor(message, (x.rank+step)%x.size, x.link.RecordTag, 0)
		if r != nil {
			s.requests = append(s.requests, r)
		}
		if err != nil {
			return err // the memory stays: what is under way is read from it
		}
	}
	x.sent = append(x.sent, s)
	x.forgetSent(0)
	return nil
}

// forgetSent gives the memory of messages back that have gone.
func (x *records) forgetSent(patience time.Duration) {
	x.sent = slices.DeleteFunc(x.sent, func(s sentRecords) bool {
		for _, r := range s.requests {
			if _, done, _ := r.WaitFor(patience); !done {
				return false
			}
		}
		if s.room != nil {
			s.room.Release()
		}
		return true
	})
}

// listenNowAndThen is listen where this rank has not for many calls.
func (x *records) listenNowAndThen() error {
	if !x.at.ShouldListen() {
		return nil
	}
	return x.listen()
}

// listen takes notice of what the others have told, and compares their calls with those of this rank.
func (x *records) listen() error {
	if x.room == nil {
		room, err := memory.NewStorage(x.link.Memory, recordsBytes, memory.Alignment)
		if err != nil {
			return err
		}
		x.room = room
	}
	x.at.Listened()
	if err := x.link.receiveRecords(x.room, x.take); err != nil {
		return err
	}
	x.forgetSent(0)
	x.compare()
	return nil
}

// DropRecords receives what the others have told of calls, which nobody needs when all have closed: some libraries warn of messages
// that are never received.
func (m *Nodes) DropRecords() {
	if !m.GoesOn() {
		return
	}
	room, err := memory.NewStorage(m.link.Memory, recordsBytes, memory.Alignment)
	if err != nil {
		return
	}
	defer room.Release()
	_ = m.link.receiveRecords(room, func(int, *recordsMessage) {}) // which nobody waits for
}

// receiveRecords takes the messages of records that have come, one after the other, in a room for one.
func (l Link) receiveRecords(room *memory.Storage, take func(from int, m *recordsMessage)) error {
	into := memory.Span{Addr: room.Addr(), Count: recordsBytes, Type: dtype.Uint8}
	for {
		st, there, err := l.On.TryRecv(into, backend.AnySource, l.RecordTag)
		if err != nil || !there {
			return err
		}
		take(st.Source, (*recordsMessage)(room.Addr()))
	}
}

// take takes notice of one message.
func (x *records) take(from int, m *recordsMessage) {
	if m.of != x.link.Number {
		return
	}
	p := x.peers[from]
	if p == nil {
		p = new(peer)
		x.peers[from] = p
	}
	p.started, p.deadlock, p.blocked = m.started, m.deadlock != 0, 0
	if m.blocked != 0 {
		p.blocked, x.asked = m.number, true
	}
	for i := range min(int(m.count), recordsInMessage) {
		r := *(*nodes.Record)(unsafe.Pointer(&m.body[i*nodes.RecordBytes]))
		p.records[r.Number%nodes.Kept] = r
	}
	if m.textOf != 0 {
		text := string(m.body[:min(max(int(m.length), 0), len(m.body))])
		x.texts = append(x.texts, told{from: from, number: m.textOf, code: status.Code(m.code), text: text})
	}
}

// of returns a rank's record of a call, if that is known.
func (x *records) of(rank int, number uint64) (r *nodes.Record, known bool) {
	if rank == x.rank {
		r = x.at.RecordOf(number)
		return r, r.Number == number
	}
	if x.peers[rank] == nil {
		return nil, false
	}
	r = &x.peers[rank].records[number%nodes.Kept]
	return r, r.Number == number
}

// compare looks for the first call in which the ranks differ, among those that this rank has come to and of which all others
// have told; of the first of which not all have, it looks at those that have.
func (x *records) compare() {
	for number := x.at.Verified() + 1; x.differs == 0 && number <= x.at.Number(); number++ {
		mine, all := x.of(x.rank, number)
		agreement := wire.Agreement{Fingerprint: mine.History}
		if !all {
			return
		}
		for rank := range x.size {
			r, known := x.of(rank, number)
			if all = all && known; known && !agreement.Includes(statedIn(r)) {
				x.differs = number
			}
		}
		if !all {
			return
		}
		if x.differs == 0 {
			x.at.Verify(number)
		}
	}
}

// statedIn returns what a record's rank stated.
func statedIn(r *nodes.Record) wire.Statement {
	return wire.Statement{Fingerprint: r.History, ElementsHash: r.ElementsHash, Code: int32(r.Differs)}
}

// gone reports whether a rank went on from a call in which the ranks differ, of which all have told: as root that gives elements, as
// one that brings root its own, or those of a node whose ranks make the same call, or with the elements of a root that does.
func (x *records) gone(rank int, number uint64) bool {
	r, _ := x.of(rank, number)
	switch r.Role {
	case nodes.Gives, nodes.Brings:
		return true
	case nodes.Bundles:
		return x.alike(number, x.at.BesideOf(rank))
	case nodes.Takes:
		root, _ := x.of(int(r.Root)-1, number)
		return root.Role == nodes.Gives && x.alike(number, []int{rank, int(r.Root) - 1})
	}
	return false
}

// alike reports whether ranks make the same call, of which all have told.
func (x *records) alike(number uint64, ranks []int) bool {
	first, _ := x.of(ranks[0], number)
	agreement := wire.Agreement{Fingerprint: first.History}
	return !slices.ContainsFunc(ranks, func(rank int) bool {
		r, _ := x.of(rank, number)
		return !agreement.Includes(statedIn(r))
	})
}

// missing returns a rank that has not told of a call; -1: all have.
func (x *records) missing(number uint64) int {
	for rank := range x.size {
		if _, known := x.of(rank, number); !known {
			return rank
		}
	}
	return -1
}

// textOf returns what a rank says of a call.
func (x *records) textOf(rank int, number uint64) (t told, there bool) {
	at := slices.IndexFunc(x.texts, func(t told) bool { return t.from == rank && t.number == number })
	if at < 0 {
		return told{}, false
	}
	return x.texts[at], true
}

// startOver forgets what was told of calls up to a number.
func (x *records) startOver(from uint64) {
	x.differs = 0
	x.texts = slices.DeleteFunc(x.texts, func(t told) bool { return t.number <= from })
}

// blockedWithout reports whether a rank waits in a call that this one has not come to, and has not made start number seq, or
// waits there for one.
func (x *records) blockedWithout(seq uint64) bool {
	return slices.ContainsFunc(x.peers, func(p *peer) bool {
		return p != nil && p.blocked > x.at.Number() && (p.started < seq || p.deadlock)
	})
}

// leastStarted returns the number of the first start that not all ranks have made.
func (x *records) leastStarted() uint64 {
	least := atomic.LoadUint64(x.at.Started())
	for _, p := range x.peers {
		if p != nil {
			least = min(least, p.started)
		}
	}
	return least + 1
}

// close gives the memory back, but for that of messages under way.
func (x *records) close() {
	x.forgetSent(backend.TakeBackWithin)
	if x.room != nil {
		x.room.Release()
		x.room = nil
	}
}

// describedBy returns the call of a record.
func describedBy(r *nodes.Record) wire.Signature {
	return signatureOf(r.Operation, r.Operator, int64(r.Type), r.Count, int64(r.Root))
}
