package container

import (
	"dtl/core/comm"
	"dtl/core/status"
	"dtl/core/transfer"
)

// Select makes an array on a container's context, and moves elements of the container to it. The ranks agree once on both; where elements
// are on devices, on each. Collective.
func Select(spec Spec, from Container, axes []Axis) (*Array, error) {
	on := from.Context()
	if !spec.Placement.ofHost(on) || onDevices(from) { // on all ranks, or on none
		return selectOnDevices(spec, from, axes)
	}
	c, err := on.Comm()
	if err != nil {
		return nil, status.In(spec.Name(), err)
	}
	p, mine := inPlace(from)
	if mine == nil {
		defer p.Done()
	}
	var a *Array
	var t *transfer.Transfer
	if mine == nil {
		if a, mine = Like(on, spec); mine == nil {
			a.limitAs(p)
			t, mine = prepareMove(c, a.now, p.state, axes)
		}
	}
	call := comm.Call{Op: spec.Name()}
	if c.Size() > 1 { // one rank compares nothing
		call = selection(spec, p.state, axes)
	}
	return agreed(c, call, mine, a, t)
}

// agreed has the ranks agree on the call that makes an array, with this rank's error, and runs the transfer to it, if there is one. It returns
// the array.
func agreed(c *comm.Comm, call comm.Call, mine error, a *Array, t *transfer.Transfer) (*Array, error) {
	all := make([]comm.Shared, c.Size())
	err := c.AgreeSharing(call, mine, comm.Shared{made.Add(1)}, all)
	if err == nil {
		a.now.id = all[0][0]
		if t != nil {
			err = status.In(call.Op, t.Run())
		}
	} else if t != nil {
		t.Release()
	}
	if err != nil && a != nil {
		_ = a.Close() // it never fails
		a = nil
	}
	return a, err
}

// selectOnDevices is Select by a call that makes the array, and one that moves.
func selectOnDevices(spec Spec, from Container, axes []Axis) (*Array, error) {
	a, err := New(from.Context(), spec)
	if err != nil {
		return nil, err
	}
	if err = Move(a, from, axes, 0); err != nil {
		_ = a.Close() // it never fails
		return nil, err
	}
	return a, nil
}

// prepareMove prepares the move from one part to another of the same context on the host.
func prepareMove(c *comm.Comm, to, from *state, axes []Axis) (*transfer.Transfer, error) {
	m := &Plan{axes: axes}
	var err error
	if m.move, err = m.plan(to, from); err != nil {
		return nil, err
	}
	return m.prepare(c, to, from)
}

// selection is the call as the ranks agree on it. The part is nil where the container is closed.
func selection(spec Spec, from *state, axes []Axis) comm.Call {
	call, moves := spec.call(), (&Plan{axes: axes}).call()
	call.Same = append(call.Same, moves.Same...)
	made := call.Text
	call.Text = func() string {
		text := made()
		for _, a := range axes {
			text += ", " + a.String()
		}
		return text
	}
	if from != nil {
		call = from.Named(call)
	}
	return call
}
