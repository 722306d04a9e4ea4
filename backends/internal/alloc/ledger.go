// Package alloc divides memory into blocks, for the memory spaces of backends: Free knows which memory is free, and
// Ledger which blocks are in use. The caller holds a lock.
package alloc

import "unsafe"

// Ledger says where each block lies that is out, and counts the bytes that were asked for.
type Ledger[P any] struct {
	blocks        map[unsafe.Pointer]entry[P]
	current, peak int64
}

type entry[P any] struct {
	place P
	asked int
}

// NewLedger returns one of no blocks.
func NewLedger[P any]() Ledger[P] { return Ledger[P]{blocks: map[unsafe.Pointer]entry[P]{}} }

// Enter notes that a block is out, of which so many bytes were asked for.
func (l *Ledger[P]) Enter(block unsafe.Pointer, asked int, place P) {
	l.blocks[block] = entry[P]{place, asked}
	l.current += int64(asked)
	l.peak = max(l.peak, l.current)
}

// Leave notes that a block is given back, and returns where it lies, and whether it was out.
func (l *Ledger[P]) Leave(block unsafe.Pointer) (place P, out bool) {
	e, out := l.blocks[block]
	if out {
		delete(l.blocks, block)
		l.current -= int64(e.asked)
	}
	return e.place, out
}

// Find returns where a block lies that is out, and whether it is.
func (l *Ledger[P]) Find(block unsafe.Pointer) (place P, out bool) {
	e, out := l.blocks[block]
	return e.place, out
}

// Has reports whether a block starts at an address.
func (l *Ledger[P]) Has(block unsafe.Pointer) bool {
	_, out := l.blocks[block]
	return out
}

// InUse returns the bytes that are out, and the most that ever were.
func (l *Ledger[P]) InUse() (current, peak int64) { return l.current, l.peak }
