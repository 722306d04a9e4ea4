package comm

import (
	"fmt"
	"unsafe"

	"dtl/core/comm/agreement"
	"dtl/core/comm/wire"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/mix"
	"dtl/core/status"
)

// Call is one rank's part in a collective call on a container: what it calls, and with which arguments.
type Call struct {
	Op   string
	Of   [3]int64      // the container, as all ranks know it
	Same []int64       // what else every rank must pass alike
	Text func() string // the arguments in words, for the error of ranks that do not
	On   fmt.Stringer  // what it is called on, or nil
}

// Shared is what a rank tells all others while they agree: each Meeter has room for it.
type Shared [agreement.MinRoom / 8]int64

// Agree is how each collective call on a container starts: it returns nil on every rank, or an error on every rank.
// Nothing is changed before, so nothing is half-changed where a rank made another call, passed something else, or
// cannot go on, which mine says. Collective.
func (c *Comm) Agree(call Call, mine error) error {
	return c.AgreeSharing(call, mine, Shared{}, nil)
}

// AgreeSharing is Agree that also tells every rank what each shares: all, if it is not nil, has an entry a rank.
// Collective.
func (c *Comm) AgreeSharing(call Call, mine error, share Shared, all []Shared) error {
	return c.inTurn(call.Op, func() error { return c.agree(call, mine, share, all) })
}

func (c *Comm) agree(call Call, mine error, share Shared, all []Shared) error {
	if mine == nil {
		mine = memory.CheckFiles()
	}
	if c.size == 1 {
		if all != nil {
			all[0] = share
		}
		return mine
	}
	return c.agreeWithOthers(call, mine, share, all)
}

func (c *Comm) agreeWithOthers(call Call, mine error, share Shared, all []Shared) error {
	told := memory.Span{Addr: unsafe.Pointer(&share), Count: len(share), Type: dtype.Int64}
	along := all != nil && c.meeter.Room(agreement.ToAll) >= told.Bytes()
	var brought agreement.Elements
	if along {
		brought.Span = told
	}
	there, err := c.come(wire.Statement{Fingerprint: call.fingerprint()}, mine, brought)
	if err == nil && !there {
		err = c.awaitMeeting(c.inCall(call.String()))
	}
	if err != nil {
		return err
	}
	if !c.meeter.Agreed() {
		return c.explain(c.inCall(call.String()), mine)
	}
	if all != nil && !along {
		into := memory.Span{Addr: unsafe.Pointer(unsafe.SliceData(all)), Count: len(share) * c.size, Type: dtype.Int64}
		return c.blocking(func() error { return c.main.Allgather(told, into) })
	}
	for rank := range all {
		all[rank] = *(*Shared)(c.brought(rank))
	}
	return nil
}

// Refuse joins the agreement of whatever collective call the other ranks make, to say that this one cannot. They all
// get an error; the caller has its own. Collective.
func (c *Comm) Refuse(op string, why error) error {
	err := c.Agree(Call{Op: op}, why)
	if err == nil || status.CodeOf(err) == status.CodeOf(why) {
		return nil
	}
	return err
}

// fingerprint is a number that differs, in all likelihood, where calls do.
func (call *Call) fingerprint() uint64 {
	h := wire.Hash(call.Op) + 1 // a container's call is never alike one of elements
	for _, v := range call.Of {
		h = mix.Step(h, uint64(v))
	}
	for _, v := range call.Same {
		h = mix.Step(h, uint64(v))
	}
	return h
}

// String says what this rank called.
func (call *Call) String() string {
	text := call.Op
	if call.Text != nil {
		text += "(" + call.Text() + ")"
	}
	if call.On != nil {
		text += " on " + call.On.String()
	}
	return text
}
