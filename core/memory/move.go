package memory

import "unsafe"

const (
	// piece is how many bytes Move copies at a time: from 2048 on, Go's copy uses an instruction (REP MOVSQ) that reaches
	// two thirds of the memory's bandwidth on AMD's processors.
	piece = 1984
	// worthwhile is from how many bytes on that matters: less lies in the cache.
	worthwhile = 64 << 10
	// large is from how many bytes on Go's copy gets them all at once: of a megabyte and more, it writes past the caches, where none of so
	// much would be left for whoever reads it, and the processor need not read what it writes over.
	large = 12 << 20
)

// Move copies n bytes; source and destination may overlap.
func Move(dst, src unsafe.Pointer, n int) {
	to, from := unsafe.Slice((*byte)(dst), n), unsafe.Slice((*byte)(src), n)
	if n >= worthwhile && (uintptr(dst) < uintptr(src) || uintptr(dst) >= uintptr(src)+uintptr(n)) {
		if done := ByCalls(dst, src, n); done > 0 {
			to, from = to[done:], from[done:]
		}
		each := piece
		if n >= large {
			each = Piece
		}
		for done := 0; len(from) > each; to, from = to[each:], from[each:] {
			copy(to[:each], from[:each])
			if done += each; done >= Piece {
				done = 0
				Ease()
			}
		}
	}
	copy(to, from)
}
