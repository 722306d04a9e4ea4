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
	parts, done, mine := partsOf(to, pieces)
	defer done()
	if mine == nil && onDevices(parts) { // which it is on all ranks, or on none
		for _, p := range pieces {
			if err := Move(to, p.From, p.Axes, 0); err != nil {
				return err
			}
		}
		return nil
	}
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

// partsOf returns this rank's part of the destination, and those of the sources, which do not change until done is called.
func partsOf(to Container, pieces []Piece) (parts []Part, done func(), err error) {
	done = func() {
		for _, p := range parts {
			p.Done()
		}
	}
	for i := range len(pieces) + 1 {
		of := to
		if i > 0 {
			of = pieces[i-1].From
		}
		p, err := inPlace(of)
		if err != nil {
			return parts, done, err
		}
		parts = append(parts, p)
		switch {
		case p.typ != parts[0].typ:
			return parts, done, status.New(status.InvalidArgument,
				"elements of %s cannot move to elements of %s; convert them first", p.typ, parts[0].typ)
		case i > 0 && p.storage == parts[0].storage:
			return parts, done, status.New(status.InvalidArgument, "a container is both read and written")
		}
	}
	return parts, done, nil
}

func onDevices(parts []Part) bool {
	for _, p := range parts {
		if p.Placement() == OnDevice {
			return true
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
	to := parts[0]
	for i, piece := range pieces {
		from := parts[i+1]
		src, err := side(from.state, piece.Axes, Axis.source)
		if err != nil {
			return nil, err
		}
		dst, err := side(to.state, piece.Axes, Axis.destination)
		if err != nil {
			return nil, err
		}
		plan, err := transfer.New(src, dst, to.typ.Size())
		if err != nil {
			return nil, err
		}
		all[i] = transfer.Part{
			Plan: plan, Src: arranged(from.state, piece.Axes, Axis.source), Dst: arranged(to.state, piece.Axes, Axis.destination),
		}
	}
	return transfer.PrepareAll(c, all, 0)
}
