// Package agreement makes sure that all ranks of a communicator make the same collective call, before anything is
// moved. If ranks call different things, pass different counts, or cannot make their call, all of them get an error.
// None waits forever, or receives what was meant for another.
//
// Before a blocking call, the ranks meet, by a Meeter: each states which call it makes, and goes on when all have. If
// the statements differ, a second meeting exchanges the texts for the error, which is a Verdict.
//
// A collective that does not block cannot wait for the others when it starts. Starts compares what the ranks start,
// while they go on.
//
// Both have two implementations: in memory that the ranks share (core/board), and by messages.
package agreement

import (
	"slices"
	"time"
	"unsafe"

	"dtl/core/comm/wire"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
	"dtl/core/watchdog"
)

// A Meeter has the ranks of a communicator meet. They all come to the same meetings in the same order. Its methods are for
// one goroutine at a time, but for Number.
type Meeter interface {
	// Come comes to the next meeting with a statement, and with at most Room bytes of elements. It reports whether all others
	// are there already; else Wait waits for them.
	Come(s wire.Statement, brought Elements) (all bool, err error)
	// Explain is Come to the meeting in which ranks that do not agree tell each other what they called, or why they cannot,
	// which code says.
	Explain(text string, code status.Code) (all bool, err error)
	// Wait waits for the ranks that are missing for about so long, and reports whether all are there.
	Wait(d time.Duration) (all bool, err error)
	// InVain returns an error, which the watchdog's InVain has marked, if a rank that is missing will not come to this
	// meeting, which call names.
	InVain(call string) error
	// Leave ends a meeting to which not all come. There is none after it.
	Leave()

	// The rest is of the meeting in which all are, until this rank comes to the next.

	// Agreed reports whether all ranks make the same call, and none has failed.
	Agreed() bool
	// Payload returns what a rank brought along: root, where the elements are FromRoot or Scattered, or any, where they are ToAll.
	Payload(rank int) (unsafe.Pointer, int)
	// Combination returns the address of the elements that are Combined; nil where Payload has those of every rank.
	Combination() unsafe.Pointer
	// Deadlock reports whether a rank came because it waits for a collective that does not block, which another has not
	// started, and returns the number of the first start that not all ranks have made.
	Deadlock() (yes bool, first uint64)
	// Explained returns what each rank said in Explain.
	Explained() ([]status.Code, []string)

	// BlockedWithout reports whether a rank is in the next meeting already that has not made start number seq, or that came
	// because it waits for one. No meeting is under way.
	BlockedWithout(seq uint64) bool
	// Number returns the number of the last meeting that this rank came to. It may be called from any goroutine where the
	// ranks meet by messages.
	Number() uint64
	// Room returns how many bytes a rank may bring along.
	Room(w Way) int
	// Close gives memory back. Nobody comes to a meeting any more.
	Close()
}

// Elements are what a rank brings to a meeting. All ranks of one call have them go one way.
type Elements struct {
	memory.Span
	Way  Way
	Op   kernel.Op // where they are Combined
	Root int       // where they are FromRoot or Scattered
	Head int       // likewise, how many bytes in front of root's describe them

	// InExtension says that they may be more than Room, where a board has an extension: no rank does more with all elements of every
	// rank than copy them once.
	InExtension bool
}

// Way is what becomes of elements in a meeting.
type Way int

// The ways.
const (
	ToAll     Way = iota // every rank gets every rank's, of equally many bytes
	Combined             // every rank gets them combined by an operator
	FromRoot             // every rank gets root's
	Scattered            // every rank gets its part of root's; or all of them, where that is as good
)

// fromRoot reports whether root alone brings elements.
func (w Way) fromRoot() bool { return w == FromRoot || w == Scattered }

// DeadlockHash is the hash of the elements of a rank that comes to the meeting of a call that it does not make, because it waits for a
// collective that does not block and that a rank in that meeting has not started.
var DeadlockHash = wire.Hash("deadlock") | 1

// explaining is the fingerprint of the meeting that Explain comes to.
const explaining = 1

// doesNotCome is the error of a wait for a rank that has left.
func doesNotCome(rank int, why, call string) error {
	return watchdog.InVain(status.New(status.Communication, "rank %d %s, and does not come to %s", rank, why, call))
}

// Verdict returns the error of a rank that has not failed itself, from what each rank said: the first failure of another,
// or that they called different things. That is one text on all ranks, but for when: Gone, on those that had gone on.
func Verdict(codes []status.Code, texts []string, when string) error {
	if failed := slices.IndexFunc(codes, func(code status.Code) bool { return code != status.OK }); failed >= 0 {
		return status.New(codes[failed], "rank %d%s: %s", failed, when, texts[failed])
	}
	return disagree(when, watchdog.ByRanks(texts, "called "))
}

// whenGone says that this rank had gone on from the call in which it disagrees with others, and where that was in the program: a
// call of a number, where the ranks meet that a Place names.
func whenGone(place, number uint64) string {
	return " in an earlier call, from which this rank had gone on" + watchdog.PlaceOf(place, number)
}

// disagree is the error of ranks that make different calls.
func disagree(when, calls string) *status.Error {
	err := status.New(status.Mismatch, "ranks disagree%s: %s", when, calls)
	err.Op = "collective call"
	return err
}

// bytesAt is a span of n bytes at an address.
func bytesAt(addr unsafe.Pointer, n int) []byte { return unsafe.Slice((*byte)(addr), n) }
