package container

import (
	"strings"

	"dtl/core/comm"
	"dtl/core/status"
	"dtl/core/transfer"
)

// Piece is what moves of one container to another.
type Piece struct {
	From Container
	Axes []Axis
}

// MoveAll moves pieces of containers of one context, all at the same time, to places of another one there that do not overlap. Collective.
func MoveAll(to Container, pieces []Piece) error {
	const op = "copy"
	for _, p := range pieces {
		if p.From.Context() != to.Context() {
			return status.In(op, status.New(status.InvalidArgument, "the containers belong to several contexts"))
		}
	}
	all := []Container{to}
	for _, p := range pieces {
		all = append(all, p.From)
	}
	if onDevices(all...) { // on all ranks, or on none
		for _, p := range pieces {
			if err := Move(to, p.From, p.Axes, 0); err != nil {
				return err
			}
		}
		return nil
	}
	parts, done, mine := partsOf(all)
	defer done()
	c, err := to.Context().Comm()
	if err != nil {
		return status.In(op, err)
	}
	return together(c, callOf(op, parts, pieces), func() (*transfer.Transfer, error) {
		if mine != nil {
			return nil, mine
		}
		return prepareAll(c, parts, pieces)
	})
}

// partsOf returns this rank's parts of containers, which do not change until done is called.
func partsOf(all []Container) (parts []Part, done func(), err error) {
	done = func() {
		for _, p := range parts {
			p.Done()
		}
	}
	for i, c := range all {
		p, err := inPlace(c)
		if err != nil {
			return parts, done, err
		}
		parts = append(parts, p)
		if i > 0 && p.storage == parts[0].storage {
			return parts, done, status.New(status.InvalidArgument, "a container is both read and written")
		}
	}
	return parts, done, nil
}

// onDevices reports whether parts of containers are on devices, as far as they are open.
func onDevices(all ...Container) bool {
	for _, c := range all {
		if p, err := c.Look(); err == nil {
			there := p.Placement() == OnDevice
			p.Done()
			if there {
				return true
			}
		}
	}
	return false
}

// callOf is the move as the ranks agree on it, of the parts that are known.
func callOf(op string, parts []Part, pieces []Piece) comm.Call {
	call := comm.Call{Op: op, Same: []int64{int64(len(pieces))}}
	texts := make([]string, len(pieces))
	for i, piece := range pieces {
		m := &Plan{op: op, axes: piece.Axes}
		said := m.call()
		if i+1 < len(parts) {
			said = m.call(parts[0].state, parts[i+1].state)
		}
		call.Same = append(call.Same, said.Same...)
		texts[i] = said.Text()
	}
	call.Text = func() string { return strings.Join(texts, "; ") }
	return call
}

func prepareAll(c *comm.Comm, parts []Part, pieces []Piece) (*transfer.Transfer, error) {
	all := make([]transfer.Part, len(pieces))
	for i, piece := range pieces {
		to, from := parts[0], parts[i+1]
		plan, err := (&Plan{axes: piece.Axes}).plan(to.state, from.state)
		if err != nil {
			return nil, err
		}
		all[i] = transfer.Part{
			Plan: plan, Src: arranged(from.state, piece.Axes, Axis.source), Dst: arranged(to.state, piece.Axes, Axis.destination),
		}
	}
	return transfer.PrepareAll(c, all, 0)
}
