package comm

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"os"
	"runtime"
	"sync"
	"sync/atomic"

	"dtl/core/backend"
	"dtl/core/board"
	"dtl/core/comm/agreement"
	"dtl/core/comm/agreement/nodes"
	"dtl/core/comm/wire"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/progress"
	"dtl/core/topology"
	"dtl/core/watchdog"
)

// sharing says whether ranks meet in shared memory where they can.
var sharing atomic.Bool

func init() { sharing.Store(true) }

// SetSharing has the ranks of communicators made from now on meet in shared memory where they can, or not. All ranks
// say the same, or at least one that they do not.
func SetSharing(yes bool) { sharing.Store(yes) }

// unchecked says whether ranks that share no memory take it for granted that all of them make the same call.
var unchecked atomic.Bool

// SetChecking has the ranks of communicators made from now on compare every collective call, also where they have to send
// messages for it, or not. They do unless all of them say that they need not.
func SetChecking(everywhere bool) { unchecked.Store(!everywhere) }

// skipsMeeting reports whether calls of elements, of which every rank knows how many there are, begin without a meeting.
func (c *Comm) skipsMeeting() bool { return c.unchecked && c.board == nil && c.size > 1 }

const (
	// spinsBeforeYield is how often a rank looks for another rank's entry before it lets others have the processor.
	spinsBeforeYield = 2000
	// spinsOversubscribed is the same where there are more ranks than processors, and the other rank may need this one's.
	spinsOversubscribed = 20
)

// What a rank says of itself when all have tried to open a board.
const (
	opened          = iota
	sameMachine     // its memory is on this machine
	leavesUnchecked // see unchecked
	compares        // see comparesStarts
	sameProcess     // this is rank 0's process
	mayShare        // see sharing
	maySend         // code outside Go may send its messages, from any thread
	besideRoot      // it is on rank 0's host, whether or not they share memory
)

// mostGoOn is how many ranks of several nodes may go on from calls with a root: each tells each other of its calls.
const mostGoOn = nodes.MaxRanks

// share opens a board for the ranks of c if all of them can. leave is whether this rank would leave calls unchecked. Collective.
func (c *Comm) share(leave bool) error {
	var made *board.Segment
	told := make([]uint8, board.NameBytes+32)
	name, number, process := told[:board.NameBytes], told[board.NameBytes:][:8], told[board.NameBytes+8:][:8]
	pretended, machine := told[board.NameBytes+16:][:8], told[board.NameBytes+24:]
	if c.rank == 0 {
		_, _ = rand.Read(number) // never fails
		copy(process, thisProcess())
		binary.LittleEndian.PutUint64(machine, thisHost())
		binary.LittleEndian.PutUint64(pretended, uint64(c.pretended))
		if sharing.Load() {
			made, _ = board.Create(c.size) // where there is no room, the ranks meet by messages
			defer made.Close()
		}
		copy(name, made.Name())
	}
	if err := c.main.Broadcast(memory.Of(dtype.Uint8, told), 0); err != nil {
		return err
	}
	var b *board.Board
	mine := c.ofItself(leave, process, machine)
	if sharing.Load() && binary.LittleEndian.Uint64(pretended) == uint64(c.pretended) {
		b, _ = board.Open(string(name), c.rank, c.size) // in vain on another machine
		mine[opened], mine[sameMachine] = truth(b != nil), truth(board.OnThisMachine(string(name)))
	}
	all, err := c.least(mine)
	if err == nil && all[opened] == 0 && all[sameMachine] == 1 {
		b, all[opened], err = c.shareByPath(made, b, string(name))
	}
	c.unchecked, c.oneProcess = all[leavesUnchecked] == 1, all[sameProcess] == 1
	if err != nil || all[opened] == 0 {
		if b != nil {
			_ = b.Close() // of no use alone
			b.Recycle()
		}
		return errorOr(err, c.useMessages(binary.LittleEndian.Uint64(number), all))
	}
	c.useBoard(b)
	return nil
}

// ofItself returns what this rank says of itself before it tries to open a board. process and machine are rank 0's.
func (c *Comm) ofItself(leave bool, process, machine []uint8) []uint8 {
	here := board.Machine() != "" && binary.LittleEndian.Uint64(machine) == thisHost()
	return []uint8{
		leavesUnchecked: truth(leave), compares: truth(c.comparesStarts()), sameProcess: truth(bytes.Equal(process, thisProcess())),
		mayShare: truth(sharing.Load()), maySend: truth(c.maySend()), besideRoot: truth(here), opened: 0,
	}
}

// maySend reports whether code outside Go may send messages, from any thread.
func (c *Comm) maySend() bool {
	_, direct := c.payload.(backend.DirectCommunicator)
	return direct && !progress.Limited()
}

// shareByPath opens a board that some ranks could not: they are on this machine, but do not see rank 0's process.
// Collective.
func (c *Comm) shareByPath(made *board.Segment, b *board.Board, name string) (*board.Board, uint8, error) {
	linked := []uint8{0}
	if made != nil {
		linked[0] = truth(made.Link() == nil)
	}
	if err := c.main.Broadcast(memory.Of(dtype.Uint8, linked), 0); err != nil {
		return b, 0, err
	}
	if b == nil && linked[0] == 1 {
		b, _ = board.Open(name, c.rank, c.size) // in vain where the ranks do not share the file system either
	}
	c.byPath = true
	all, err := c.least([]uint8{truth(b != nil)})
	return b, all[0], err
}

// least returns the least number that any rank gives, in each place. Collective.
func (c *Comm) least(mine []uint8) ([]uint8, error) {
	all := make([]uint8, len(mine))
	err := c.main.Allreduce(memory.Of(dtype.Uint8, mine), memory.Of(dtype.Uint8, all), kernel.Min)
	return all, err
}

func truth(yes bool) uint8 {
	if yes {
		return 1
	}
	return 0
}

// thisHost returns what tells this host from others. Containers of one machine are several: libraries connect them by the network.
var thisHost = sync.OnceValue(func() uint64 {
	name, _ := os.Hostname() // containers that have none are one
	return wire.Hash(board.Machine() + name)
})

// thisProcess returns bytes that no other process has.
var thisProcess = sync.OnceValue(func() []byte {
	b := make([]byte, 8)
	_, _ = rand.Read(b) // never fails
	return b
})

// useMessages has the ranks meet by messages, but for those of a node, which share memory. The number is the communicator's,
// so that nobody takes what is left over of another for a message of this one. all is what every rank says of itself.
// Collective.
func (c *Comm) useMessages(number uint64, all []uint8) error {
	c.messages = watchdog.NewMessages(watchdog.Link{
		On: c.payload, Tag: c.lane(noticeLane), Number: number, Memory: c.memory, Broken: func() { c.amongNodes.Fast().Break() },
		Counts: func() (meetings, started uint64) { return c.meeter.Number(), c.starts.Count() },
	})
	c.group = watchdog.NewGroup(c.rank, c.size, c.oneProcess, c.messages)
	link := agreement.Link{
		On: c.payload, Tag: c.lane(meetingLane), ExplainTag: c.lane(explainLane), TreeTag: c.lane(treeLane), RecordTag: c.lane(recordLane),
		GoesOn: all[maySend] == 1 && !c.unchecked && !c.oneProcess && c.size <= mostGoOn, Number: number, Memory: c.memory,
		OneMachine: all[besideRoot] == 1, Patience: begun, Departure: c.messages.Departure,
	}
	place := agreement.Apart(c.size)
	if all[mayShare] == 1 {
		var err error
		if place, err = c.findNodes(link.GoesOn); err != nil {
			return err
		}
	}
	if err := c.useNodes(link, place); err != nil || c.unchecked {
		return err
	}
	if all[compares] == 1 {
		return c.compareStarts()
	}
	return nil
}

// useBoard has the ranks meet on a board that all of them have open.
func (c *Comm) useBoard(b *board.Board) {
	b.TryReading()
	c.board, c.spins, c.yield = b, spinsBeforeYield, board.Yield
	c.shared = watchdog.NewShared(b, c.size)
	c.group = watchdog.NewGroup(c.rank, c.size, c.oneProcess, c.shared)
	c.turn.at = b.Turn()
	c.boardBytes = min(board.MaxPayload, (64<<10)/c.size)
	if len(topology.Kernel().Online()) < c.size { // this process may be bound to some of them
		c.spins = spinsOversubscribed
	}
	if c.oneProcess {
		c.spins, c.yield = 1, runtime.Gosched
	}
	c.starts.CompareShared(b)
	c.inMemory = agreement.NewShared(b, c.group, c.starts, c.spins, c.pause)
	c.meeter = c.inMemory
}
