package halo

import (
	"errors"

	"dtl/core/backend"
	"dtl/core/comm"
)

// Start starts a round on a lane of the communicator, the same on all ranks. Until Finish returns, the ghosts must not
// be touched, nor the elements changed that are sent from where they lie. What cannot be started is in the error, and
// Finish waits for the rest. It does not wait for other ranks.
//
// If a library connects the devices of all ranks, it only packs, and Finish sends.
func (e *Exchange) Start(lane int) error {
	if e.device.link != nil {
		e.device.failed = errors.Join(e.pack(), e.copyOwn())
		return nil
	}
	var failed error
	for i := range e.recvs {
		r, err := e.over.StartRecv(e.recvs[i].span, e.recvs[i].peer, lane)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		e.pending[i] = r
	}
	failed = errors.Join(failed, e.pack()) // and sends what is there, for others wait for it
	for i := range e.sends {
		m := &e.sends[i]
		for k := range m.patches {
			m.patches[k].run()
		}
		r, err := e.over.StartSend(m.span, m.peer, lane)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		e.pending[len(e.recvs)+i] = r
	}
	return errors.Join(failed, e.copyOwn())
}

// Finish waits until the ghosts are there and what was sent may change. Of a round that has not begun, there is nothing to wait for. It is
// collective, as a call, if a library connects the devices of all ranks: then an error may be known to all.
func (e *Exchange) Finish(call comm.Call) (known bool, err error) {
	if e.device.link != nil {
		return e.linked(call)
	}
	return false, e.Drop()
}

// Drop is Finish on this rank alone, of a round that nobody wants: a library that connects the devices sends nothing.
func (e *Exchange) Drop() error {
	var failed error
	var arrived []backend.Run
	for i, r := range e.pending {
		if r == nil {
			continue
		}
		e.pending[i] = nil
		if _, err := e.over.Await(r); err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		if i < len(e.recvs) {
			for k := range e.recvs[i].patches {
				e.recvs[i].patches[k].run()
			}
			arrived = append(arrived, e.recvs[i].runs...)
		}
	}
	return errors.Join(failed, e.unpack(arrived))
}

// Over reports whether Finish would not wait. It goes on with what is under way, and does not wait.
func (e *Exchange) Over() bool {
	over := true
	for _, r := range e.pending {
		if r != nil {
			_, complete, _ := r.Test() // which Finish is told again, with its error
			over = over && complete
		}
	}
	return over
}

// Engage has the communicator count a round as under way, or, with -1, as over.
func (e *Exchange) Engage(n int) { e.over.Engage(n) }

// Messages returns how many messages this rank sends in a round.
func (e *Exchange) Messages() int { return len(e.sends) }

// Release gives the buffer back. Nothing may be under way.
func (e *Exchange) Release() { e.buffer.Release() }
