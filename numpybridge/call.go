package numpybridge

import (
	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/kernel/fold"
	"dtl/core/progress"
	"dtl/core/status"
)

// Call is one call from Python: what goes in and what comes out. It is used again for another one: whoever goes on
// after the call copies what he needs.
type Call struct {
	Code         Code
	Handle       int64
	KeepsBuffers bool // the buffers stay where they are until the handle that the call returns is closed
	Met          bool // all ranks have met for it
	Borrowed     bool // the first list has the addresses and lengths of buffers
	Args         [4]int64
	HasIn        bool
	In           comm.Array
	HasOut       bool
	Out          comm.Array
	Lists        [maxLists][]int64 // integers, such as counts; nil where there are none
	Result       comm.Result
	Number       fold.Number // the result where there is no other and its type is valid: a Python scalar, or,
	// if generic, a NumPy scalar
	Generic bool
	Alone   bool // the error is this rank's alone: no other has heard of it
	Staged  bool // elements of a device went through the host
}

const maxLists = 2

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

// unknown notes that the call ends with the error before it reaches the other ranks: its handle names nothing.
func (c *Call) unknown(err error) error {
	c.Alone = true
	return err
}

// suitable reports whether the call has an input where it needs one, and its arrays have element types, and that it gives
// one result. If not, Python, which knows what was passed, says what is wrong with it, or prepares it.
func (c *Call) suitable() bool {
	if (c.Code == Allreduce || c.Code == Reduce) && twofold(c.Args[0]) {
		return false
	}
	if c.Code.is(wantsInput) && !c.HasIn || c.Code.is(wantsPair) && !c.HasOut {
		return false
	}
	return (!c.HasIn || c.takes(c.In.Type)) && (!c.HasOut || c.takes(c.Out.Type))
}

// takes reports whether the call has a meaning for elements of a type: of opaque ones, if it moves elements of a container, and
// of named ones, if it sends them.
func (c *Call) takes(t dtype.Type) bool {
	return t.Valid() || t.Opaque() && c.Code.is(moving) || t.Named() && c.Code.is(sending)
}

// perform runs the call on the native object that its handle names. There is no result where there is an error.
func (c *Call) perform() error {
	row := c.Code.row()
	if row == nil {
		return status.New(status.Internal, "no operation has the code %d", int64(c.Code))
	}
	if c.Borrowed != c.Code.is(borrowing) {
		return c.unknown(status.In(row.name, status.New(status.InvalidHandle, "a call on buffers names no object, and others do")))
	}
	if err := progress.Enter(); err != nil {
		return status.In(row.name, err)
	}
	defer progress.Exit()
	if !c.Code.is(meeting | local) {
		if err := comm.Confirm(0); err != nil {
			return status.In(row.name, err)
		}
	}
	err := row.run(c)
	c.Alone = c.Alone || c.Code.is(local)
	if err != nil && c.Result.Storage != nil {
		c.Result.Storage.Release()
	}
	return status.In(row.name, err)
}
