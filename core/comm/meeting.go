package comm

import (
	"fmt"
	"unsafe"

	"dtl/core/board"
	"dtl/core/comm/agreement"
	"dtl/core/comm/wire"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/status"
	"dtl/core/watchdog"
)

// Each collective call starts with a meeting (package agreement), in which all ranks state which call they make. What little
// a short call moves goes along.

// meet returns nil on every rank if all of them make the call that f describes and none has an error of its own, mine;
// else an error on every rank, its own or what they disagree in. Collective.
func (c *Comm) meet(f wire.Signature, mine error) error {
	return c.meetWith(f, mine, agreement.Elements{})
}

// meetWith is meet where each rank brings elements, too, whose outcome is there until this rank's next meeting. There is
// room for as many as the meeter says. Collective.
func (c *Comm) meetWith(f wire.Signature, mine error, brought agreement.Elements) error {
	if c.size == 1 {
		return mine
	}
	all, err := c.come(wire.Statement{Fingerprint: f.Fingerprint(), ElementsHash: f.ElementsHash()}, mine, brought)
	if err == nil && !all {
		err = c.awaitMeeting(c.inCall(f.String()))
	}
	if err != nil {
		return errorOr(mine, err)
	}
	if c.meeter.Agreed() {
		c.hasHeard()
		return nil
	}
	return c.explain(c.inCall(f.String()), mine)
}

// meetRooted is meetWith for a call with a root that waits for fewer ranks than all where they share memory.
func (c *Comm) meetRooted(f wire.Signature, mine error, brought agreement.Elements, waits board.Waits, root int) error {
	if c.size == 1 {
		return mine
	}
	if c.amongNodes != nil {
		return c.meetAcross(f, mine, brought, waits, root)
	}
	if !c.mayGoOn() {
		waits = board.WaitsForAll
	}
	if c.inMemory == nil || mine != nil && waits == board.WaitsForAll {
		return c.meetWith(f, mine, brought)
	}
	if err := c.broken(); err != nil {
		return err
	}
	if mine != nil && waits == board.WaitsForNone {
		return c.refuse(f, mine)
	}
	s := wire.Statement{Fingerprint: f.Fingerprint(), ElementsHash: f.ElementsHash(), Code: int32(status.CodeOf(mine))}
	all, err := c.inMemory.ComeFor(agreement.Gone{Waits: waits, Root: root, Call: &f}, s, brought)
	if err == nil && !all {
		err = c.awaitMeeting(c.inCall(f.String()))
	}
	if err != nil {
		return errorOr(mine, err)
	}
	if c.inMemory.Agreed() {
		return nil
	}
	return c.explain(c.inCall(f.String()), mine)
}

// meetAcross is meetRooted of ranks on several nodes.
func (c *Comm) meetAcross(f wire.Signature, mine error, brought agreement.Elements, waits board.Waits, root int) error {
	if err := c.broken(); err != nil {
		return errorOr(mine, err)
	}
	goesOn := true
	if c.amongNodes.WithoutMeeting() {
		goesOn = c.mayGoOn()
		c.beginTelling()
	}
	s := wire.Statement{Fingerprint: f.Fingerprint(), ElementsHash: f.ElementsHash()}
	if mine != nil {
		s.Code, brought = int32(status.CodeOf(mine)), agreement.Elements{}
	}
	all, err := c.amongNodes.ComeFor(agreement.Gone{Waits: waits, Root: root, Call: &f}, s, brought)
	if err == nil && !all {
		err = c.awaitMeeting(c.inCall(f.String()))
	}
	switch {
	case err != nil:
		return errorOr(mine, err)
	case mine != nil || !c.amongNodes.Agreed():
		return c.explain(c.inCall(f.String()), mine)
	case !c.amongNodes.Ahead():
		c.hasHeard()
	case !goesOn:
		return c.confirmInTurn(0)
	}
	return nil
}

// refuse tells the other ranks that this one cannot make a call in which it would wait for none, and returns why.
func (c *Comm) refuse(f wire.Signature, mine error) error {
	told, err := c.inMemory.Refuse(mine.Error(), status.CodeOf(mine))
	if err == nil && !told {
		_ = c.awaitMeeting(c.inCall(f.String())) // the error is this rank's own in any case
	}
	return mine
}

// come comes to the next meeting, and reports whether all others are there already.
func (c *Comm) come(s wire.Statement, mine error, brought agreement.Elements) (all bool, err error) {
	if mine != nil {
		s.Code, brought = int32(status.CodeOf(mine)), agreement.Elements{}
	}
	if err := c.broken(); err != nil {
		return false, err
	}
	return c.meeter.Come(s, brought)
}

// part returns so many elements of what a rank brought to the meeting, from one of them on.
func (c *Comm) part(rank int, t dtype.Type, from, count int) memory.Span {
	return memory.Span{Addr: unsafe.Add(c.brought(rank), from*t.Size()), Count: count, Type: t}
}

// brought returns the address of what a rank brought to the meeting.
func (c *Comm) brought(rank int) unsafe.Pointer {
	if c.size == 1 {
		return c.single
	}
	at, _ := c.meeter.Payload(rank)
	return at
}

// explain returns the error of ranks that do not agree. call is what this rank called, mine why it cannot.
func (c *Comm) explain(call string, mine error) error {
	if mine == nil {
		call += watchdog.Place()
	}
	return c.explainAs(call, mine)
}

// explainAs is explain where call has the place of the call, or nobody knows that.
func (c *Comm) explainAs(text string, mine error) error {
	if mine != nil {
		text = mine.Error()
	}
	if c.amongNodes != nil && c.amongNodes.GoesOn() {
		return c.settle(text, mine)
	}
	deadlock, first := c.meeter.Deadlock()
	all, err := false, c.broken()
	if err == nil && c.inMemory != nil && c.inMemory.SomeGone() {
		if deadlock {
			c.starts.Lose(first, nil) // before the others hear of it
		}
		err = c.inMemory.Split(text, status.CodeOf(mine))
		if deadlock {
			c.starts.Lose(first, err)
		}
		return errorOr(mine, err)
	}
	if err == nil {
		all, err = c.meeter.Explain(text, status.CodeOf(mine))
	}
	if err == nil && !all {
		err = c.awaitMeeting(text)
	}
	if err != nil || mine != nil {
		return errorOr(mine, err)
	}
	codes, texts := c.meeter.Explained()
	err = agreement.Verdict(codes, texts, "")
	if deadlock {
		c.starts.Lose(first, err)
	}
	return err
}

// settle is explainAs of ranks on several nodes that may have gone on from the call in which they differ.
func (c *Comm) settle(text string, mine error) error {
	err := c.broken()
	if err != nil {
		return errorOr(mine, err)
	}
	all, err := c.amongNodes.Explain(text, status.CodeOf(mine))
	if err == nil && !all {
		err = c.awaitMeeting(text)
	}
	c.hasHeard()
	if err != nil {
		return errorOr(mine, err)
	}
	codes, texts, when, waiting, first := c.amongNodes.Settled()
	verdict := agreement.Verdict(codes, texts, when)
	if waiting {
		c.starts.Lose(first, verdict)
	}
	return errorOr(mine, verdict)
}

// errorOr returns the first of two errors that there is.
func errorOr(first, second error) error {
	if first != nil {
		return first
	}
	return second
}

// plural is a number of things.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprint(n, " ", thing, "s")
}
