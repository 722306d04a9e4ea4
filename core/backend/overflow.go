package backend

import (
	"errors"
	"sync"

	"dtl/core/memory"
	"dtl/core/status"
)

// Overflow returns a memory space that takes from first what it has room for, and the rest from second.
func Overflow(first, second MemorySpace) MemorySpace { return &overflow{first: first, second: second} }

// overflow knows which blocks are second's.
type overflow struct {
	first, second MemorySpace
	seconds       sync.Map // address → true
}

var _ MeteredSpace = (*overflow)(nil)

// Name returns first's name.
func (o *overflow) Name() string { return o.first.Name() }

// Properties returns what both spaces promise.
func (o *overflow) Properties() Properties {
	a, b := o.first.Properties(), o.second.Properties()
	return Properties{
		HostAccessible: a.HostAccessible && b.HostAccessible, DeviceAccessible: a.DeviceAccessible && b.DeviceAccessible,
		Unified: a.Unified && b.Unified, SupportsAtomics: a.SupportsAtomics && b.SupportsAtomics,
		Pageable: a.Pageable || b.Pageable, Alignment: min(a.Alignment, b.Alignment),
	}
}

// Allocate takes a block from second only where first has no room.
func (o *overflow) Allocate(size, alignment int) (memory.Block, error) {
	block, err := o.first.Allocate(size, alignment)
	if !errors.Is(err, status.OutOfMemory) {
		return block, err
	}
	block, err = o.second.Allocate(size, alignment)
	if err == nil {
		o.seconds.Store(block.Addr, true)
	}
	return block, err
}

// Deallocate returns a block to the space that it is from.
func (o *overflow) Deallocate(b memory.Block) {
	if _, ok := o.seconds.LoadAndDelete(b.Addr); ok {
		o.second.Deallocate(b)
		return
	}
	o.first.Deallocate(b)
}

// InUse returns the sums of both spaces, all of whose blocks these are.
func (o *overflow) InUse() (current, peak int64) {
	a, most := o.first.InUse()
	b, more := o.second.InUse()
	return a + b, most + more
}

// AvailableMemory returns what both spaces have left, of those that say.
func (o *overflow) AvailableMemory() (n int64) {
	for _, space := range []MemorySpace{o.first, o.second} {
		if m, ok := space.(memory.Meter); ok {
			n += m.AvailableMemory()
		}
	}
	return n
}
