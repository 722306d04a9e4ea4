package rma

import (
	"fmt"
	"strings"
	"sync/atomic"

	"dtl/core/backend"
	"dtl/core/status"
)

// The lock of a part is a word: how many ranks have it in shared mode, how many wait to have it alone, and one more than the
// rank that has it alone. While a rank has it alone, no other changes the word. New readers let waiting writers go first, but not
// forever.
const (
	readerBits, waitingBits = 20, 20
	reader                  = uint64(1)
	waiting                 = uint64(1) << readerBits
	writer                  = uint64(1) << (readerBits + waitingBits)
	readersMask             = waiting - 1
	// courtesy is how often a reader lets waiting writers go first.
	courtesy = 32
)

// holders returns the ranks that have a target's lock, as far as that is known.
func (w *Window) holders(target int, word uint64) []int {
	if word >= writer {
		return []int{int(word/writer) - 1}
	}
	return w.words.sharers(target)
}

// heldBy describes which ranks have a lock.
func (w *Window) heldBy(target int, word uint64) string {
	ranks, mode := w.holders(target, word), " in shared mode"
	if word >= writer {
		mode = ""
	}
	switch n := word & readersMask; {
	case len(ranks) == 1:
		return fmt.Sprint("rank ", ranks[0]) + mode
	case len(ranks) > 1:
		return "ranks " + strings.ReplaceAll(strings.Trim(fmt.Sprint(ranks), "[]"), " ", ", ") + mode
	case n == 1:
		return "a rank" + mode
	default:
		return fmt.Sprint(n, " ranks") + mode
	}
}

// Lock begins accesses to a target's part, alone or shared with other ranks. If target is Every, it begins shared accesses to
// all parts. It waits until ranks with a conflicting lock unlock the part.
func (w *Window) Lock(target int64, alone bool) error {
	return w.using(named("lock", target), func() error {
		if target == backend.Every {
			return w.lockAll()
		}
		if err := w.checkTarget(target); err != nil {
			return err
		}
		t := &w.targets[target]
		if err := w.mayLock(int(target)); err != nil {
			return err
		}
		held := Shared
		if alone {
			held = Exclusive
		}
		if err := w.acquire("lock", int(target), alone); err != nil {
			atomic.StoreInt32(&t.held, Unlocked)
			return err
		}
		atomic.StoreInt32(&t.held, held)
		return nil
	})
}

// mayLock marks a target as wanted, unless this rank has locked it, or accesses wait for a fence.
func (w *Window) mayLock(target int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.checkFence(); err != nil {
		return err
	}
	if atomic.LoadInt32(&w.local.everywhere) != 0 {
		return status.New(status.InvalidArgument, "all parts are locked already, by lock_all")
	}
	switch atomic.LoadInt32(&w.targets[target].held) {
	case wanted:
		return status.New(status.InvalidArgument, "another thread waits for the lock of rank %d's part", target)
	case Unlocked:
		atomic.StoreInt32(&w.targets[target].held, wanted)
		atomic.StoreInt32(&w.local.fence, Unfenced)
		return nil
	}
	return status.New(status.InvalidArgument, "rank %d's part is locked already; unlock it first", target)
}

// checkFence refuses a lock after accesses that only the next fence completes.
func (w *Window) checkFence() error {
	if atomic.LoadInt32(&w.local.fence) == FenceUsed {
		return status.New(status.InvalidArgument, "there were accesses since the last fence; end them by another one first")
	}
	return nil
}

func (w *Window) lockAll() error {
	w.mu.Lock()
	err := w.checkFence()
	if err == nil {
		err = w.checkUnlocked("lock_all")
	}
	if err == nil {
		atomic.StoreInt32(&w.local.everywhere, wanted)
		atomic.StoreInt32(&w.local.fence, Unfenced)
	}
	w.mu.Unlock()
	if err != nil {
		return err
	}
	for target := range w.targets {
		if err := w.acquire("lock_all", target, false); err != nil {
			for target--; target >= 0; target-- {
				_ = w.free(target, Shared) // the first error is the one to report
			}
			atomic.StoreInt32(&w.local.everywhere, Unlocked)
			return err
		}
	}
	atomic.StoreInt32(&w.local.everywhere, Shared)
	return nil
}

// checkUnlocked refuses calls that are not allowed while parts are locked.
func (w *Window) checkUnlocked(op string) error {
	if atomic.LoadInt32(&w.local.everywhere) != 0 {
		return status.New(status.InvalidArgument, "all parts are locked; unlock_all them before %s", op)
	}
	for target := range w.targets {
		if atomic.LoadInt32(&w.targets[target].held) != Unlocked {
			return status.New(status.InvalidArgument, "rank %d's part is locked; unlock it before %s", target, op)
		}
	}
	return nil
}

// acquire waits for a target's lock and takes it for a call.
func (w *Window) acquire(op string, target int, alone bool) error {
	err := w.contend(op, target, alone)
	if err == nil && !alone {
		w.words.share(target, true)
	}
	return err
}

func (w *Window) contend(op string, target int, alone bool) error {
	c := &contender{w: w, target: target, alone: alone, claim: reader}
	if alone {
		c.claim = (uint64(w.comm.Rank()) + 1) * writer
	}
	if done, err := c.ask(); done {
		return err
	}
	err := w.comm.Until(func() string {
		return fmt.Sprintf("%s: waits for the lock of rank %d's part, held by %s", op, target, w.heldBy(target, c.seen))
	}, c.ask)
	if err != nil && c.registered {
		c.withdraw()
	}
	return err
}

// contender is a call that takes a target's lock.
type contender struct {
	w          *Window
	target     int
	alone      bool
	claim      uint64 // what it adds to the word
	seen       uint64 // the word
	tries      int
	registered bool // as waiting for it alone
	deserted   bool // a rank that had it has ended
}

// ask takes the lock if it is free, and reports whether it was.
func (c *contender) ask() (done bool, err error) {
	w := c.w
	if atomic.LoadInt32(&w.local.open) == 0 {
		return false, closed()
	}
	if c.tries > 0 { // the first time it may be free, and taking it finds that out
		if c.seen, err = w.words.load(c.target); err != nil {
			return false, err
		}
	}
	c.tries++
	for {
		done, next := free(c.seen, c.alone, c.registered, c.tries > courtesy)
		if !done {
			break
		}
		expected := c.seen
		if c.seen, err = w.words.swap(c.target, expected, next+c.claim); err != nil || c.seen == expected {
			return err == nil, err
		}
	}
	if c.alone && !c.registered && c.seen < writer {
		return false, c.register()
	}
	if c.tries%64 == 0 {
		err = w.abandoned(c.target, c.seen)
		if !c.deserted { // what gives the lock back may still be on its way
			c.deserted, err = err != nil, nil
		}
	}
	return false, err
}

// register notes that this rank waits for ranks that have the lock in shared mode.
func (c *contender) register() error {
	expected := c.seen
	seen, err := c.w.words.swap(c.target, expected, expected+waiting)
	c.seen, c.registered = seen, err == nil && seen == expected
	return err
}

// withdraw takes register back. If other ranks have the lock alone all the while, it remains: those that want it in shared mode
// then let a rank go first that does not come, but not forever.
func (c *contender) withdraw() {
	const tries = 16
	for range tries {
		expected := c.seen
		if expected >= writer {
			expected = waiting
		}
		var err error
		if c.seen, err = c.w.words.swap(c.target, expected, expected-waiting); err != nil || c.seen == expected {
			return
		}
	}
}

// free reports whether a lock with this word may be taken, and returns the word without this rank's registration as waiting.
func free(word uint64, alone, registered, impatient bool) (bool, uint64) {
	switch {
	case !alone:
		return word < writer && (word < waiting || impatient), word
	case registered:
		return word < writer && word&readersMask == 0, word - waiting
	default:
		return word == 0, 0
	}
}

// abandoned reports that a rank that has a lock will not release it any more.
func (w *Window) abandoned(target int, word uint64) error {
	for _, rank := range w.holders(target, word) {
		if rank == w.comm.Rank() {
			continue
		}
		if why := w.words.ended(rank); why != "" {
			return status.New(status.Communication, "rank %d %s, and has not unlocked rank %d's part", rank, why, target)
		}
	}
	return nil
}

// Unlock ends the accesses that Lock began, when they are complete at the target; with Every, those to all parts. Other threads
// cannot begin any meanwhile, because the wait for accesses under way might then never end.
func (w *Window) Unlock(target int64) error {
	return w.using(named("unlock", target), func() error {
		if target == backend.Every {
			return w.unlockAll()
		}
		if err := w.checkTarget(target); err != nil {
			return err
		}
		t := &w.targets[target]
		held := atomic.LoadInt32(&t.held)
		if held != Shared && held != Exclusive || !atomic.CompareAndSwapInt32(&t.held, held, ending) {
			return status.New(status.InvalidArgument, "rank %d's part is not locked", target)
		}
		if err := w.reach.Flush(int(target)); err != nil {
			atomic.StoreInt32(&t.held, held)
			return err
		}
		atomic.StoreInt32(&t.held, Unlocked)
		return w.free(int(target), held)
	})
}

// free releases a target's lock.
func (w *Window) free(target int, held int32) error {
	if held == Exclusive {
		return w.words.unlock(target, (uint64(w.comm.Rank())+1)*writer)
	}
	w.words.share(target, false)
	return w.words.unlock(target, reader)
}

func (w *Window) unlockAll() error {
	if !atomic.CompareAndSwapInt32(&w.local.everywhere, Shared, ending) {
		return status.New(status.InvalidArgument, "lock_all has not locked the parts")
	}
	if err := w.reach.Flush(backend.Every); err != nil {
		atomic.StoreInt32(&w.local.everywhere, Shared)
		return err
	}
	atomic.StoreInt32(&w.local.everywhere, Unlocked)
	for target := range w.targets {
		if err := w.free(target, Shared); err != nil {
			return err
		}
	}
	return nil
}
