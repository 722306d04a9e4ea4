// Package handle gives native objects names that can be passed through another language: integers that do no harm if
// they are stale, of another kind, or invented.
package handle

import (
	"strings"

	"dtl/core/status"
)

// Handle names an object in a Table: kind, generation and slot in one positive integer. Zero names nothing.
// A handle means something only in the process that made it.
type Handle int64

// Kind says what a handle names, so that one of another table is refused.
type Kind uint8

// The kinds that exist. Zero is none of them.
const (
	Environment Kind = iota + 1
	Context
	Container
	Plan
	Halo
	Map
	Request
	Window
)

var kinds = [...]string{
	Environment: "an environment",
	Context:     "a context",
	Container:   "a container",
	Plan:        "a plan",
	Halo:        "a halo",
	Map:         "a map",
	Request:     "a request",
	Window:      "a window",
}

// String returns the kind as a noun, and "unknown" for a number that is no kind.
func (k Kind) String() string {
	_, noun, _ := strings.Cut(k.noun(), " ")
	return noun
}

// noun returns the kind with its article.
func (k Kind) noun() string {
	if !k.valid() {
		return "an unknown"
	}
	return kinds[k]
}

func (k Kind) valid() bool { return k > 0 && int(k) < len(kinds) }

// The sign bit stays clear; the generation counts how often a slot was given out, from 1.
const (
	slotBits       = 32
	generationBits = 24

	lastSlot       = 1<<slotBits - 1
	lastGeneration = 1<<generationBits - 1
)

func pack(k Kind, generation, slot uint64) Handle {
	return Handle(uint64(k)<<(generationBits+slotBits) | generation<<slotBits | slot)
}

// kind returns one that is not valid for zero and for negative handles: the sign is its highest bit.
func (h Handle) kind() Kind { return Kind(uint64(h) >> (generationBits + slotBits)) }

func (h Handle) generation() uint64 { return uint64(h) >> slotBits & lastGeneration }

func (h Handle) slot() uint64 { return uint64(h) & lastSlot }

// The ways in which a handle can be invalid.

func wrongKind(h Handle, want Kind) error {
	return status.New(status.InvalidHandle, "%s handle where %s is wanted", h.kind().noun(), want.noun())
}

func neverGivenOut(h Handle, want Kind) error {
	return status.New(status.InvalidHandle, "%d is no %s handle that was ever given out", int64(h), want)
}

// nothing is the error of zero, which owners keep in place of a handle that they closed.
func nothing(want Kind) error {
	return status.New(status.InvalidHandle, "the %s is closed", want)
}

func isClosed(h Handle, want Kind) error {
	return status.New(status.InvalidHandle, "%s handle %d is closed", want, int64(h))
}
