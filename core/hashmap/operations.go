package hashmap

import (
	"unsafe"

	"dtl/core/comm"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
)

// task is one rank's part in a call on many keys.
type task struct {
	op       string
	n        int
	keys     memory.Span
	values   memory.Span // what goes in, or what comes out; one that goes in may be for all keys
	found    memory.Span // what comes out, a byte a key
	combines bool
	combine  int64                                     // number of the operator
	apply    func(t *Table, b batch, j *UndoLog) error // where values are on the host
	puts     bool                                      // values go in, and may need memory
	gets     bool                                      // values come out
	removes  bool                                      // what came goes, when all have been answered
}

// batch is what arrived from one rank, and where its answers go.
type batch struct {
	keys, values unsafe.Pointer
	found        []uint8
	n            int
}

// InsertMany sets the values of keys, of which keys.Bytes() / key length there are, one value for each, or one for all. Where a key occurs
// more than once in a list, the last value stays; where on several ranks, that of the highest rank. Collective.
//
// If there is no memory for a key on any rank, all ranks get an error, and the map holds what it did before.
func (m *Map) InsertMany(keys, values memory.Span) error {
	return m.run(&task{op: "insert", n: keys.Bytes() / m.key.Bytes, keys: keys, values: values, puts: true,
		apply: func(t *Table, b batch, j *UndoLog) error { return t.Put(b.keys, b.values, b.n, j) }})
}

// UpdateMany combines values with those of their keys, by the operator of a number: ranks in order, and each rank's in the order of its list; a key
// that is not there gets the value. Errors are as with InsertMany. Collective.
func (m *Map) UpdateMany(keys, values memory.Span, op int64) error {
	return m.run(&task{op: "update", n: keys.Bytes() / m.key.Bytes, keys: keys, values: values, puts: true, combines: true, combine: op,
		apply: func(t *Table, b batch, j *UndoLog) error {
			return t.Update(b.keys, b.values, b.n, m.value, kernel.Op(op), j)
		}})
}

// FindMany copies the values of keys, and sets found, a byte a key, to whether each is there. The values of those that
// are not stay as they are. Collective.
func (m *Map) FindMany(keys, values, found memory.Span) error {
	return m.run(&task{op: "find", n: found.Count, keys: keys, values: values, found: found, gets: true,
		apply: func(t *Table, b batch, _ *UndoLog) error {
			t.Get(b.keys, b.values, b.n, b.found)
			return nil
		}})
}

// ContainsMany sets found, a byte a key, to whether each is there. Collective.
func (m *Map) ContainsMany(keys, found memory.Span) error {
	return m.run(&task{op: "contains", n: found.Count, keys: keys, found: found, apply: look})
}

// EraseMany removes keys, and sets found, a byte a key, to whether each was there when the call began, however often it
// occurs. Collective.
func (m *Map) EraseMany(keys, found memory.Span) error {
	return m.run(&task{op: "erase", n: found.Count, keys: keys, found: found, removes: true, apply: look})
}

// look sets what was found.
func look(t *Table, b batch, _ *UndoLog) error {
	t.Get(b.keys, nil, b.n, b.found)
	return nil
}

// check refuses a list that does not fit the map.
func (m *Map) check(t *task) error {
	if t.keys.Bytes() != t.n*m.key.Bytes {
		return status.New(status.InvalidArgument, "%d bytes are not %d keys of %s", t.keys.Bytes(), t.n, m.key)
	}
	if !t.puts && !t.gets {
		return nil
	}
	if t.values.Type != m.value {
		return status.New(status.InvalidArgument, "values of %s where the map has %s", t.values.Type, m.value)
	}
	if t.values.Count != t.n && !t.alike() {
		return status.New(status.InvalidArgument, "%d values for %d keys", t.values.Count, t.n)
	}
	if !t.combines {
		return nil
	}
	op, err := kernel.ParseOp(t.combine)
	if err != nil {
		return err
	}
	return op.Check(m.value)
}

// alike reports whether one value goes in for all keys.
func (t *task) alike() bool { return t.puts && t.values.Count == 1 }

// run makes a call. What can fail on one rank alone is agreed on before anything changes.
func (m *Map) run(t *task) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	c, err := m.open()
	if err != nil {
		return status.In(t.op, err)
	}
	var l list
	mine := m.check(t)
	if mine == nil {
		l, mine = m.newList(c, t.n)
		defer l.release()
	}
	all := make([]comm.Shared, c.Size())
	call := m.call(t.op, t.combine)
	if t.combines {
		on := call.Text
		call.Text = func() string { return on() + ", " + kernel.Op(t.combine).String() }
	}
	if err := c.AgreeSharing(call, mine, comm.Shared{int64(t.n)}, all); err != nil {
		return err
	}
	longest := int64(0)
	for _, share := range all {
		longest = max(longest, share[0])
	}
	if longest == 0 {
		return nil
	}
	return status.In(t.op, m.send(c, t, l, int(longest), int(sum(all))))
}

// send exchanges the keys. The longest list of all ranks says into how many ranges.
func (m *Map) send(c *comm.Comm, t *task, l list, longest, total int) error {
	x := exchange{m: m, c: c, task: t, before: m.total}
	x.few = total*m.mostBytes()+areaCount*memory.Alignment <= smallBytes
	x.round = roundKeys(m.table.key+m.value.Size(), c.Size())
	ranges := 1
	if longest > x.round {
		ranges = (2*longest + x.round - 1) / x.round // twice as many, for they are not equally full
	}
	passes := min(mostPasses, t.n/x.round)
	if many := passesUnder(memory.Limit(), t.n, m.table.key+m.value.Size()); t.puts && many > 0 && ranges > 1 {
		passes, x.parts = many, true
	}
	x.plan = newPlan(ranges, c.Size(), passes, m.hasher(t.keys.Addr), l, &m.scratch)
	if err := x.prepare(); err != nil {
		return err
	}
	defer x.release()
	if err := x.run(); err != nil || !t.removes {
		return err
	}
	_, err := m.settle(c, t.op, nil)
	return err
}

// mostBytes returns the most bytes that a call's areas have for a key.
func (m *Map) mostBytes() int {
	bytes := 2*m.table.key + 2*m.value.Size() + m.table.value + 3
	if m.cells != nil {
		bytes += 2*cellBytes + 4 + m.value.Size()
	}
	return bytes
}

// hasher returns what hashes a list's keys from the first on, before they are made the same where they are one key.
func (m *Map) hasher(keys unsafe.Pointer) func(first int, into []uint64) {
	hash, width := m.table.keys.hash, m.table.key
	if m.key.float() {
		hash = hashFloats
	}
	return func(first int, into []uint64) { hash(unsafe.Add(keys, first*width), width, into) }
}
