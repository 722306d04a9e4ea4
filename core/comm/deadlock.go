package comm

import (
	"dtl/core/comm/agreement"
	"dtl/core/comm/wire"
	"dtl/core/watchdog"
)

// deadlock returns an error if this rank waits for ever: for a collective that does not block, while another rank is in a
// call that blocks and has not started that collective. Each waits for the other, then. This rank finds that out, for it
// sees who has come to the meeting of the call that blocks. It comes there, too, to say what it has called instead, so all
// ranks hear of it.
func (c *Comm) deadlock(start agreement.Start) error {
	if !start.Exists() || !c.tryTake() { // another thread of this rank may be in the same call
		return nil
	}
	defer c.release()
	if c.gone.Load() || !c.meeter.BlockedWithout(start.Number()) {
		return nil
	}
	call := start.Signature.String()
	all, err := c.come(wire.Statement{Fingerprint: start.Signature.Fingerprint(), Want: agreement.DeadlockWant}, nil, agreement.Elements{})
	if err == nil && !all {
		err = c.awaitMeeting(call)
	}
	if err == nil {
		err = c.explain(call, nil)
	}
	return watchdog.InVain(err)
}
