package numpybridge

import (
	"unsafe"

	"dtl/core/dtype"
	"dtl/core/handle"
	"dtl/core/hashmap"
	"dtl/core/memory"
)

// hashMap calls f with the map that the call's handle names.
func (c *Call) hashMap(f func(*hashmap.Map) error) (err error) {
	ref, err := hashmap.Maps.Acquire(handle.Handle(c.Handle))
	if err != nil {
		return c.unknown(err)
	}
	defer ref.End(&err)
	return f(ref.Object)
}

// mapInsert sets the values of the input's keys: the second buffer.
func mapInsert(c *Call) error {
	return c.hashMap(func(m *hashmap.Map) error { return m.InsertMany(c.In.Span, c.Out.Span) })
}

// mapUpdate combines the second buffer's values with those of the input's keys, by operator args[0].
func mapUpdate(c *Call) error {
	return c.hashMap(func(m *hashmap.Map) error { return m.UpdateMany(c.In.Span, c.Out.Span, c.Args[0]) })
}

// mapFind fills the output with the values of the input's keys, and behind them a byte for each: whether it was found.
func mapFind(c *Call) error {
	return c.hashMap(func(m *hashmap.Map) error {
		values, found := divided(c.Out.Span, m.ValueType())
		return m.FindMany(c.In.Span, values, found)
	})
}

// divided returns the two parts of memory for as many values as bytes.
func divided(s memory.Span, value dtype.Type) (values, bytes memory.Span) {
	n := s.Bytes() / (value.Size() + 1)
	values = memory.Span{Addr: s.Addr, Count: n, Type: value}
	return values, memory.Span{Addr: unsafe.Add(s.Addr, values.Bytes()), Count: n, Type: dtype.Uint8}
}

// mapContains fills the output with a byte for each of the input's keys: whether it was found.
func mapContains(c *Call) error {
	return c.hashMap(func(m *hashmap.Map) error { return m.ContainsMany(c.In.Span, c.Out.Raw()) })
}

// mapErase removes keys, and fills the output with a byte for each of them, as mapContains does.
func mapErase(c *Call) error {
	return c.hashMap(func(m *hashmap.Map) error { return m.EraseMany(c.In.Span, c.Out.Raw()) })
}

// mapEntries returns a copy of this rank's entries or, where args[0] is 1, of all ranks', as bytes that package hashmap describes; where
// it is 2, of this rank's values, on their device.
func mapEntries(c *Call) error {
	return c.hashMap(func(m *hashmap.Map) (err error) {
		switch c.Args[0] {
		case 1:
			c.Result, err = m.GlobalEntries()
		case 2:
			c.Result, err = m.LocalValues()
		default:
			c.Result, err = m.LocalEntries()
		}
		return err
	})
}
