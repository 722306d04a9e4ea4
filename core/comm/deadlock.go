package comm

import (
	"dtl/core/comm/agreement"
	"dtl/core/comm/wire"
	"dtl/core/watchdog"
)

// deadlock returns an error if this rank would wait forever: it waits for a collective that does not block, and another rank,
// which has not started it, is in a blocking call. Each then waits for the other. This rank can find that out, because it sees
// which ranks have come to the meeting of the blocking call. It joins that meeting to say what it has called itself, so all
// ranks learn of it.
func (c *Comm) deadlock(start agreement.Start) error {
	if !start.Exists() || !c.tryTake() { // another thread of this rank may be in the same call
		return nil
	}
	defer c.release()
	if c.gone.Load() || !c.meeter.BlockedWithout(start.Number()) {
		return nil
	}
	call := start.Signature.String()
	all, err := c.come(wire.Statement{Fingerprint: start.Signature.Fingerprint(), ElementsHash: agreement.DeadlockHash}, nil, agreement.Elements{})
	if err == nil && !all {
		err = c.awaitMeeting(call)
	}
	if err == nil {
		err = c.explain(call, nil)
	}
	return watchdog.InVain(err)
}
