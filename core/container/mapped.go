package container

import (
	"dtl/core/backend"
	"dtl/core/comm"
	"dtl/core/memory"
	"dtl/core/runtime"
	"dtl/core/status"
)

// NewMapped is New of elements that an open file has, in C order from an offset on, of which each rank maps its own. What is written to them
// stays in memory. The caller has checked that the offset is a multiple of the type's alignment. Collective.
func NewMapped(on *runtime.Context, spec Spec, descriptor int, offset int64) (*Array, error) {
	c, err := on.Comm()
	if err != nil {
		return nil, status.In(spec.Name(), err)
	}
	spec.Placement = OnDisk
	a, mine := mapped(on, spec, descriptor, offset)
	call := spec.call()
	call.Same = append(call.Same, offset)
	all := make([]comm.Shared, c.Size())
	if err := c.AgreeSharing(call, mine, spec.Placement.told(), all); err != nil {
		if a != nil {
			_ = a.Close() // it never fails
		}
		return nil, status.In(spec.Name(), err)
	}
	return named(a, spec, all)
}

// mapped makes this rank's part.
func mapped(on *runtime.Context, spec Spec, descriptor int, offset int64) (*Array, error) {
	files, err := on.Files()
	if err != nil {
		return nil, err
	}
	p, err := backend.As[backend.FileProvider](backend.Local)
	if err != nil {
		return nil, err
	}
	layout, err := spec.layout(spec.Shape, on.Size())
	if err != nil {
		return nil, err
	}
	none := func(home, int) (*memory.Storage, error) { return nil, nil }
	a, err := newArray(on, home{space: files, large: files, files: true}, spec.Type, layout, none)
	if err != nil {
		return nil, err
	}
	first, together := a.now.First()
	if !together {
		return nil, status.New(status.InvalidArgument, "%s: elements that are mapped follow each other in the file on each rank", spec.Division)
	}
	size, err := bytesOf(product(a.now.shape), spec.Type)
	if err != nil {
		return nil, err
	}
	from := offset + first*int64(spec.Type.Size())
	block, owner, err := p.MapRange(descriptor, from, size)
	if err != nil {
		return nil, err
	}
	a.now.storage = memory.Adopt(owner, block)
	a.now.addr = block.Addr
	return a, nil
}
