// Package container has the distributed containers: a layout says which rank holds which element, and each rank stores
// its own elements.
//
// An Array owns its elements; Python's vectors, arrays and tensors are Arrays. A Span refers to some elements of
// another container. Operations accept either.
package container

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unsafe"

	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/handle"
	"dtl/core/memory"
	"dtl/core/partition"
	"dtl/core/runtime"
	"dtl/core/status"
	"dtl/core/transfer"
)

// Containers are the open containers.
var Containers = handle.NewTable[Container](handle.Container)

// Container is what operations work on.
type Container interface {
	io.Closer
	// Context returns the ranks.
	Context() *runtime.Context
	// Use returns the container's part on this rank, which does not change until the caller calls Done. It refuses a part
	// that the host does not reach: who asks about the layout alone, or works on the part's device, calls Look.
	Use() (Part, error)
	// Look is Use of a part wherever it is. What it returns goes by no pointer that the host follows.
	Look() (Part, error)
	// View returns the part with one more use of its memory, which the caller releases. So the part stays valid when
	// the container has gone.
	View() (comm.Result, error)
}

// Part is one rank's part of a container as it is now.
type Part struct {
	*state
	lock       *readersWriterLock
	sequential bool
	copied     *memory.Storage // of a copy that stands for the part; nil where it is the part itself
}

// lookBoth is Look of two containers. The caller calls Done on both parts, unless there is an error.
func lookBoth(to, from Container) (p, q Part, err error) {
	if p, err = to.Look(); err != nil {
		return p, q, err
	}
	if q, err = from.Look(); err != nil {
		p.Done()
	}
	return p, q, err
}

// Parallel reports whether what is computed of the part may use several threads, as it may unless somebody says otherwise.
func (p Part) Parallel() bool { return !p.sequential }

// Done lets the container change again. What is queued on elements that other ranks reach by themselves is done then: they cannot wait
// for this rank's device. If it fails, the device says so to whoever uses it next.
func (p Part) Done() {
	if p.copied != nil {
		p.copied.Release()
	}
	if p.home.queue != nil && p.storage.Exposed() {
		_ = p.home.queue.Synchronize()
	}
	p.lock.RUnlock()
}

// state is what a container looks like until its structure changes.
type state struct {
	id      int64 // the same on every rank; 0 of what was made on each rank by itself
	print   int64 // the layout's fingerprint
	typ     dtype.Type
	layout  partition.Layout
	rank    int
	home    home
	storage *memory.Storage
	addr    unsafe.Pointer // of the first element
	shape   []int64
	strides []int64  // in bytes
	changes int      // of structure, before this state
	padding *padding // for ghosts
}

// Type returns the element type.
func (s *state) Type() dtype.Type { return s.typ }

// Layout says which rank holds which element.
func (s *state) Layout() partition.Layout { return s.layout }

// Shape returns the local extents.
func (s *state) Shape() []int64 { return s.shape }

// Offset returns the index of this rank's first element along a dimension, or, where it has none, of the first after it.
func (s *state) Offset(d int) int64 {
	p, at := s.layout.Dim(d), s.layout.Coordinate(s.rank, d)
	if p.LocalSize(at) > 0 {
		return p.Global(at, 0)
	}
	if p.Kind() == partition.KindBlock || p.Kind() == partition.KindExplicit {
		n := int64(0)
		for rank := range at {
			n += p.LocalSize(rank)
		}
		return n
	}
	return p.GlobalSize()
}

// span returns the part's elements where they lie side by side.
func (s *state) span() memory.Span {
	return memory.Span{Addr: s.addr, Count: int(product(s.shape)), Type: s.typ, Place: s.storage.Place()}
}

// memory returns the part as an end of a transfer.
func (s *state) memory() transfer.Memory { return s.memoryOf(s.strides) }

func (s *state) memoryOf(strides []int64) transfer.Memory {
	m := transfer.Memory{Addr: s.addr, Strides: strides}
	if s.storage != nil { // see Unallocated
		m.Place = s.storage.Place()
	}
	if s.Placement() == OnDevice {
		m.Queue = s.home.queue
	}
	return m
}

// Runs calls f with the elements in C order, in as few runs as lie side by side, until it returns false. Those of files are shorter.
func (s *state) Runs(f func(run memory.Span) bool) {
	d, length := len(s.shape)-1, s.shape[len(s.shape)-1]
	for ; d > 0 && s.strides[d-1] == s.shape[d]*s.strides[d]; d-- {
		length *= s.shape[d-1]
	}
	var pace memory.Pace
	each(s.addr, s.shape[:d], s.strides[:d], func(at unsafe.Pointer) bool {
		run := memory.Span{Addr: at, Count: int(length), Type: s.typ}
		if s.home.files {
			return inBlocks(run, &pace, f)
		}
		return length == 0 || f(run)
	})
}

// inBlocks calls f with the elements of files in blocks, until it returns false.
func inBlocks(run memory.Span, pace *memory.Pace, f func(run memory.Span) bool) bool {
	for block := memory.Piece / run.Type.Size(); run.Count > 0; {
		n := min(run.Count, block)
		if !f(run.Slice(0, n)) {
			return false
		}
		run = run.Slice(n, run.Count)
		pace.Passed(n * run.Type.Size())
	}
	return true
}

// each calls f with the address of each element of some dimensions, in C order, until it returns false.
func each(at unsafe.Pointer, shape, strides []int64, f func(unsafe.Pointer) bool) bool {
	if len(shape) == 0 {
		return f(at)
	}
	for i := range shape[0] {
		if !each(unsafe.Add(at, i*strides[0]), shape[1:], strides[1:], f) {
			return false
		}
	}
	return true
}

// Index returns the index in C order of the whole of the n-th local element in C order.
func (s *state) Index(n int64) int64 {
	global, extent := int64(0), int64(1)
	for d := len(s.shape) - 1; d >= 0; d-- {
		p := s.layout.Dim(d)
		global += p.Global(s.layout.Coordinate(s.rank, d), n%s.shape[d]) * extent
		extent *= p.GlobalSize()
		n /= s.shape[d]
	}
	return global
}

// First returns the index in C order of the whole of the first local element, and whether the others follow it there, as they do where
// at most the first dimension is divided, into ranges, or each rank has everything.
func (s *state) First() (int64, bool) {
	rows := int64(1)
	for d := 1; d < s.layout.Dims(); d++ {
		if s.layout.Dim(d).Ranks() > 1 {
			return 0, false
		}
		rows *= s.shape[d]
	}
	switch p := s.layout.Dim(0); {
	case p.Ranks() == 1 || p.Kind() == partition.KindReplicated:
		return 0, true
	case p.Kind() == partition.KindBlock || p.Kind() == partition.KindExplicit:
		return s.Offset(0) * rows, true
	}
	return 0, false
}

// same returns the numbers of a container that must be the same on all ranks.
func (s *state) same() [3]int64 { return [...]int64{s.id, s.print, int64(s.typ)} }

// Named adds the container to a call that all ranks make on it.
func (s *state) Named(call comm.Call) comm.Call {
	call.Of, call.On = s.same(), s
	return call
}

// Beside adds a container to what all ranks pass alike in a call on another one. Local.
func Beside(call comm.Call, c Container) (comm.Call, error) {
	p, err := c.Look()
	if err != nil {
		return call, err
	}
	defer p.Done()
	same, said := p.same(), call.Text
	call.Same = append(slices.Clip(call.Same), same[:]...)
	call.Text = func() string {
		before := "" // asked once, as it may stand for many containers
		if said != nil {
			before = said()
		}
		if before == "" {
			return p.String()
		}
		return before + ", " + p.String()
	}
	return call, nil
}

// String describes the container for the error of ranks that do not pass the same.
func (s *state) String() string {
	name := "a result"
	if s.id != 0 {
		name = fmt.Sprint("container ", s.id)
	}
	dims := make([]string, s.layout.Dims())
	for d := range dims {
		dims[d] = kindNames[s.layout.Dim(d).Kind()]
	}
	return fmt.Sprintf("%s of shape %s, %s, %s over %s", name, tuple(s.layout.Shape()), s.typ,
		strings.Join(dims, " x "), tuple(s.layout.Grid()))
}

// viewOfHost returns the part with one more use of its memory, if the host reaches it.
func (s *state) viewOfHost() (comm.Result, error) {
	if s.home.queue != nil {
		if err := s.reach(); err != nil {
			return comm.Result{}, err
		}
	}
	if s.storage == nil {
		return comm.Result{}, status.New(status.InvalidHandle, "the container has no memory yet")
	}
	if err := s.storage.Retain(); err != nil {
		return comm.Result{}, err
	}
	return comm.Result{Array: comm.Array{Span: s.span(), Shape: s.shape}, Strides: s.strides, Storage: s.storage}, nil
}

func product(extents []int64) int64 {
	n := int64(1)
	for _, e := range extents {
		n *= e
	}
	return n
}

// cOrder returns the strides of elements side by side in C order.
func cOrder(shape []int64, itemSize int) []int64 {
	strides, stride := make([]int64, len(shape)), int64(itemSize)
	for d := len(shape) - 1; d >= 0; d-- {
		strides[d] = stride
		stride *= max(shape[d], 1)
	}
	return strides
}

// checkDimension refuses a dimension that the container does not have.
func (s *state) checkDimension(d int64) error {
	if d < 0 || d >= int64(s.layout.Dims()) {
		return status.New(status.OutOfBounds, "dimension %d outside [0, %d)", d, s.layout.Dims())
	}
	return nil
}

// Index returns the index in C order of the whole of the n-th local element in C order. Local.
func Index(c Container, n int64) (int64, error) {
	p, err := c.Look()
	if err != nil {
		return 0, err
	}
	defer p.Done()
	if size := product(p.shape); n < 0 || n >= size {
		return 0, status.New(status.OutOfBounds, "local index %d outside [0, %d)", n, size)
	}
	return p.Index(n), nil
}

// Extents are what can be asked about each dimension.
type Extents struct {
	Global, Local, Offset, Grid int64
	Kind                        partition.Kind
}

// Along returns what there is along one dimension.
func Along(c Container, d int64) (Extents, error) {
	p, err := c.Look()
	if err != nil {
		return Extents{}, err
	}
	defer p.Done()
	if err := p.checkDimension(d); err != nil {
		return Extents{}, err
	}
	dim := p.layout.Dim(int(d))
	return Extents{dim.GlobalSize(), p.shape[d], p.Offset(int(d)), int64(dim.Ranks()), dim.Kind()}, nil
}
