package comm

import (
	"errors"
	"time"

	"dtl/core/backend"
	"dtl/core/status"
)

// A rank that has closed the context or ended its program sends nothing any more. What it sent before may still be under
// way when the others hear that it has left.

// grace is how long what a rank sent before it left may be under way.
const grace = 200 * time.Millisecond

// awaited is what a call waits for outside meetings.
type awaited struct {
	call   func() string
	peer   int64  // the rank that must do something; backend.AnySource: one of the others; nobody: that is not known
	posted posted // a collective that all ranks must start
}

// nobody is the peer of what does not depend on one rank.
const nobody = -3

// named is what a call waits for that depends on no one rank.
func named(call string) awaited {
	return awaited{peer: nobody, call: func() string { return call }}
}

// vain is the error of a wait for what will never come, whatever this rank does.
type vain struct{ error }

// Unwrap returns what it wraps.
func (v vain) Unwrap() error { return v.error }

func isVain(err error) bool {
	var v vain
	return errors.As(err, &v)
}

// absence is for how long the ranks that a wait depends on have been absent.
type absence struct{ looked, since time.Time }

// due reports whether it is time to look again.
func (a *absence) due() bool {
	now := time.Now()
	if now.Sub(a.looked) < unnoticed {
		return false
	}
	a.looked = now
	return true
}

// of says that what a call waits for will not come, for whoever is to do it has left.
func (a *absence) of(c *Comm, what awaited, call string) error {
	why := c.absent(what)
	switch {
	case why == "":
		a.since = time.Time{}
	case a.since.IsZero():
		a.since = a.looked
	case a.looked.Sub(a.since) >= grace:
		return vain{status.New(status.Communication, "%s: %s waits in vain", why, call)}
	}
	return nil
}

// absent says which of the ranks that must do something have left, and how; "" if they have not.
func (c *Comm) absent(what awaited) string {
	texts := make([]string, c.size)
	switch {
	case what.posted.comm != nil:
		for rank := range texts {
			if why := c.left(rank); why != "" && !what.posted.startedBy(rank) {
				texts[rank] = why
			}
		}
	case what.peer >= 0:
		texts[what.peer] = c.left(int(what.peer))
	case what.peer == backend.AnySource:
		for rank := range texts {
			if texts[rank] = c.left(rank); rank != c.rank && texts[rank] == "" {
				return ""
			}
		}
	}
	return eachOnce(texts, "")
}

// left says how a rank has left; "" if it has not.
func (c *Comm) left(rank int) string {
	if rank == c.rank {
		return ""
	}
	if c.board == nil {
		return c.notices.left(rank)
	}
	return c.board.Left(rank)
}
