package comm

import "dtl/core/backend"

// meet is how each blocking collective starts: it returns nil on every rank if all of them make the call that f
// describes and none has an error of its own, mine; else an error on every rank, its own or what they disagree in.
// Collective.
func (c *Comm) meet(f form, mine error) error { return mine }

// posted is a collective that was started without waiting for the other ranks.
type posted struct{ mine error }

// post is meet for a collective that does not block: what the ranks disagree in comes to light later, in check.
func (c *Comm) post(f form, mine error) (posted, error) { return posted{}, mine }

// check reports what the ranks are known to disagree in. A request asks before it says that it is complete.
func (p posted) check() error { return nil }

// await waits for a request, as all who wait for another rank do: here hangs are noticed. what says what is waited for.
func (c *Comm) await(r backend.Request, what func() string) (backend.Status, error) { return r.Wait() }
