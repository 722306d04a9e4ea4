package watchdog

import (
	"slices"
	"sync"
	"time"
)

// Group is the ranks of a communicator, as the watchdog knows them.
type Group struct {
	rank, size int
	oneProcess bool    // the ranks are goroutines of one process, each of which speaks for itself only
	channel    Channel // nil: this rank is alone
}

// A Channel is how the ranks of a group tell each other how they are. Its methods may be called from any goroutine.
type Channel interface {
	// Tell says in which calls this process waits; "": in none.
	Tell(calls string)
	// Listen takes notice of what others have said, and answers those that ask if this process waits.
	Listen()
	// Asked reports whether another rank asks where this one is, which does not wait in a call.
	Asked() bool
	// Answer says so, to those that asked.
	Answer(place string)
	// Places asks the ranks where they are, and returns what they say within some time, "" of those that do not answer.
	Places() []string
	// Claim reports whether this rank is the one to print a report: no other has in the last so long.
	Claim(since time.Duration) bool
	// GiveUp says that this rank has given up a collective call: no further one will do here.
	GiveUp(why string)
	// GaveUp returns the rank that gave up first, as far as this one knows, and why; -1 if none did.
	GaveUp() (rank int, why string)
	// Leave says that this rank makes no more calls, and why.
	Leave(why string)
	// Left says how a rank has left: "has closed the context"; "" if it has not.
	Left(rank int) string
}

// NewGroup returns the Group of a communicator, as its given rank. oneProcess says that the ranks are goroutines of one
// process. A rank alone has no channel.
func NewGroup(rank, size int, oneProcess bool, channel Channel) *Group {
	return &Group{rank: rank, size: size, oneProcess: oneProcess, channel: channel}
}

// groups has every Group that a rank of this process has open: what concerns the process is told to all of them.
var groups struct {
	mu   sync.Mutex
	open []*Group
}

// Join has g's ranks told what this process tells all others, until Leave.
func (g *Group) Join() {
	groups.mu.Lock()
	defer groups.mu.Unlock()
	groups.open = append(groups.open, g)
}

// joined returns the groups that have joined.
func joined() []*Group {
	groups.mu.Lock()
	defer groups.mu.Unlock()
	return slices.Clone(groups.open)
}

// Leave tells the other ranks that this one makes no more calls here, and why. They are told nothing more.
func (g *Group) Leave(why string) {
	if g.channel == nil {
		return
	}
	groups.mu.Lock()
	groups.open = slices.DeleteFunc(groups.open, func(o *Group) bool { return o == g })
	groups.mu.Unlock()
	g.channel.Leave(why)
}

// Asked reports whether another rank wants to know where this process is.
func Asked() (asked bool) {
	for _, g := range joined() {
		if !g.oneProcess {
			asked = g.channel.Asked() || asked
		}
	}
	return asked
}

// Asked reports whether another rank of the group wants to know where this one is, which does not wait in a call on it.
func (g *Group) Asked() bool { return g.channel != nil && g.channel.Asked() }

// Answer says so to those that asked.
func (g *Group) Answer(place string) {
	if g.channel != nil {
		g.channel.Answer(place)
	}
}

// Answer tells who asked that this process is in no call, but at a place of the program.
func Answer(place string) {
	for _, g := range joined() {
		if !g.oneProcess {
			g.channel.Answer(place)
		}
	}
}

// Leave tells the other ranks that this process makes no more calls, and why: "has ended".
func Leave(why string) {
	for _, g := range joined() {
		g.channel.Leave(why)
	}
}

// Listen takes notice of what other ranks have said.
func (g *Group) Listen() {
	if g.channel != nil {
		g.channel.Listen()
	}
}

// GiveUp says that this rank has given up a collective call, and why: no further one will do here.
func (g *Group) GiveUp(why string) { g.channel.GiveUp(why) }

// GaveUp returns the rank that gave up first, as far as this one knows, and why; -1 if none did.
func (g *Group) GaveUp() (rank int, why string) { return g.channel.GaveUp() }

// Left says how another rank has left: "has ended its program"; "" if it has not, or that is unknown.
func (g *Group) Left(rank int) string {
	if g.channel == nil || rank == g.rank {
		return ""
	}
	return g.channel.Left(rank)
}

// places says where every rank is: "ranks 0-2 in allreduce(…) at app.py:41; rank 3 at app.py:37". Own is the call of this rank
// where it is one inside the backend, of which no other place knows.
func (g *Group) places(own string) string {
	var texts []string
	if g.channel == nil {
		texts = make([]string, g.size)
		waits.mu.Lock()
		texts[g.rank] = "in " + g.waitingIn()
		waits.mu.Unlock()
	} else {
		texts = g.channel.Places()
	}
	for rank, text := range texts {
		switch {
		case text != "":
		case rank == g.rank && own != "":
			texts[rank] = "in " + own
		default:
			texts[rank] = "does not answer"
		}
	}
	return ByRanks(texts, "")
}
