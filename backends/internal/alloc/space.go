package alloc

import (
	"sync"

	"dtl/core/backend"
)

// Space is what memory spaces have in common: what their memory can do, and the blocks that are out, with their lock. They embed it.
type Space[P any] struct {
	Mu         sync.Mutex
	Blocks     Ledger[P]
	properties backend.Properties
}

// NewSpace returns one of no blocks.
func NewSpace[P any](properties backend.Properties) Space[P] {
	return Space[P]{Blocks: NewLedger[P](), properties: properties}
}

// Properties returns what the memory can do.
func (s *Space[P]) Properties() backend.Properties { return s.properties }

// InUse returns the bytes asked for and not given back, and the most that ever were.
func (s *Space[P]) InUse() (current, peak int64) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.Blocks.InUse()
}
