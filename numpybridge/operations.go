// Package numpybridge is the data plane: calls that move elements between Python's buffers and the core.
//
// The C file beside it is the module _bridge; it borrows the buffers and fills in a Call. Everything that
// knows what an operation is stands here.
package numpybridge

import (
	"dtl/core/comm"
	"dtl/core/container"
	"dtl/core/dtype"
	"dtl/core/handle"
	"dtl/core/kernel"
	"dtl/core/runtime"
	"dtl/core/status"
)

// Code is an operation: dtl_code of bridge.h.
type Code int64

// The operations, in bridge.h's order.
const (
	Barrier Code = iota
	Allreduce
	Reduce
	Broadcast
	Gather
	Scatter
	Allgather
	Send
	Recv
	Sendrecv
	View
)

// names are the operations' names, as Python spells them.
var names = [...]string{
	"barrier", "allreduce", "reduce", "broadcast", "gather", "scatter", "allgather", "send", "recv", "sendrecv",
	"local_view",
}

// String returns the operation's name, or "" for a number that is none.
func (c Code) String() string {
	if c < 0 || int(c) >= len(names) {
		return ""
	}
	return names[c]
}

// Call is one call from Python: what goes in and what comes out.
type Call struct {
	Code   Code
	Handle int64
	Args   [4]int64
	HasIn  bool
	In     comm.Array
	HasOut bool
	Out    comm.Array
	Result comm.Result
}

// in returns the input, or nil.
func (c *Call) in() *comm.Array {
	if !c.HasIn {
		return nil
	}
	return &c.In
}

// out returns the output, or nil.
func (c *Call) out() *comm.Array {
	if !c.HasOut {
		return nil
	}
	return &c.Out
}

// suitable reports whether the call has an input where it needs one, and its arrays have element types. If not,
// Python, which knows what was passed, says what is wrong with it.
func (c *Call) suitable() bool {
	switch c.Code {
	case Allreduce, Reduce, Gather, Allgather, Send, Sendrecv:
		if !c.HasIn {
			return false
		}
	}
	return (!c.HasIn || c.In.Type.Valid()) && (!c.HasOut || c.Out.Type.Valid())
}

// perform runs the call on the native object that its handle names. There is no result where there is an error.
func (c *Call) perform() error {
	var err error
	if c.Code == View {
		err = c.view()
	} else {
		err = c.communicate()
	}
	if err != nil && c.Result.Storage != nil {
		c.Result.Storage.Release()
	}
	return status.In(c.Code.String(), err)
}

func (c *Call) communicate() (err error) {
	ref, err := runtime.Contexts.Acquire(handle.Handle(c.Handle))
	if err != nil {
		return err
	}
	defer ref.End(&err)
	on, err := ref.Object.Comm()
	if err != nil {
		return err
	}
	if c.Code >= Barrier && c.Code <= Reduce {
		return c.reduce(on)
	}
	return c.move(on)
}

// reduce runs the operations that end in one number, or none, an element.
func (c *Call) reduce(on *comm.Comm) error {
	if c.Code == Barrier {
		return on.Barrier()
	}
	op, err := kernel.ParseOp(c.Args[0])
	if err != nil {
		return err
	}
	if c.Code == Allreduce {
		return on.Allreduce(c.In.Span, c.Out.Span, op)
	}
	return on.Reduce(c.In.Span, c.Out.Span, op, c.Args[1])
}

// move runs the operations that move elements unchanged.
func (c *Call) move(on *comm.Comm) (err error) {
	switch c.Code {
	case Broadcast:
		c.Result, err = on.Broadcast(c.in(), c.out(), c.Args[0])
	case Gather:
		err = on.Gather(c.In.Span, c.Out.Span, c.Args[0])
	case Scatter:
		c.Result, err = on.Scatter(c.in(), c.out(), c.Args[0])
	case Allgather:
		err = on.Allgather(c.In.Span, c.Out.Span)
	case Send:
		err = on.Send(c.In, c.Args[0], c.Args[1])
	case Recv:
		want := comm.Want{Type: dtype.Type(c.Args[2]), Count: c.Args[3]}
		c.Result, err = on.Recv(c.out(), want, c.Args[0], c.Args[1])
	case Sendrecv:
		c.Result, err = on.Sendrecv(c.In, c.Args[0], c.Args[1], c.out(), c.Args[2], c.Args[3])
	default:
		err = status.New(status.Internal, "no operation has the code %d", int64(c.Code))
	}
	return err
}

// view returns a container's local part as a result: its own memory, with one more use.
func (c *Call) view() (err error) {
	ref, err := container.Vectors.Acquire(handle.Handle(c.Handle))
	if err != nil {
		return err
	}
	defer ref.End(&err)
	c.Result, err = ref.Object.View()
	return err
}
