package container

import (
	"fmt"

	"dtl/core/backend"
	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/partition"
	"dtl/core/runtime"
	"dtl/core/status"
)

// Placement is where a container's elements are to be, as its maker says it. All ranks say the same; which device it is, each
// rank's context says.
type Placement int64

// The placements, in Python's order.
const (
	OnHost          Placement = iota
	OnDevice                  // a device's own memory
	Unified                   // memory that host and device both reach
	DevicePreferred           // OnDevice where the context has a device, else OnHost
	OnDisk                    // files that are mapped into the host's memory
	NearDisk                  // OnHost, for few elements that are computed of some OnDisk: of many that are computed of these, the place is OnDisk
)

var placementNames = [...]string{"HOST", "DEVICE", "UNIFIED", "DEVICE_PREFERRED", "DISK", "NEAR_DISK"}

// Placements returns all placements, in the order of their numbers.
func Placements() (all []Placement) {
	for p := range placementNames {
		all = append(all, Placement(p))
	}
	return all
}

// String returns its name for users.
func (p Placement) String() string {
	if p < 0 || int(p) >= len(placementNames) {
		return fmt.Sprintf("number %d", int64(p))
	}
	return placementNames[p]
}

// resolved returns the placement that one stands for on a context.
func (p Placement) resolved(on *runtime.Context) Placement {
	switch {
	case p != DevicePreferred:
		return p
	case on.Device() == runtime.NoDevice:
		return OnHost
	}
	return OnDevice
}

// ofHost reports whether the host reaches the elements as it reaches all memory.
func (p Placement) ofHost(on *runtime.Context) bool {
	p = p.resolved(on)
	return p == OnHost || p == OnDisk || p == NearDisk
}

// linking returns what exchanges elements of the ranks' devices, if parts of a context's containers are on them; nil where nothing does. It
// is alike on all ranks.
func linking(on *runtime.Context, parts ...*state) comm.Exchanger {
	for _, s := range parts {
		if s.Placement() != OnDevice {
			return nil
		}
	}
	return on.Exchanger()
}

// Linking returns what connects the ranks' devices, if a container's parts are on them.
func Linking(c Container, p Part) *comm.Devices {
	if p.Placement() != OnDevice {
		return nil
	}
	return c.Context().Linked()
}

// Stream is the driver's number of the queue of what is done with the elements on their device.
func (p Part) Stream() uintptr { return p.home.queue.Stream() }

// home is where a container's elements are.
type home struct {
	space memory.Allocator
	large memory.Allocator // the files for large results; nil: all results are where the elements are
	queue backend.Queue    // of what is done with them on their device; nil on the host
	files bool             // the space is of files
	limit int64            // the limit of memory on which the ranks agreed when a container was made here; 0: none
}

// home returns where elements of a placement are on a context.
func (p Placement) home(on *runtime.Context) (home, error) {
	switch p {
	case OnHost:
		return home{space: on.Memory()}, nil
	case OnDisk:
		files, err := on.Files()
		return home{space: files, large: files, files: true}, err
	case NearDisk:
		files, err := on.Files()
		return home{space: on.Memory(), large: files}, err
	}
	if p < 0 || int(p) >= len(placementNames) {
		return home{}, status.New(status.InvalidArgument, "placement %s does not exist", p)
	}
	q, err := on.Queue()
	if err != nil {
		return home{}, status.New(status.BackendUnavailable, "placement %s needs a GPU. %w", p, err)
	}
	if p == Unified {
		space, err := q.Device().Managed()
		return home{space: space, queue: q}, err
	}
	return home{space: q.Memory(), queue: q}, nil
}

// forResult returns where a container is that is laid out as one that is here, and computed of it: of few elements, there are no files.
func (h home) forResult(on *runtime.Context, layout partition.Layout, t dtype.Type) home {
	if h.files && !memory.WorthAFile(partOf(layout, t), h.limit) {
		return home{space: on.Memory(), large: h.large, limit: h.limit}
	}
	return h
}

// ResultPlacement returns where a result of so many bytes a rank is.
func (p Part) ResultPlacement(bytes int64) Placement {
	switch {
	case p.home.large == nil:
		return p.Placement()
	case memory.WorthAFile(bytes, p.home.limit):
		return OnDisk
	}
	return NearDisk
}

// told is what ranks tell each other as they make a container: its number, and their limits of memory, where it is or results may be on disk.
func (p Placement) told() comm.Shared {
	mine := comm.Shared{made.Add(1)}
	if p == OnDisk || p == NearDisk {
		limits := memory.Mine()
		mine[1], mine[2] = limits[0], limits[1]
	}
	return mine
}

// name gives an array the number and the limit on which the ranks agreed.
func (a *Array) name(all []comm.Shared) error {
	a.now.id = all[0][0]
	if a.now.home.large == nil {
		return nil
	}
	limits := make([]memory.Limits, len(all))
	for rank, told := range all {
		limits[rank] = memory.Limits{told[1], told[2]}
	}
	var err error
	a.now.home.limit, err = memory.Agreed(limits)
	return err
}

// limitAs gives an array whose results may be in files the limit on which the ranks agreed for parts whose elements it gets.
func (a *Array) limitAs(parts ...Part) {
	for _, p := range parts {
		if a.now.home.large != nil {
			a.now.home.limit = max(a.now.home.limit, p.home.limit)
		}
	}
}

// partOf returns about how many bytes a rank has of a container: the same number on every rank.
func partOf(layout partition.Layout, t dtype.Type) int64 {
	parts := int64(1)
	for _, n := range layout.Grid() {
		parts *= n
	}
	return product(layout.Shape()) / max(parts, 1) * int64(t.Size())
}

// Scratch returns the memory for copies of a part, which are where its elements are, if the host reaches these.
func (p Part) Scratch(on *runtime.Context) memory.Allocator {
	if p.home.files {
		return p.home.space
	}
	return on.Memory()
}

// Memory returns which placement one is on a context, where its elements are there, and the queue of what is done with them on their
// device; nil on the host.
func (p Placement) Memory(on *runtime.Context) (Placement, memory.Allocator, backend.Queue, error) {
	p = p.resolved(on)
	at, err := p.home(on)
	return p, at.space, at.queue, err
}

// zeros returns memory whose elements are zero, and blank such that holds anything.
func (h home) zeros(size int) (*memory.Storage, error) {
	if h.queue == nil {
		return memory.NewStorage(h.space, size, memory.Alignment)
	}
	storage, err := h.blank(size)
	if err != nil {
		return nil, err
	}
	if err = h.queue.Fill(storage.Bytes(), []byte{0}); err != nil {
		storage.Release()
		return nil, err
	}
	return storage, nil
}

func (h home) blank(size int) (*memory.Storage, error) {
	return memory.NewScratch(h.space, size, memory.Alignment)
}

// Placement returns where the elements are.
func (s *state) Placement() Placement {
	if s.home.files {
		return OnDisk
	}
	if s.storage == nil { // see Unallocated
		return OnHost
	}
	switch place := s.storage.Place(); {
	case place > memory.Host:
		return OnDevice
	case place < memory.Host:
		return Unified
	}
	return OnHost
}

// ofHost returns a part for work of the host on its elements: where the host does not reach them it is refused, and where a
// device may still work on them, that is waited for.
func ofHost(p Part, err error) (Part, error) {
	if err != nil || p.home.queue == nil {
		return p, err
	}
	if err = p.reach(); err != nil {
		p.Done()
		return Part{}, err
	}
	return p, nil
}

func (s *state) reach() error {
	switch place := s.storage.Place(); {
	case place > memory.Host:
		return status.New(status.Unsupported, "the elements are %s, where this call does not work yet; copy them to a container "+
			"on the host with dtl.copy, or take this rank's with to_numpy()", place)
	case place < memory.Host:
		return s.home.queue.Device().Settle()
	}
	return nil
}

// settle waits until the host may touch the elements, where it reaches them.
func (s *state) settle() error {
	if s.Placement() == OnDevice {
		return nil
	}
	return s.reach()
}

// onHost returns the part for work of the host on its elements: itself where the host reaches them, else a copy in other memory,
// which the caller releases.
func (s *state) onHost(from memory.Allocator) (*state, error) {
	if s.Placement() != OnDevice {
		return s, s.reach()
	}
	storage, err := memory.NewScratch(from, s.span().Bytes(), memory.Alignment)
	if err != nil {
		return nil, err
	}
	copied := *s
	copied.home, copied.storage, copied.addr = home{space: from}, storage, storage.Addr()
	copied.strides, copied.padding = cOrder(s.shape, s.typ.Size()), nil
	if err = copyParts(s.home.queue, &copied, s); err != nil {
		storage.Release()
		return nil, err
	}
	return &copied, nil
}

// Anywhere returns a container whose parts may be used wherever they are, by calls that leave the elements to a device's queue.
func Anywhere(c Container) Container { return anywhere{c} }

type anywhere struct{ Container }

// Use returns the part wherever it is.
func (a anywhere) Use() (Part, error) { return a.Look() }

// OnItsDevice returns a container of which a part that a device alone reaches is used there, by calls that have the device compute.
func OnItsDevice(c Container) Container { return onItsDevice{c} }

type onItsDevice struct{ Container }

// Use returns the part: for work of the host where that reaches it. Where a halo is between the elements, it is a copy, for reading.
func (o onItsDevice) Use() (Part, error) {
	p, err := o.Look()
	if err != nil || p.Placement() != OnDevice {
		return ofHost(p, err)
	}
	if !p.sideBySide() {
		twin, err := p.duplicateThere()
		if err != nil {
			p.Done()
			return Part{}, err
		}
		p.state, p.copied = twin, twin.storage
	}
	return p, nil
}

// ByHost calls f with a copy of the part in memory of the host, for reading.
func (p Part) ByHost(from memory.Allocator, f func(Part) error) error {
	copied, err := p.onHost(from)
	if err != nil {
		return err
	}
	defer copied.storage.Release()
	p.state = copied
	return f(p)
}

// ThroughHost is ByHost whose copy is written back, unless there is an error.
func (p Part) ThroughHost(from memory.Allocator, f func(Part) error) error {
	return p.ByHost(from, func(copied Part) error {
		if err := f(copied); err != nil || p.Placement() != OnDevice {
			return err
		}
		return copyParts(p.home.queue, p.state, copied.state)
	})
}

// DeviceView returns the part for work on its device, with one more use of its memory.
func DeviceView(c Container) (comm.Result, error) {
	p, err := c.Look()
	if err != nil {
		return comm.Result{}, err
	}
	defer p.Done()
	if p.home.queue == nil {
		return comm.Result{}, status.New(status.Unsupported, "the elements are on the host; containers of placement DEVICE and "+
			"UNIFIED have a view for devices")
	}
	if err := p.storage.Retain(); err != nil {
		return comm.Result{}, err
	}
	span := comm.Array{Span: p.span(), Shape: p.shape}
	return comm.Result{Array: span, Strides: p.strides, Storage: p.storage, Queue: p.home.queue}, nil
}

// FillPart gives every element of this rank's part a value, of the element type. Local.
func FillPart(c Container, value comm.Array) error {
	p, err := c.Look()
	if err != nil {
		return err
	}
	defer p.Done()
	if err := checkValues(value, p.typ, 1); err != nil {
		return err
	}
	if p.home.queue == nil {
		return status.New(status.Unsupported, "the elements are on the host, which fills them by itself")
	}
	if p.sideBySide() {
		return p.home.queue.Fill(p.span(), memory.As[uint8](value.Raw()))
	}
	all := backend.BoxRuns(p.shape, p.strides, make([]int64, len(p.shape)), p.typ.Size())
	return p.home.queue.Runs(p.span().Raw(), value.Raw(), all)
}

// SetPart writes this rank's part, of which the elements are given in C order. Local.
func SetPart(c Container, values comm.Array) error {
	p, err := c.Look()
	if err != nil {
		return err
	}
	defer p.Done()
	if n := int(product(p.shape)); values.Type != p.typ || values.Count != n {
		return status.New(status.InvalidArgument, "%d elements of %s for a part of %d of %s", values.Count, values.Type, n, p.typ)
	}
	if p.home.queue == nil {
		return status.New(status.Unsupported, "the elements are on the host, which writes them by itself")
	}
	if p.sideBySide() {
		return p.home.queue.Copy(p.span(), values.Span)
	}
	return p.home.queue.Runs(p.span().Raw(), values.Raw(), backend.BoxRuns(p.shape, p.strides, cOrder(p.shape, p.typ.Size()), p.typ.Size()))
}

// CopyPart writes the elements of this rank's part of a container to that of another, which is laid out alike. Of the host, the
// elements lie side by side. Local.
func CopyPart(to, from Container) error {
	p, q, err := lookBoth(to, from)
	if err != nil {
		return err
	}
	defer p.Done()
	defer q.Done()
	if p.typ != q.typ || product(p.shape) != product(q.shape) {
		return status.New(status.InvalidArgument, "a part of %d elements of %s for one of %d of %s", product(q.shape), q.typ,
			product(p.shape), p.typ)
	}
	return copyOnDevice(p.state, q.state)
}

// CopyField writes some bytes of each element of a container's part to each of another part on the same device, which has as many: width
// bytes from an offset on to another offset. Local.
func CopyField(to, from Container, toOffset, fromOffset, width int64) error {
	p, q, err := lookBoth(to, from)
	if err != nil {
		return err
	}
	defer p.Done()
	defer q.Done()
	if err := p.sameDevice(q.state); err != nil {
		return err
	}
	n, size, step := product(p.shape), int64(p.typ.Size()), int64(q.typ.Size())
	if n != product(q.shape) || min(toOffset, fromOffset, width) < 0 || toOffset+width > size || fromOffset+width > step {
		return status.New(status.InvalidArgument, "%d bytes from %d on of %d elements of %s for %d of %s from %d on", width, fromOffset,
			product(q.shape), q.typ, n, p.typ, toOffset)
	}
	if n == 0 {
		return nil
	}
	run := backend.Run{To: toOffset, From: fromOffset, ToStep: size, FromStep: step, Unit: width, Count: n}
	return q.flat(false, func(in *state) error {
		return p.flat(true, func(out *state) error {
			return p.with(func() error { return p.home.queue.Runs(out.span().Raw(), in.span().Raw(), []backend.Run{run}) }, in)
		})
	})
}

// direct returns the parts of a move that a device makes by itself: all elements of a container go to where they are in another one
// of the same context, which is laid out alike. That is so on every rank, or on none. The caller calls Done on both.
func (m *Plan) direct() (to, from Part, ok bool) {
	to, from, err := lookBoth(m.to, m.from)
	if err != nil {
		return to, from, false
	}
	ok = (to.home.queue != nil || from.home.queue != nil) && to.storage != from.storage && to.padding == nil && from.padding == nil &&
		m.to.Context() == m.from.Context() && to.layout.Equal(from.layout) && whole(m.axes, to.layout.Shape())
	if !ok {
		to.Done()
		from.Done()
	}
	return to, from, ok
}

// copyAlike has a device copy this rank's part, and is done with both. Collective.
func (m *Plan) copyAlike(c *comm.Comm, to, from Part) error {
	defer to.Done()
	defer from.Done()
	call := m.call(to.state, from.state)
	if err := c.Agree(executed(call), m.stale(to, from)); err != nil {
		return err
	}
	return c.Agree(executed(call), status.In(m.op, copyOnDevice(to.state, from.state))) // on every rank, what failed on one
}

// whole reports whether axes move all elements of a shape to the same place.
func whole(axes []Axis, shape []int64) bool {
	for d, a := range axes {
		if a != (Axis{From: int64(d), FromStep: 1, To: int64(d), ToStep: 1, Count: shape[d]}) {
			return false
		}
	}
	return len(axes) == len(shape)
}

// copyOnDevice copies between parts, of which one is on a device, in the order of both queues.
func copyOnDevice(to, from *state) error {
	on, other := to.home.queue, from.home.queue
	if on == nil {
		on, other = other, nil
	}
	if on == nil {
		return status.New(status.Unsupported, "the elements of both are on the host, which copies them by itself")
	}
	if other == nil {
		return copyParts(on, to, from)
	}
	if on.Device() != other.Device() && !(to.sideBySide() && from.sideBySide()) {
		return status.New(status.Unsupported, "the elements of one GPU do not lie side by side, because there is a halo around them, and "+
			"go to another GPU; copy them to a container without a halo first")
	}
	return to.with(func() error { return copyParts(on, to, from) }, from)
}
