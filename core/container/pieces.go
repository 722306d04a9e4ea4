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

// Join makes an array on the context of some containers, and moves pieces of them, all at the same time, to places of it that do not overlap.
// Pieces without axes stay where they are. The ranks agree once; where elements are on devices, on each move. Collective.
func Join(spec Spec, pieces []Piece) (*Array, error) {
	on := pieces[0].From.Context()
	all := make([]Container, len(pieces))
	for i, p := range pieces {
		if all[i] = p.From; p.From.Context() != on {
			return nil, status.In(spec.Name(), status.New(status.InvalidArgument, "the containers belong to several contexts"))
		}
	}
	if !spec.Placement.ofHost(on) || onDevices(all...) { // on all ranks, or on none
		return joinOnDevices(spec, pieces)
	}
	c, err := on.Comm()
	if err != nil {
		return nil, status.In(spec.Name(), err)
	}
	parts, done, mine := partsOf(all)
	defer done()
	var a *Array
	var t *transfer.Transfer
	if mine == nil {
		if a, mine = Like(on, spec); mine == nil {
			a.limitAs(parts...)
			if len(pieces[0].Axes) > 0 {
				t, mine = prepareAll(c, a.now, parts, pieces)
			}
		}
	}
	call := comm.Call{Op: spec.Name()}
	if c.Size() > 1 { // one rank compares nothing
		call = withPieces(spec.call(), parts, pieces)
	}
	return agreed(c, call, mine, a, t)
}

// joinOnDevices is Join by a call that makes the array, and one that moves each piece.
func joinOnDevices(spec Spec, pieces []Piece) (*Array, error) {
	a, err := New(pieces[0].From.Context(), spec)
	for i := 0; err == nil && i < len(pieces) && len(pieces[i].Axes) > 0; i++ {
		err = Move(a, pieces[i].From, pieces[i].Axes, 0)
	}
	if err != nil && a != nil {
		_ = a.Close() // it never fails
		a = nil
	}
	return a, err
}

// MoveAll moves pieces of containers of one context, all at the same time, to places of another one there that do not overlap. Collective.
func MoveAll(to Container, pieces []Piece) error {
	const op = "copy"
	all := []Container{to}
	for _, p := range pieces {
		if all = append(all, p.From); p.From.Context() != to.Context() {
			return status.In(op, status.New(status.InvalidArgument, "the containers belong to several contexts"))
		}
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
	call := (&Plan{op: op}).call()
	if len(parts) > 0 {
		call = withPieces((&Plan{op: op}).call(parts[0].state), parts[1:], pieces)
	}
	return together(c, call, func() (*transfer.Transfer, error) {
		if mine != nil {
			return nil, mine
		}
		for _, p := range parts[1:] {
			if p.storage == parts[0].storage {
				return nil, status.New(status.InvalidArgument, "a container is both read and written")
			}
		}
		return prepareAll(c, parts[0].state, parts[1:], pieces)
	})
}

// partsOf returns this rank's parts of containers, which do not change until done is called.
func partsOf(all []Container) (parts []Part, done func(), err error) {
	done = func() {
		for _, p := range parts {
			p.Done()
		}
	}
	for _, c := range all {
		p, err := inPlace(c)
		if err != nil {
			return parts, done, err
		}
		parts = append(parts, p)
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

// withPieces adds to a call on which the ranks agree what moves, of the parts that are known.
func withPieces(call comm.Call, parts []Part, pieces []Piece) comm.Call {
	call.Same = append(call.Same, int64(len(pieces)))
	texts := []func() string{call.Text}
	for i, piece := range pieces {
		m := &Plan{axes: piece.Axes}
		said := m.call()
		if i < len(parts) {
			said = m.call(parts[i].state)
		}
		call.Same = append(call.Same, said.Same...)
		texts = append(texts, said.Text)
	}
	call.Text = func() string {
		all := make([]string, len(texts))
		for i, text := range texts {
			all[i] = text()
		}
		return strings.Join(all, "; ")
	}
	return call
}

func prepareAll(c *comm.Comm, to *state, parts []Part, pieces []Piece) (*transfer.Transfer, error) {
	all := make([]transfer.Part, len(pieces))
	for i, piece := range pieces {
		from := parts[i].state
		plan, err := (&Plan{axes: piece.Axes}).plan(to, from)
		if err != nil {
			return nil, err
		}
		all[i] = transfer.Part{
			Plan: plan, Src: arranged(from, piece.Axes, Axis.source), Dst: arranged(to, piece.Axes, Axis.destination),
		}
	}
	return transfer.PrepareAll(c, all, 0)
}
