package comm

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"dtl/core/comm/wire"
	"dtl/core/goroutine"
	"dtl/core/progress"
	"dtl/core/status"
)

// The states of a communicator before it is closed.
const (
	open       int32 = iota
	considered       // whether it can be closed
	decided          // it will be
)

// BeginClose has every call that waits on the communicator fail, and no request start from now on, for it is about to be
// closed; unless requests are active: then it returns an error, and nothing has happened.
func (c *Comm) BeginClose() error {
	c.ending.Store(considered)
	if err := c.Idle(); err != nil {
		c.ending.Store(open)
		return err
	}
	c.ending.Store(decided)
	return nil
}

// admits reports whether a request that has been counted among the active ones may start.
func (c *Comm) admits() bool {
	for c.ending.Load() == considered {
		runtime.Gosched()
	}
	return c.ending.Load() == open && !c.gone.Load()
}

func closed() error { return status.New(status.InvalidHandle, "the context is closed") }

// takeToClose takes the last turn, when code outside Go is in no call any more.
func (c *Comm) takeToClose() error {
	if atomic.LoadUint64(c.turn.at) != goroutine.ID() {
		if err := c.waitForTurn("close", true); err != nil {
			return err
		}
	}
	if c.amongNodes != nil {
		onFastPath.Delete(c.amongNodes.Fast().CloseFastPath())
	}
	if b := c.fastPathBoard(); b != nil {
		if err := c.closeFastPath(b); err != nil {
			c.release()
			return err
		}
	}
	c.ending.Store(open) // the calls that waited are gone, and what follows waits for other ranks itself
	return nil
}

// Close frees the communicators, when calls of code outside Go that are under way have ended. Collective. Messages that
// have come and were not received are dropped.
func (c *Comm) Close() error {
	const op = "close"
	if err := progress.Enter(); err != nil {
		return status.In(op, err)
	}
	defer progress.Exit()
	if err := c.takeToClose(); err != nil {
		return status.In(op, err)
	}
	if c.gone.Swap(true) {
		c.release()
		return nil
	}
	c.starts.Stop()
	c.waitInAllCalls()
	err := c.end()
	b := c.board
	if b == nil {
		b = c.own
	}
	if b == nil {
		b = c.node.board
	}
	c.board, c.own, c.node = nil, nil, node{}
	c.release()
	c.turn.at = &c.turn.own
	if b != nil {
		b.Recycle()
	}
	return status.In(op, err)
}

// end ends what there is, within the last turn.
func (c *Comm) end() error {
	const why = "has closed the context"
	left := c.endDependents()
	if !c.starts.InStep() {
		c.keepsPayload.Store(true)
	}
	if c.amongNodes != nil && c.amongNodes.GoesOn() {
		c.amongNodes.Tell()
	}
	c.group.Leave(why)
	if b := c.board; b != nil {
		c.shared.Close()
		_ = b.Close() // only of memory that is not mapped
	} else if c.own != nil {
		_ = c.own.Close() // likewise
	}
	if c.metadata != nil {
		c.metadata.Release()
	}
	if c.meeter != nil {
		c.meeter.Close()
	}
	if c.node.board != nil {
		_ = c.node.board.Close() // likewise
	}
	c.unexpected.Close()
	c.settleOwn()
	c.scratch.close()
	return errors.Join(left, c.free())
}

// freeNow frees the communicators. One with a collective that not all ranks have started stays: messages of that may
// still come, which the library would take for those of the next communicator that gets the same number.
func (c *Comm) freeNow() error {
	if c.amongNodes != nil {
		c.amongNodes.Recycle()
		c.amongNodes.DropRecords()
	}
	err := errors.Join(c.starts.Free(), c.levels.close(), c.main.Close())
	if c.keepsPayload.Load() {
		return err
	}
	return errors.Join(err, c.payload.Close())
}

// GiveUp tells the other ranks that this one makes no more calls here, and why, and frees nothing: they would have to take
// part in that, and may be anywhere. Whoever waits for this rank gets an error. Local.
func (c *Comm) GiveUp(why string) {
	if c.size > 1 && !c.gone.Load() {
		c.group.Leave(why)
	}
}

// unfreed are communicators that this rank has closed and others have not, or where starts are still in line. None is
// freed while a message may come on it: the library may take that for a message of another communicator, which gets the same
// number.
var unfreed struct {
	mu   sync.Mutex
	list []*Comm
}

// free frees the communicators, now or when all other ranks have closed them.
func (c *Comm) free() error {
	const orderly = 20 * time.Millisecond
	freeLeftByAll()
	if c.leftByAll(orderly) && c.drained() {
		return c.freeNow()
	}
	unfreed.mu.Lock()
	defer unfreed.mu.Unlock()
	unfreed.list = append(unfreed.list, c)
	return nil
}

// leftByAll reports whether all other ranks have closed the communicator, now or within so long, where that matters.
func (c *Comm) leftByAll(patience time.Duration) bool {
	return c.messages == nil || c.messages.Close(patience)
}

// freeLeftByAll frees those that all other ranks have closed by now.
func freeLeftByAll() {
	unfreed.mu.Lock()
	defer unfreed.mu.Unlock()
	unfreed.list = slices.DeleteFunc(unfreed.list, func(c *Comm) bool {
		if !c.leftByAll(0) || !c.drained() {
			return false
		}
		_ = c.freeNow() // there is nobody to tell
		return true
	})
}

// dependent is what ends with the communicator.
type dependent struct{ idle, end func() error }

// OnClose has end called when the communicator is closed, in the order in which ranks came here, unless the caller has
// called forget before. Until then, idle says why it cannot end now, if so. What depends on the communicator is made, and
// forgotten, by collective calls.
func (c *Comm) OnClose(idle, end func() error) (forget func()) {
	d := &dependent{idle, end}
	c.dependents.mu.Lock()
	defer c.dependents.mu.Unlock()
	c.dependents.list = append(c.dependents.list, d)
	return func() {
		c.dependents.mu.Lock()
		defer c.dependents.mu.Unlock()
		c.dependents.list = slices.DeleteFunc(c.dependents.list, func(o *dependent) bool { return o == d })
	}
}

// depending returns what ends with the communicator: as much on every rank.
func (c *Comm) depending() []*dependent {
	c.dependents.mu.Lock()
	defer c.dependents.mu.Unlock()
	return slices.Clone(c.dependents.list)
}

// Closable is nil unless requests are under way here, or what depends on the communicator cannot end. Where something
// depends on it, all ranks come here, and all get the error of one. Collective.
func (c *Comm) Closable() error {
	if err := c.ahead.confirm(nil, 0); err != nil {
		return err
	}
	mine := c.Idle()
	list := c.depending()
	if len(list) == 0 {
		return mine
	}
	for _, d := range list {
		mine = errorOr(mine, d.idle())
	}
	return c.inTurn("close", func() error { return c.meet(wire.Signature{Op: "close"}, mine) })
}

// endDependents ends what depends on the communicator when all ranks have come to close it: until then, they may use it.
func (c *Comm) endDependents() error {
	list := c.depending()
	if len(list) == 0 {
		return nil
	}
	err := c.meet(wire.Signature{Op: "close"}, nil)
	if err != nil && c.board == nil {
		return err // without shared memory they end by collective calls, and some ranks do not come
	}
	for _, d := range list {
		if failed := d.end(); err == nil {
			err = failed
		}
	}
	return err
}

// Asked reports whether another rank wants to know where this one is, which does not wait in a call. Local.
func (c *Comm) Asked() bool { return c.size > 1 && !c.gone.Load() && c.group.Asked() }

// Answer says so to those that asked. Local.
func (c *Comm) Answer(place string) {
	if c.size > 1 && !c.gone.Load() {
		c.group.Answer(place)
	}
}
