package watchdog

import (
	"time"

	"dtl/core/backend"
	"dtl/core/status"
)

// grace is how long what a rank sent before it left may be under way.
const grace = 200 * time.Millisecond

// NoPeer is the peer of a wait that does not depend on one rank.
const NoPeer = -3

// Absence is for how long the ranks that a wait depends on have been gone. A rank that has left sends nothing any more, but
// what it sent before may still be under way when the others hear that it has left. So a wait is in vain after a while only.
type Absence struct{ checked, since time.Time }

// Due reports whether it is time to check again.
func (a *Absence) Due() bool {
	now := time.Now()
	if now.Sub(a.checked) < Interval {
		return false
	}
	a.checked = now
	return true
}

// Check returns an error that is InVain if those that have to do what a call waits for have left, whom absent names, for
// longer than a while; absent is "" where they have not.
func (a *Absence) Check(absent, call string) error {
	switch {
	case absent == "":
		a.since = time.Time{}
	case a.since.IsZero():
		a.since = a.checked
	case a.checked.Sub(a.since) >= grace:
		return InVain(status.New(status.Communication, "%s: %s waits in vain", absent, call))
	}
	return nil
}

// Absent says that the peer of a wait has left, and how; "" if it has not. With backend.AnySource, all others have to.
func (g *Group) Absent(peer int) string {
	texts := make([]string, g.size)
	switch {
	case peer >= 0:
		texts[peer] = g.Left(peer)
	case peer == backend.AnySource:
		for rank := range texts {
			if texts[rank] = g.Left(rank); rank != g.rank && texts[rank] == "" {
				return ""
			}
		}
	}
	return ByRanks(texts, "")
}

// AbsentFrom says which ranks have left before they started something that all of them must, and how; "" if none has.
func (g *Group) AbsentFrom(startedBy func(rank int) bool) string {
	texts := make([]string, g.size)
	for rank := range texts {
		if why := g.Left(rank); why != "" && !startedBy(rank) {
			texts[rank] = why
		}
	}
	return ByRanks(texts, "")
}
