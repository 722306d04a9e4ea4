package hashmap

import (
	"unsafe"

	"dtl/core/kernel/move"
	"dtl/core/memory"
)

// fill copies a pass's keys, and values if they go, to their places.
func (x *exchange) fill(s pass) {
	x.at = s
	t := x.m.table
	x.plan.each(s, func(positions, places []int) {
		move.Rearrange(x.keysOut, x.keys.Addr, places, positions, t.key)
		switch {
		case x.alike():
			move.Rearrange(x.valuesOut, x.values.Addr, places, x.m.scratch.first[:len(places)], x.m.value.Size())
		case x.puts:
			move.Rearrange(x.valuesOut, x.values.Addr, places, positions, x.m.value.Size())
		}
	})
	if x.m.key.float() {
		unify(x.keysOut, s.to-s.from)
	}
}

// deliver copies a pass's answers to where the list has their keys: values only of those that were found.
func (x *exchange) deliver(s pass) {
	found, replies := memory.As[uint8](x.found.Raw()), unsafe.Slice((*uint8)(x.foundOut), s.to-s.from)
	size := x.m.value.Size()
	x.plan.each(s, func(positions, places []int) {
		n := 0
		for i, position := range positions {
			yes := replies[places[i]]
			found[position] = yes
			positions[n], places[n] = position, places[i]
			n += int(yes)
		}
		if x.gets {
			move.Rearrange(x.values.Addr, x.valuesOut, positions[:n], places[:n], size)
		}
	})
}

// unify gives floats that are one key the same bits.
func unify(keys unsafe.Pointer, n int) {
	for i, f := range unsafe.Slice((*float64)(keys), n) {
		*(*uint64)(unsafe.Add(keys, 8*i)) = canonical(f)
	}
}
