package halo

import (
	"unsafe"

	"dtl/core/kernel/move"
)

// place is where a box lies: its first element, and the strides in bytes.
type place struct {
	addr    unsafe.Pointer
	strides []int64
}

// patch copies a box from one place to another: units of bytes that lie side by side at both, over the loops that are
// left, the innermost first.
type patch struct {
	dst, src unsafe.Pointer
	unit     int
	loops    []loop
}

// loop is a dimension: how many steps, and how many bytes each goes at both places.
type loop struct{ count, dst, src int }

// newPatch joins the last dimensions where the elements lie side by side at both places.
func newPatch(dst, src place, shape []int64, item int) patch {
	p := patch{dst: dst.addr, src: src.addr, unit: item}
	for d := len(shape) - 1; d >= 0; d-- {
		l := loop{count: int(shape[d]), dst: int(dst.strides[d]), src: int(src.strides[d])}
		switch {
		case l.count == 1:
		case len(p.loops) == 0 && l.dst == p.unit && l.src == p.unit:
			p.unit *= l.count
		default:
			p.loops = append(p.loops, l)
		}
	}
	return p
}

// run copies.
func (p *patch) run() { copyLoops(p.dst, p.src, p.unit, p.loops) }

func copyLoops(dst, src unsafe.Pointer, unit int, loops []loop) {
	switch n := len(loops); n {
	case 0:
		move.CopyStrided(dst, unit, src, unit, 1, unit)
	case 1:
		move.CopyStrided(dst, loops[0].dst, src, loops[0].src, loops[0].count, unit)
	default:
		outer := loops[n-1]
		for i := range outer.count {
			copyLoops(unsafe.Add(dst, i*outer.dst), unsafe.Add(src, i*outer.src), unit, loops[:n-1])
		}
	}
}
