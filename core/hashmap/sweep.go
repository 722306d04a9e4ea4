package hashmap

import (
	"unsafe"

	"dtl/core/memory"
)

// fill copies a sweep's keys, and values if they go, to their places.
func (v *passage) fill(s sweep) {
	v.at = s
	t := v.m.table
	v.plan.each(s, func(positions, places []int) {
		rearrange(v.keysOut, v.keys.Addr, t.key, places, positions)
		if v.puts {
			rearrange(v.valuesOut, v.values.Addr, t.value, places, positions)
		}
	})
	if v.m.key.float() {
		unify(v.keysOut, s.to-s.from)
	}
}

// deliver copies a sweep's answers to where the list has their keys: values only of those that were found.
func (v *passage) deliver(s sweep) {
	found, replies := memory.As[uint8](v.found.Raw()), unsafe.Slice((*uint8)(v.foundOut), s.to-s.from)
	size := v.m.table.value
	v.plan.each(s, func(positions, places []int) {
		n := 0
		for i, position := range positions {
			yes := replies[places[i]]
			found[position] = yes
			positions[n], places[n] = position, places[i]
			n += int(yes)
		}
		if v.gets {
			rearrange(v.values.Addr, v.valuesOut, size, positions[:n], places[:n])
		}
	})
}

// rearrange copies elements of size bytes from places in one memory to places in another.
func rearrange(dst, src unsafe.Pointer, size int, to, from []int) {
	switch size {
	case 1:
		rearrangeAs[uint8](dst, src, to, from)
	case 2:
		rearrangeAs[uint16](dst, src, to, from)
	case 4:
		rearrangeAs[uint32](dst, src, to, from)
	case 8:
		rearrangeAs[uint64](dst, src, to, from)
	default:
		for i, at := range from {
			move(unsafe.Add(dst, to[i]*size), unsafe.Add(src, at*size), size)
		}
	}
}

func rearrangeAs[T word](dst, src unsafe.Pointer, to, from []int) {
	var zero T
	to = to[:len(from)]
	for i, at := range from {
		*(*T)(unsafe.Add(dst, to[i]*int(unsafe.Sizeof(zero)))) = *(*T)(unsafe.Add(src, at*int(unsafe.Sizeof(zero))))
	}
}

// unify gives floats that are one key the same bits.
func unify(keys unsafe.Pointer, n int) {
	for i, f := range unsafe.Slice((*float64)(keys), n) {
		*(*uint64)(unsafe.Add(keys, 8*i)) = canonical(f)
	}
}
