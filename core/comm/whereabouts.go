package comm

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"dtl/core/clock"
	"dtl/core/progress"
)

// comms are those that ranks of this process have open, for what one of them tells on all of its boards.
var comms struct {
	mu   sync.Mutex
	open []*Comm
}

func enlist(c *Comm) {
	comms.mu.Lock()
	defer comms.mu.Unlock()
	comms.open = append(comms.open, c)
}

// dismiss takes a Comm off the list: nobody tells its board anything any more.
func dismiss(c *Comm) {
	comms.mu.Lock()
	defer comms.mu.Unlock()
	comms.open = slices.DeleteFunc(comms.open, func(o *Comm) bool { return o == c })
}

// onBoards calls f with every open board.
func onBoards(f func(*Comm)) {
	comms.mu.Lock()
	defer comms.mu.Unlock()
	for _, c := range comms.open {
		if c.board != nil {
			f(c)
		}
	}
}

// byMessages returns the notices of every communicator whose ranks share no memory.
func byMessages() (all []*notices) {
	comms.mu.Lock()
	defer comms.mu.Unlock()
	for _, c := range comms.open {
		if c.notices != nil {
			all = append(all, c.notices)
		}
	}
	return all
}

// vigils are the calls of this process that wait for other ranks, and have told them: threads may wait in several.
var vigils struct {
	mu  sync.Mutex
	now []*vigil
}

// tell lets the other ranks know in which call this process waits.
func (v *vigil) tell() {
	vigils.mu.Lock()
	defer vigils.mu.Unlock()
	vigils.now = append(vigils.now, v)
	v.comm.tellWaits()
}

// say changes what the call says of itself, which others may read where it has told them.
func (v *vigil) say(call string) {
	if !v.told {
		v.call = call
		return
	}
	vigils.mu.Lock()
	defer vigils.mu.Unlock()
	v.call = call + place()
	v.comm.tellWaits()
}

// goOn lets the other ranks know that this call waits no longer.
func (v *vigil) goOn() {
	vigils.mu.Lock()
	defer vigils.mu.Unlock()
	vigils.now = slices.DeleteFunc(vigils.now, func(o *vigil) bool { return o == v })
	v.comm.tellWaits()
}

// tellWaits tells on the boards that a change on w is of interest to what waits now. Ranks that are goroutines of one
// process speak for themselves only. The caller holds the lock.
func (w *Comm) tellWaits() {
	onBoards(func(c *Comm) {
		if c != w && (w.alike || c.alike) {
			return
		}
		if calls := c.waits(); calls == nil {
			c.board.GoOn()
		} else {
			c.board.Wait(strings.Join(calls, " and in "))
		}
	})
}

// waits returns the calls in which this process waits, as far as c's ranks are concerned. The caller holds the lock.
func (c *Comm) waits() (calls []string) {
	for _, v := range vigils.now {
		if v.comm == c || !c.alike && !v.comm.alike {
			calls = append(calls, v.call)
		}
	}
	return calls
}

// Asked reports whether another rank wants to know where this process is.
func Asked() (asked bool) {
	onBoards(func(c *Comm) { asked = asked || c.board.Asked() })
	for _, n := range byMessages() {
		asked = n.asked() || asked
	}
	return asked
}

// Answer tells who asked that this process is in no call, but at a place of the program.
func Answer(place string) {
	onBoards(func(c *Comm) { c.board.Answer(place) })
	for _, n := range byMessages() {
		n.answer(place)
	}
}

// Leave tells the other ranks that this process makes no more calls, and why: "has ended".
func Leave(why string) {
	progress.Stop()
	onBoards(func(c *Comm) { c.board.Leave(why) })
	for _, n := range byMessages() {
		n.leave(why)
	}
}

// GiveUp tells the other ranks that this one makes no more calls here, and why, and frees nothing: they would have to take
// part in that, and may be anywhere. Whoever waits for this rank gets an error. Local.
func (c *Comm) GiveUp(why string) {
	if c.size == 1 || c.gone.Load() {
		return
	}
	dismiss(c)
	c.notices.leave(why)
	if c.board != nil {
		c.board.Leave(why)
	}
}

// claim reports whether this rank is to print a report: no other did in the last so long.
func (c *Comm) claim(since time.Duration) bool {
	if c.board == nil {
		return c.notices.claim(since)
	}
	t := clock.Now()
	return c.board.Claim(t-int64(since)*3/4, t)
}

// headline says who waits for how long.
func (c *Comm) headline(waited time.Duration) string {
	return fmt.Sprintf("rank %d of %d waits for %v: ", c.rank, c.size, waited.Round(time.Second/10))
}

// whereabouts says where every rank is: "ranks 0-2 in allreduce(…) at app.py:41; rank 3 at app.py:37".
func (c *Comm) whereabouts() string {
	texts := make([]string, c.size)
	switch {
	case c.board != nil:
		c.placesOnBoard(texts)
	case c.notices != nil:
		texts = c.notices.where(answering)
	default:
		texts[c.rank] = "in " + waitingOn(c)
	}
	for rank, text := range texts {
		if text == "" {
			texts[rank] = "does not answer"
		}
	}
	return eachOnce(texts, "")
}

// placesOnBoard asks the ranks where they are.
func (c *Comm) placesOnBoard(texts []string) {
	c.board.Ask()
	for deadline := time.Now().Add(answering); time.Now().Before(deadline) && slices.Contains(texts, ""); time.Sleep(10 * time.Millisecond) {
		for rank := range texts {
			switch place, inCall := c.board.Where(rank); {
			case inCall:
				texts[rank] = "in " + place
			case place != "":
				texts[rank] = place
			}
		}
	}
}
