package container

import (
	"errors"
	"strings"
	"sync/atomic"
	"unsafe"

	"dtl/core/comm"
	"dtl/core/halo"
	"dtl/core/handle"
	"dtl/core/kernel/move"
	"dtl/core/memory"
	"dtl/core/progress"
	"dtl/core/status"
)

// Halos are the open halos.
var Halos = handle.NewTable[*Halo](handle.Halo)

// Halo is the ghosts around an array's part: one memory with the part inside. It is of no use once the array is closed,
// and stale once its structure changes.
type Halo struct {
	of       *Array
	changes  int // of the array's structure that the halo knows
	shape    []int64
	addr     unsafe.Pointer // of the first ghost
	exchange *halo.Exchange
	lane     int
	stage    atomic.Int32
	held     Part  // of a round under way, whose memory has one more use
	failed   error // of its beginning, on a device: its end says so
}

// The stages of a halo.
const (
	resting int32 = iota
	moving        // a call is at work
	begun
	gone
)

// Halos take the lanes [firstLane, firstLane+halosLanes) in turn, so that rounds of two halos which ranks begin in
// another order do not meet, unless as many halos were made between them.
const (
	firstLane  = 16
	halosLanes = 4096
)

// halosMade is how many halos this process has made; ranks that share a process share it, too.
var halosMade atomic.Int64

// NewHalo makes a halo around an array's parts, with margins one a dimension. Where the array's memory has no room for
// it yet, the part moves to memory that has: a structural change. Ghosts start at zero then. Collective.
func NewHalo(of Container, margins []halo.Margin) (*Halo, error) {
	const op = "halo"
	c, err := of.Context().Comm()
	if err != nil {
		return nil, status.In(op, err)
	}
	call := comm.Call{Op: op, Text: func() string { return describeMargins(margins) }}
	for _, m := range margins {
		call.Same = append(call.Same, m.Before, m.After, int64(m.Mode))
	}
	a, ok := of.(*Array)
	if !ok {
		return nil, c.Agree(call, status.New(status.Unsupported, "a span has no halo; make one around its container"))
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	link, err := a.ready()
	if err != nil {
		return nil, status.In(op, err)
	}
	h, next, mine := a.prepareHalo(c, margins, link)
	if mine == nil {
		call = next.Named(call)
	}
	all := make([]comm.Shared, c.Size())
	if err := c.AgreeSharing(call, mine, comm.Shared{halosMade.Load()}, all); err != nil {
		a.abandon(h, next)
		return nil, err
	}
	h.lane = nextLane(all)
	if err := a.moveTo(next, c, call); err != nil {
		a.abandon(h, next)
		return nil, err
	}
	return h, nil
}

// ready returns what exchanges elements of the ranks' devices that the array is on; nil where nothing does. Collective.
func (a *Array) ready() (comm.Exchanger, error) {
	if a.now == nil {
		return nil, nil
	}
	link := linking(a.context, a.now)
	if link == nil {
		return nil, nil
	}
	ready, err := link.Ready()
	if !ready {
		link = nil
	}
	return link, err
}

// moveTo has the array's elements in a state's memory from now on, unless it is theirs. Collective.
func (a *Array) moveTo(next *state, c *comm.Comm, call comm.Call) error {
	switch {
	case next == a.now:
		return nil
	case next.Placement() == OnDevice:
		if err := c.Agree(executed(call), copyParts(next.home.queue, next, a.now)); err != nil {
			return err
		}
	default:
		move.CopyBox(next.addr, next.strides, a.now.addr, a.now.strides, next.shape, next.typ.Size())
	}
	a.now.release()
	a.now = next
	return nil
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// describeMargins spells margins for an error.
func describeMargins(margins []halo.Margin) string {
	texts := make([]string, len(margins))
	for d, m := range margins {
		texts[d] = tuple([]int64{m.Before, m.After})
		texts[d] += m.Mode.String()
	}
	return "width " + strings.Join(texts, ", ")
}

// nextLane returns the same lane on every rank, which told each other how many halos they have made.
func nextLane(all []comm.Shared) int {
	made := int64(0)
	for _, share := range all {
		made = max(made, share[0])
	}
	for now := halosMade.Load(); now <= made && !halosMade.CompareAndSwap(now, made+1); now = halosMade.Load() {
	}
	return firstLane + int(made%halosLanes)
}

// prepareHalo returns the halo, and the array's state with room for it: the present one if that has it already.
func (a *Array) prepareHalo(c *comm.Comm, margins []halo.Margin, link comm.Exchanger) (h *Halo, next *state, err error) {
	if a.now == nil {
		return nil, nil, closed()
	}
	plan, err := halo.NewPlan(a.now.layout, a.now.rank, margins)
	if err != nil {
		return nil, nil, err
	}
	next, want := a.now, &padding{}
	for _, m := range margins {
		want.before, want.after = append(want.before, m.Before), append(want.after, m.After)
	}
	if !a.now.padding.holds(want) {
		if err := a.now.checkViews(); err != nil {
			return nil, nil, err
		}
		if err := a.now.settle(); err != nil {
			return nil, nil, err
		}
		if next, err = a.now.padded(a.now.padding.widened(want)); err != nil {
			return nil, nil, err
		}
	}
	h = &Halo{of: a, changes: next.changes, addr: next.addr}
	if h.shape, err = want.around(next.shape); err == nil {
		at := next.memory()
		m := halo.Memory{Addr: at.Addr, Strides: at.Strides, Item: next.typ.Size(), Queue: at.Queue, Place: at.Place}
		m.Link = link
		h.exchange, err = halo.NewExchange(c, plan, m)
	}
	if err != nil {
		a.abandon(nil, next)
		return nil, nil, err
	}
	for d, n := range want.before {
		h.addr = unsafe.Add(h.addr, -n*next.strides[d])
	}
	return h, next, nil
}

// abandon lets go what prepareHalo made.
func (a *Array) abandon(h *Halo, next *state) {
	if h != nil {
		h.exchange.Release()
	}
	if next != a.now {
		next.release()
	}
}

// use returns the array's part, or an error if the array is closed or its structure has changed.
func (h *Halo) use() (Part, error) {
	p, err := inPlace(h.of)
	if err != nil {
		return Part{}, status.New(status.InvalidHandle, "the halo's container is closed")
	}
	if p.changes != h.changes {
		p.Done()
		return Part{}, status.New(status.InvalidHandle,
			"the halo is stale: its container was resized, redistributed or given a wider halo since")
	}
	return p, nil
}

// View returns the part with the ghosts around it, with one more use of the memory, which the caller releases. Local.
func (h *Halo) View() (comm.Result, error) {
	p, err := h.use()
	if err != nil {
		return comm.Result{}, err
	}
	defer p.Done()
	if err := p.storage.Retain(); err != nil {
		return comm.Result{}, err
	}
	span := memory.Span{Addr: h.addr, Count: int(product(h.shape)), Type: p.typ, Place: p.storage.Place()}
	made := comm.Result{Array: comm.Array{Span: span, Shape: h.shape}, Strides: p.strides, Storage: p.storage}
	if p.Placement() == OnDevice {
		made.Queue = p.home.queue
	} else {
		made.Place = memory.Host // for work of the host
	}
	return made, nil
}

// Exchange fills the ghosts with the elements that they stand for, as these are now; ghosts that stand for nothing stay.
// Collective among ranks that hold each other's ghosts, and on devices among all.
func (h *Halo) Exchange() error {
	if err := h.take(resting); err != nil {
		return err
	}
	defer h.stage.Store(resting)
	p, err := h.ready()
	if err != nil {
		return err
	}
	defer p.Done()
	return h.settled(p.state, h.exchange.Start(h.lane))
}

// call is what all ranks make together, on devices.
func (h *Halo) call(of *state) comm.Call { return of.Named(comm.Call{Op: "halo.exchange"}) }

// settled waits for a round that began with an error or none, and returns its error. On devices the ranks agree on it, and each gets an
// error where one has: a kernel may fail on one rank alone, whose neighbours then have ghosts that are not its elements.
func (h *Halo) settled(of *state, began error) error {
	known, err := h.exchange.Finish(h.call(of))
	err = errors.Join(began, err)
	if known || of.Placement() != OnDevice {
		return err
	}
	c, closed := h.of.context.Comm()
	if closed != nil {
		return errors.Join(err, closed)
	}
	return c.Agree(h.call(of), err)
}

// ready returns the array's part if the ranks can communicate.
func (h *Halo) ready() (Part, error) {
	if _, err := h.of.context.Comm(); err != nil {
		return Part{}, err
	}
	return h.use()
}

// take makes this call the one at work, where the halo is at a stage that allows it.
func (h *Halo) take(from int32) error {
	if h.stage.CompareAndSwap(from, moving) {
		return nil
	}
	switch h.stage.Load() {
	case gone:
		return status.New(status.InvalidHandle, "the halo is closed")
	case resting:
		return status.New(status.InvalidArgument, "no exchange has begun; call begin first")
	default:
		return status.New(status.InvalidArgument, "an exchange is under way; call end first")
	}
}

// Begin starts what Exchange does, and does not wait. Until End returns, the ghosts mean nothing, and elements that
// others have as ghosts must not change; the array cannot change its structure. Collective among the same ranks.
func (h *Halo) Begin() error {
	if err := h.take(resting); err != nil {
		return err
	}
	p, err := h.ready()
	if err != nil {
		h.stage.Store(resting)
		return err
	}
	defer p.Done()
	if err := p.storage.Retain(); err != nil {
		h.stage.Store(resting)
		return err
	}
	if p.padding != nil {
		p.padding.exchanges.Add(1)
	}
	h.held = Part{state: p.state}
	h.exchange.Engage(1)
	h.failed = h.exchange.Start(h.lane)
	if h.failed != nil && p.Placement() != OnDevice {
		return h.drop()
	}
	h.stage.Store(begun)
	return nil
}

// End waits until the ghosts are there. Collective among the same ranks.
func (h *Halo) End() error {
	if err := h.take(begun); err != nil {
		return err
	}
	return h.finish()
}

// finish ends the round that began, with all ranks that make it.
func (h *Halo) finish() error {
	return h.over(h.settled(h.held.state, h.failed))
}

// drop ends the round that began, of which no other rank is told.
func (h *Halo) drop() error { return h.over(errors.Join(h.failed, h.exchange.Drop())) }

// over lets what the round that began needed go, and returns its error.
func (h *Halo) over(err error) error {
	h.failed = nil
	h.exchange.Engage(-1)
	if h.held.padding != nil {
		h.held.padding.exchanges.Add(-1)
	}
	h.held.storage.Release()
	h.held = Part{}
	h.stage.Store(resting)
	return err
}

// Messages returns how many messages this rank sends in an exchange.
func (h *Halo) Messages() int { return h.exchange.Messages() }

// Close lets the buffers go, after an exchange that is under way. A second Close does nothing.
func (h *Halo) Close() error {
	var err error
	if h.stage.CompareAndSwap(begun, moving) {
		err = h.finish()
	}
	if h.stage.CompareAndSwap(resting, gone) {
		h.exchange.Release()
	}
	return err
}

// DropHalo closes the halo that a handle names unless an exchange is under way, and reports whether it has. It never
// waits for another rank, so it can be called again, when the exchange may be over. Local.
func DropHalo(named handle.Handle) (dropped bool, err error) {
	ref, err := Halos.Acquire(named)
	if err != nil {
		return false, err
	}
	h := ref.Object
	if h.stage.Load() == begun {
		if progress.Enter() != nil {
			return false, ref.Release() // another thread has the backend, and waits, perhaps
		}
		defer progress.Exit()
		if !h.exchange.Over() {
			return false, ref.Release()
		}
		if h.stage.CompareAndSwap(begun, moving) {
			_ = h.drop() // of a halo that nobody has any more, an exchange that failed is nobody's error
		}
	}
	if err := ref.Release(); err != nil {
		return false, err
	}
	_ = Halos.Close(named)
	return true, nil
}
