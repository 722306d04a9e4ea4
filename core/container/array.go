package container

import (
	"sync/atomic"

	"golang.org/x/sys/unix"

	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/partition"
	"dtl/core/runtime"
	"dtl/core/status"
)

// Array is an n-dimensional container that owns its elements, which start at zero.
type Array struct {
	context *runtime.Context
	mu      readersWriterLock
	now     *state // nil once closed

	sequential atomic.Bool
	inner      bool // see Template
}

// Inner reports whether programs know nothing of the array.
func (a *Array) Inner() bool { return a.inner }

// SetSequential says whether the array's algorithms use one thread only.
func (a *Array) SetSequential(is bool) { a.sequential.Store(is) }

var _ Container = (*Array)(nil)

// made counts the arrays that this process made together with others; the count of rank 0 names an array on all ranks.
var made atomic.Int64

// New makes an array over the context's ranks, of zeros unless the specification says otherwise. It touches no page of its memory. Collective.
func New(on *runtime.Context, spec Spec) (*Array, error) {
	c, err := on.Comm()
	if err != nil {
		return nil, status.In(spec.Name(), err)
	}
	spec.Placement = spec.Placement.resolved(on)
	a, mine := Like(on, spec)
	call := comm.Call{Op: spec.Name()}
	if c.Size() > 1 { // one rank compares nothing
		said := spec
		call = said.call()
	}
	all := make([]comm.Shared, c.Size())
	if err := c.AgreeSharing(call, mine, spec.Placement.told(), all); err != nil {
		if a != nil {
			_ = a.Close() // it never fails
		}
		return nil, err
	}
	return named(a, spec, all)
}

// named returns a new array by its number, or closes it where the ranks do not agree.
func named(a *Array, spec Spec, all []comm.Shared) (*Array, error) {
	if err := a.name(all); err != nil {
		_ = a.Close() // it never fails
		return nil, status.In(spec.Name(), err)
	}
	return a, nil
}

// Like is New on this rank alone, where all ranks are known to pass the same.
func Like(on *runtime.Context, spec Spec) (*Array, error) {
	if !spec.Type.Held() {
		return nil, status.New(status.InvalidArgument, "dtype number %d is no element type", spec.Type)
	}
	at, err := spec.Placement.resolved(on).home(on)
	if err != nil {
		return nil, err
	}
	if spec.Kind == partition.KindHash && len(spec.Shape) > 0 {
		if err := fits(at, on.Size(), spec.Shape[0], spec.Type); err != nil {
			return nil, err
		}
	}
	layout, err := spec.layout(spec.Shape, on.Size())
	if err != nil {
		return nil, err
	}
	room := home.zeros
	if spec.Blank {
		room = home.blank
	}
	return newArray(on, at, spec.Type, layout, room)
}

// fits refuses what is too large to be dealt out by hash before each index is hashed: a rank's part is allocated, about
// as large as it will be, and given back.
func fits(at home, ranks int, size int64, t dtype.Type) error {
	bytes, err := bytesOf(max(size, 0)/int64(ranks), t)
	if err != nil {
		return err
	}
	storage, err := at.blank(bytes)
	if err == nil {
		storage.Release()
	}
	return err
}

// Alike makes an array of another element type that is laid out as a container is, and as sequential. It communicates nothing.
func Alike(c Container, t dtype.Type) (*Array, error) {
	return alike(c, t, home.zeros)
}

// Blank is Alike whose elements are anything: for a caller that writes all of them before anyone else sees them.
func Blank(c Container, t dtype.Type) (*Array, error) {
	return alike(c, t, home.blank)
}

// Unallocated is Blank of a container on the host, without memory: for a caller that may never write the elements. Nobody but
// who asks about the layout alone uses the array before Allocate.
func Unallocated(c Container, t dtype.Type) (*Array, error) {
	return alike(c, t, func(home, int) (*memory.Storage, error) { return nil, nil })
}

// Template is Unallocated for good: it keeps a layout, of which Over makes arrays after the container is closed.
func Template(c Container) (*Array, error) {
	p, err := c.Look()
	if err != nil {
		return nil, err
	}
	t := p.typ
	p.Done()
	a, err := Unallocated(c, t)
	if err == nil {
		a.inner = true
	}
	return a, err
}

// Over makes an array that is laid out as a container on the host is, of memory that has elements already, and that the array
// releases. Local.
func Over(c Container, t dtype.Type, storage *memory.Storage) (*Array, error) {
	return alike(c, t, over(storage))
}

// over returns memory that has elements already.
func over(storage *memory.Storage) allocate {
	return func(_ home, size int) (*memory.Storage, error) {
		if storage.Size() < size {
			return nil, status.New(status.Internal, "%d bytes for a part of %d", storage.Size(), size)
		}
		return storage, nil
	}
}

// WholeOver is Over on a context of one rank, of which no container is laid out as this one: it has all elements of a shape.
func WholeOver(on *runtime.Context, spec Spec, storage *memory.Storage) (*Array, error) {
	if on.Size() != 1 {
		return nil, status.New(status.Internal, "the whole of one rank for %d", on.Size())
	}
	layout, err := spec.layout(spec.Shape, 1)
	if err != nil {
		return nil, err
	}
	a, err := newArray(on, home{space: on.Memory()}, spec.Type, layout, func(home, int) (*memory.Storage, error) { return storage, nil })
	if err == nil {
		a.now.id = made.Add(1)
	}
	return a, err
}

// Allocate gives an array of Unallocated its memory, which holds anything. Local.
func (a *Array) Allocate() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.now == nil {
		return closed()
	}
	if a.now.storage != nil {
		return nil
	}
	size, err := bytesOf(product(a.now.shape), a.now.typ)
	if err != nil {
		return err
	}
	now := *a.now
	if now.storage, err = now.home.blank(size); err != nil {
		return err
	}
	now.addr = now.storage.Addr()
	a.now = &now
	return nil
}

// BlankBeside is Blank whose elements are where another container's are, or, where that is nil, on the host. To the ranks it
// passes for the container itself: a call that is made with copies is the call that ranks agree on.
func BlankBeside(c Container, t dtype.Type, other Container) (*Array, error) {
	at := home{space: c.Context().Memory()}
	if other != nil {
		q, err := other.Look()
		if err != nil {
			return nil, err
		}
		at = q.home
		q.Done()
	}
	p, err := c.Look()
	if err != nil {
		return nil, err
	}
	defer p.Done()
	a, err := newArray(c.Context(), at, t, p.layout, home.blank)
	if err == nil {
		a.now.id = p.id
		a.SetSequential(p.sequential)
	}
	return a, err
}

// WholeBeside makes an array of a shape that each rank has all of, where another container's elements are. They are anything. It communicates
// nothing: ranks may make such arrays of several shapes, for themselves alone.
func WholeBeside(c Container, t dtype.Type, shape []int64) (*Array, error) {
	p, err := c.Look()
	if err != nil {
		return nil, err
	}
	defer p.Done()
	layout, err := Division{Kind: partition.KindReplicated}.layout(shape, c.Context().Size())
	if err != nil {
		return nil, err
	}
	return newArray(c.Context(), p.home, t, layout, home.blank)
}

func alike(c Container, t dtype.Type, room allocate) (*Array, error) {
	if !t.Held() {
		return nil, status.New(status.InvalidArgument, "dtype number %d is no element type", t)
	}
	p, err := c.Look()
	if err != nil {
		return nil, err
	}
	defer p.Done()
	a, err := newArray(c.Context(), p.home.forResult(c.Context(), p.layout, t), t, p.layout, room)
	if err == nil {
		a.SetSequential(p.sequential)
	}
	return a, err
}

// allocate is home.zeros or home.blank.
type allocate func(at home, size int) (*memory.Storage, error)

func newArray(on *runtime.Context, at home, t dtype.Type, layout partition.Layout, room allocate) (*Array, error) {
	made := &struct { // of both at once: most arrays never have another state
		array Array
		state state
	}{}
	if err := made.state.allocate(on, at, t, layout, room); err != nil {
		return nil, err
	}
	made.array.context, made.array.now = on, &made.state
	return &made.array, nil
}

// allocate makes this rank's part of a layout.
func (s *state) allocate(on *runtime.Context, at home, t dtype.Type, layout partition.Layout, room allocate) error {
	shape := layout.LocalShape(on.Rank())
	size, err := bytesOf(product(shape), t)
	if err != nil {
		return err
	}
	storage, err := room(at, size)
	if err != nil {
		return err
	}
	s.print, s.typ, s.layout, s.rank, s.home = layout.Fingerprint(), t, layout, on.Rank(), at
	s.storage, s.shape, s.strides = storage, shape, cOrder(shape, t.Size())
	if storage != nil {
		s.addr = storage.Addr()
	}
	return nil
}

// Context returns the ranks.
func (a *Array) Context() *runtime.Context { return a.context }

// Use returns the array's part, which does not change until the caller calls Done.
func (a *Array) Use() (Part, error) { return ofHost(a.Look()) }

// Look returns the array's part wherever it is.
func (a *Array) Look() (Part, error) {
	a.mu.RLock()
	if a.now == nil {
		a.mu.RUnlock()
		return Part{}, closed()
	}
	if a.now.storage != nil {
		if err := a.now.storage.Check(); err != nil {
			a.mu.RUnlock()
			return Part{}, err
		}
	}
	return Part{state: a.now, lock: &a.mu, sequential: a.sequential.Load()}, nil
}

func closed() error { return status.New(status.InvalidHandle, "the container is closed") }

// View returns the part with one more use of its memory.
func (a *Array) View() (comm.Result, error) {
	p, err := a.Look()
	if err != nil {
		return comm.Result{}, err
	}
	defer p.lock.RUnlock()
	return p.viewOfHost()
}

// Views returns how many views of a container's memory are out; of a span's, those of all of it.
func Views(c Container) (int64, error) {
	p, err := c.Look()
	if err != nil {
		return 0, err
	}
	defer p.Done()
	if p.storage == nil {
		return 0, nil
	}
	return p.storage.Users() - 1, nil
}

// FileOf returns a new descriptor of the file of which a container's elements are the beginning; -1: they are of none.
func FileOf(c Container) (int64, error) {
	p, err := c.Look()
	if err != nil {
		return -1, err
	}
	defer p.Done()
	if p.storage == nil || p.addr != p.storage.Addr() {
		return -1, nil
	}
	file := p.storage.File()
	if file < 0 {
		return -1, nil
	}
	own, err := unix.FcntlInt(uintptr(file), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return -1, nil // there is another way
	}
	return int64(own), nil
}

// Close drops the array's own use of its memory; views keep theirs. A second Close does nothing. Local.
func (a *Array) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.now != nil {
		if a.now.storage != nil {
			a.now.storage.Release()
		}
		a.now = nil
	}
	return nil
}
