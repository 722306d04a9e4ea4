package comm

import (
	"runtime"
	"sync/atomic"

	"dtl/core/board"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/topology"
)

// sharing says whether ranks meet in shared memory where they can.
var sharing atomic.Bool

func init() { sharing.Store(true) }

// SetSharing has the ranks of communicators made from now on meet in shared memory where they can, or not. All ranks
// say the same, or at least one that they do not.
func SetSharing(yes bool) { sharing.Store(yes) }

// trusting says whether ranks that share no memory take it for granted that all of them make the same call.
var trusting atomic.Bool

// SetChecking has the ranks of communicators made from now on compare every collective call, also where they have to send
// messages for it, or not. They do unless all of them say that they need not.
func SetChecking(everywhere bool) { trusting.Store(!everywhere) }

// apartAndTrusting reports whether calls of elements, of which every rank knows how many there are, begin at once.
func (c *Comm) apartAndTrusting() bool { return c.trusting && c.board == nil && c.size > 1 }

const (
	// patient is how many looks at another rank's entry a rank takes before it lets others have the processor.
	patient = 2000
	// hasty is the same where there are more ranks than processors: who is looked for may wait for this one.
	hasty = 20
)

// share opens a board for the ranks of c if all of them can. trust is what this rank has to say of trusting. Collective.
func (c *Comm) share(trust bool) error {
	name := make([]uint8, board.NameBytes)
	if c.rank == 0 && sharing.Load() {
		if made, err := board.Create(c.size); err == nil {
			defer board.Forget(made)
			copy(name, made)
		}
	}
	if err := c.main.Broadcast(memory.Of(dtype.Uint8, name), 0); err != nil {
		return err
	}
	var b *board.Board
	const opened, trusts, asks = 0, 1, 2
	mine, all := make([]uint8, 3), make([]uint8, 3)
	if trust {
		mine[trusts] = 1
	}
	if c.mayEnquire() {
		mine[asks] = 1
	}
	if name[0] != 0 && sharing.Load() {
		var err error
		if b, err = board.Open(string(name), c.rank, c.size); err == nil {
			mine[opened] = 1
		}
	}
	err := c.main.Allreduce(memory.Of(dtype.Uint8, mine), memory.Of(dtype.Uint8, all), kernel.Min)
	c.trusting = all[trusts] == 1
	if err != nil || all[opened] == 0 {
		if b != nil {
			_ = b.Close() // of no use alone
			b.Forsake()
		}
		return errorOr(err, c.openEnquiries(err == nil && all[asks] == 1 && !c.trusting))
	}
	c.useBoard(b)
	return nil
}

// useBoard has the ranks meet on a board that all of them have open.
func (c *Comm) useBoard(b *board.Board) {
	b.TryReading()
	c.board, c.spins, c.yield = b, patient, yield
	c.turn.at = b.Turn()
	c.brief = min(board.MaxPayload, (64<<10)/c.size)
	if len(topology.Kernel().Online()) < c.size { // this process may be bound to some of them
		c.spins = hasty
	}
	if b.OneProcess() {
		c.alike, c.spins, c.yield = true, 1, runtime.Gosched
	}
}
