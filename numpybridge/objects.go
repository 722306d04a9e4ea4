package numpybridge

import (
	"dtl/core/comm"
	"dtl/core/status"
)

func sendObject(c *Call) error {
	return c.on(func(on *comm.Comm) error { return on.SendObject(c.In, c.Args[0], c.Args[1]) })
}

func recvObject(c *Call) error {
	return c.on(func(on *comm.Comm) (err error) {
		c.Result, err = on.RecvObject(c.Args[0], c.Args[1])
		return err
	})
}

func ticket(c *Call) error {
	return c.on(func(on *comm.Comm) error { return c.answer(nil, on.Ticket()) })
}

func sendPart(c *Call) error {
	return c.on(func(on *comm.Comm) error { return on.SendPart(c.In.Span, c.Args[0], c.Args[1]) })
}

func recvPart(c *Call) error {
	if !c.HasOut {
		return status.New(status.InvalidArgument, "there is no room for the part")
	}
	return c.on(func(on *comm.Comm) error { return on.RecvPart(c.Out.Span, c.Args[0], c.Args[1]) })
}
