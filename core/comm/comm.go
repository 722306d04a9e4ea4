package comm

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"dtl/core/backend"
	"dtl/core/board"
	"dtl/core/comm/agreement"
	"dtl/core/comm/unexpected"
	"dtl/core/comm/wire"
	"dtl/core/memory"
	"dtl/core/progress"
	"dtl/core/status"
	"dtl/core/watchdog"
)

// Comm is a communicator as the layers above see it. Descriptions, small messages and collectives travel on
// one backend communicator; large payloads on a duplicate, where no wildcard receive can meet them.
type Comm struct {
	main         backend.ReducingCommunicator
	payload      backend.ReducingCommunicator
	engine       progress.Engine // who goes on with what is under way here
	rank, size   int
	memory       memory.Allocator
	scratch      scratch
	toItself     toItself
	unexpected   unexpected.Queue
	seq          atomic.Uint32
	active       atomic.Int64 // requests under way
	gone         atomic.Bool  // closed
	ending       atomic.Int32 // whether it is about to be closed: see close.go
	keepsPayload atomic.Bool  // payload is never freed: a collective on it may be under way that not all ranks have started
	pins         runtime.Pinner
	starts       *agreement.Starts               // the collectives that do not block
	meeter       agreement.Meeter                // nil: this rank is alone
	inMemory     *agreement.Shared               // the meeter where all ranks share memory, else nil
	amongNodes   *agreement.Nodes                // the meeter where they are on several nodes, else nil
	group        *watchdog.Group                 // the ranks, as reports of waits know them
	messages     *watchdog.Messages              // how they tell each other what they do; nil where they share memory
	shared       *watchdog.Shared                // how they do so in shared memory; else nil
	ahead        *Ahead                          // of whom this rank is ahead
	goesOn       uint64                          // the number of the board or place, if this rank may be ahead there; 0: it may not
	teller       teller                          // who tells others of calls that this rank has gone on from
	tells        atomic.Uint64                   // its goroutine; 0: there is none
	serves       atomic.Pointer[agreement.Start] // the deferred call that runs here
	dependents   struct {                        // windows
		mu   sync.Mutex
		list []*dependent
	}

	// What collective calls need, which one goroutine makes at a time.
	turn       turn
	board      *board.Board    // where the ranks meet; nil: by messages
	node       node            // who shares memory with this rank, where not all do
	levels     *levels         // how long elements go there; nil until some do
	pretended  int             // the node that this rank pretends to be on; -1: none
	own        *board.Board    // of a rank alone, for code outside Go
	extension  extensionState  // what the board has for longer elements
	byPath     bool            // some ranks open shared memory by its path alone
	oneProcess bool            // all ranks are goroutines of one process
	boardBytes int             // a collective call with more bytes a rank than that does not move them on the board
	unchecked  bool            // collective calls of elements do not meet where there is no board
	spins      int             // looks at another rank's entry before it yields
	yield      func()          // lets whoever is waited for have the processor
	op         string          // the call in turn
	single     unsafe.Pointer  // what a rank alone brings to its meetings
	metadata   *memory.Storage // where root encodes what it tells of the elements; nil until it is needed
	flat       [1]int64        // the shape of what goes to an output
}

// New makes a Comm of a backend communicator, which it owns from then on, also when it fails. Results are
// allocated from mem. Collective.
func New(main backend.ReducingCommunicator, mem memory.Allocator) (*Comm, error) {
	return newComm(main, mem, unchecked.Load(), pretendedNode(main.Rank()), nil)
}

// newComm is New of what was made from another Comm; nil: from none.
func newComm(main backend.ReducingCommunicator, mem memory.Allocator, leave bool, pretended int, of *Comm) (*Comm, error) {
	freeLeftByAll()
	payload, err := main.Dup()
	if err != nil {
		_ = main.Close() // the first error is the one to report
		return nil, err
	}
	c := &Comm{main: main, payload: payload, rank: main.Rank(), size: main.Size(), memory: mem, boardBytes: -1, pretended: pretended}
	c.starts = agreement.NewStarts(c.size, c.spin)
	c.scratch.from = mem
	c.turn.at = &c.turn.own
	if err := progress.Heed(main); err != nil {
		return nil, errors.Join(err, payload.Close(), main.Close())
	}
	if c.size == 1 {
		c.group = watchdog.NewGroup(0, 1, false, nil)
		c.useAhead(of)
		return c, nil
	}
	c.engine = progress.For(main)
	if err := c.share(leave); err != nil {
		_ = errors.Join(payload.Close(), main.Close())
		return nil, err
	}
	c.useAhead(of)
	c.group.Join()
	return c, nil
}

// Rank returns the caller's rank.
func (c *Comm) Rank() int { return c.rank }

// Size returns the number of ranks.
func (c *Comm) Size() int { return c.size }

// Memory returns where results come from.
func (c *Comm) Memory() memory.Allocator { return c.memory }

// Dup returns a Comm of the same ranks whose traffic never meets this one's. Collective.
func (c *Comm) Dup() (d *Comm, err error) {
	err = c.inTurn("dup", func() (err error) {
		d, err = c.derive(wire.Signature{Op: "dup"}, nil, c.main.Dup)
		return err
	})
	return d, err
}

// DupFor is Dup for calls that op stands for, which is what ranks that do not make the same call are told. On the duplicate,
// ranks wait for each other in all calls. Collective.
func (c *Comm) DupFor(op string) (d *Comm, err error) {
	err = c.inTurn(op, func() (err error) {
		d, err = c.derive(wire.Signature{Op: op}, nil, c.main.Dup)
		return err
	})
	if d != nil {
		d.waitInAllCalls()
		d.goesOn = 0
		if d.amongNodes != nil {
			d.amongNodes.Fast().StayTogether()
		}
	}
	return d, err
}

// Split returns a Comm of the ranks that gave the same color, ordered by key and then by rank; nil for
// Undefined. Collective.
func (c *Comm) Split(color, key int) (d *Comm, err error) {
	err = c.inTurn("split", func() (err error) {
		var mine error
		if color < Undefined || color > maxColor || key < -maxColor || key > maxColor {
			mine = status.New(status.InvalidArgument, "color %d, key %d: color must lie in [0, %d], key in [-%d, %d]",
				color, key, maxColor, maxColor, maxColor)
		}
		d, err = c.derive(wire.Signature{Op: "split"}, mine, func() (backend.ReducingCommunicator, error) { return c.main.Split(color, key) })
		return err
	})
	return d, err
}

// derive makes a Comm of what make returns, which may be nil.
func (c *Comm) derive(f wire.Signature, mine error, make func() (backend.ReducingCommunicator, error)) (d *Comm, err error) {
	if mine == nil {
		mine = memory.CheckReserve()
	}
	if err := c.meet(f, mine); err != nil {
		return nil, err
	}
	err = c.blocking(func() error {
		main, err := make()
		if err == nil && main != nil {
			d, err = newComm(main, c.memory, c.unchecked, c.pretended, c)
		}
		return err
	})
	return d, err
}

// SplitByNode returns a Comm of the ranks that share memory with this one, in their order. Collective.
func (c *Comm) SplitByNode() (d *Comm, err error) {
	err = c.inTurn("split_by_node", func() (err error) {
		d, err = c.derive(wire.Signature{Op: "split_by_node"}, nil, c.splitByNode)
		return err
	})
	return d, err
}

// Export returns the native handle of a duplicate, which is the caller's to free; an error where ranks are connected by
// what has none. Collective.
func (c *Comm) Export() (handle uintptr, err error) {
	err = c.inTurn("to_mpi4py", func() (err error) {
		native, ok := c.main.(backend.NativeCommunicator)
		if !ok {
			return status.New(status.Unsupported, "the context's ranks are not connected by MPI")
		}
		if err := c.meet(wire.Signature{Op: "to_mpi4py"}, nil); err != nil {
			return err
		}
		return c.blocking(func() (err error) {
			handle, err = native.Export()
			return err
		})
	})
	return handle, err
}

const (
	// Undefined is the color of a rank that joins no part.
	Undefined = -1
	maxColor  = 1<<31 - 1
)

// checkRank refuses a rank outside the communicator.
func (c *Comm) checkRank(name string, rank int64) error {
	if rank < 0 || rank >= int64(c.size) {
		return status.New(status.OutOfBounds, "%s %d outside [0, %d)", name, rank, c.size)
	}
	return nil
}
