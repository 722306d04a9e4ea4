package hashmap

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"dtl/core/comm"
	"dtl/core/container"
	"dtl/core/dtype"
	"dtl/core/handle"
	"dtl/core/memory"
	"dtl/core/runtime"
	"dtl/core/status"
)

// Maps are the open maps.
var Maps = handle.NewTable[*Map](handle.Map)

// Map is a map whose entries live on the rank that the hash of their key says. Its methods are collective, but for those
// that say they are not: every rank of the context calls, with a list of its own, which may be empty, and what one rank
// cannot do raises on all. After a call returns, what it did is there for all later calls of every rank.
type Map struct {
	context   *runtime.Context
	id        int64 // equal on all ranks, and no other map's of the context
	key       Key
	value     dtype.Type
	mu        sync.Mutex // held during each call; the communicator takes one call at a time anyway
	table     *Table     // nil: closed
	placement container.Placement
	cells     *cells          // where values are that are on a device; nil: in the table
	small     *memory.Storage // of smallBytes
	scratch   scratch
	total     int64 // entries on all ranks, which each call that changes them brings up to date
}

// made counts the maps of this process.
var made atomic.Int64

// New returns an empty map over a context's ranks, which all pass the same types, and the same placement of the values. Keys are on the
// host. Collective.
func New(on *runtime.Context, key Key, value dtype.Type, placed container.Placement) (*Map, error) {
	const op = "map"
	c, err := on.Comm()
	if err != nil {
		return nil, status.In(op, err)
	}
	m := &Map{context: on, key: key, value: value}
	mine := m.place(c, placed)
	if mine == nil {
		m.table, mine = m.newTable(c)
	}
	if mine == nil {
		m.small, mine = memory.NewStorage(c.Memory(), smallBytes, memory.Alignment)
	}
	all := make([]comm.Shared, c.Size())
	call := comm.Call{Op: op, Same: append(key.same(), int64(value), int64(m.placement)), Text: func() string {
		text := "keys of " + key.String() + ", values of " + value.String()
		if m.placement != container.OnHost {
			text += ", placement " + m.placement.String()
		}
		return text
	}}
	if err := c.AgreeSharing(call, mine, comm.Shared{made.Add(1)}, all); err != nil {
		_ = m.Close()
		return nil, err
	}
	m.id = all[0][0]
	return m, nil
}

// place finds out where values of a placement are.
func (m *Map) place(c *comm.Comm, placed container.Placement) error {
	if err := m.key.check(); err != nil {
		return err
	}
	if !m.value.Valid() {
		return status.New(status.InvalidArgument, "dtype number %d is no element type", m.value)
	}
	if placed == container.OnDisk {
		return status.New(status.InvalidArgument, "maps are in memory: placement DISK is for the other containers")
	}
	resolved, space, queue, err := placed.Memory(m.context)
	m.placement = resolved
	if err == nil && queue != nil {
		m.cells = newCells(queue, space, c.Memory(), m.value.Size())
	}
	return err
}

// newTable returns an empty table for the map.
func (m *Map) newTable(c *comm.Comm) (*Table, error) {
	if m.cells == nil {
		return NewTable(c.Memory(), m.key.Bytes, m.value.Size())
	}
	t, err := NewTable(c.Memory(), m.key.Bytes, cellBytes)
	if err == nil {
		t.gone = func(value unsafe.Pointer) { m.cells.give((*cell)(value).at) }
	}
	return t, err
}

// Placement returns where the values are. Not collective.
func (m *Map) Placement() container.Placement { return m.placement }

// open returns the communicator of a map that is open. The caller holds the lock.
func (m *Map) open() (*comm.Comm, error) {
	if m.table == nil {
		return nil, status.New(status.InvalidHandle, "the map is closed")
	}
	return m.context.Comm()
}

// ValueType returns the type of the values. Not collective.
func (m *Map) ValueType() dtype.Type { return m.value }

// call is this rank's part in an operation on this map.
func (m *Map) call(op string, same ...int64) comm.Call {
	return comm.Call{Op: op, Same: append([]int64{m.id}, same...), Text: func() string {
		return "a map of " + m.key.String() + " to " + m.value.String() // of ranks that use different maps
	}}
}

// LocalSize returns the number of entries on this rank. Not collective.
func (m *Map) LocalSize() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.table == nil {
		return 0
	}
	return int64(m.table.Len())
}

// Len returns the number of entries on all ranks as the last call left them. Not collective.
func (m *Map) Len() (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.table == nil {
		return 0, status.New(status.InvalidHandle, "the map is closed")
	}
	return m.total, nil
}

func sum(sizes []comm.Shared) int64 {
	total := int64(0)
	for _, n := range sizes {
		total += n[0]
	}
	return total
}

// sizes returns the number of entries on each rank.
func (m *Map) sizes(op string) ([]comm.Shared, error) {
	c, err := m.open()
	if err != nil {
		return nil, status.In(op, err)
	}
	return m.settle(c, op, nil)
}

// settle ends or makes a call: the ranks agree that it went well, and know the number of entries from then on.
func (m *Map) settle(c *comm.Comm, op string, mine error) ([]comm.Shared, error) {
	all := make([]comm.Shared, c.Size())
	if err := c.AgreeSharing(m.call(op), mine, comm.Shared{int64(m.table.Len())}, all); err != nil {
		return nil, err
	}
	m.total = sum(all)
	return all, nil
}

// Sync returns when every rank has called it. What any rank did before is done: calls are complete when they return, so
// Sync has nothing to send. Collective.
func (m *Map) Sync(op string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, err := m.sizes(op)
	return err
}

// Clear removes all entries, and gives their memory back. Collective.
func (m *Map) Clear() error {
	const op = "clear"
	m.mu.Lock()
	defer m.mu.Unlock()
	c, err := m.open()
	if err != nil {
		return status.In(op, err)
	}
	empty, mine := m.newTable(c)
	if err := c.Agree(m.call(op), mine); err != nil {
		if empty != nil {
			empty.Close()
		}
		return err
	}
	m.table.Close()
	if m.cells != nil {
		m.cells.close()
	}
	m.table, m.total = empty, 0
	return nil
}

// Close gives this rank's memory back. A second Close does nothing. Not collective.
func (m *Map) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.table != nil {
		m.table.Close()
		m.table = nil
		if m.cells != nil {
			m.cells.close()
		}
	}
	if m.small != nil {
		m.small.Release()
		m.small = nil
	}
	return nil
}
