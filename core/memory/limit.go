package memory

import "sync/atomic"

// Pager gives pages of elements in files back to the system, so that no more of this process is resident than Limit says.
type Pager interface {
	// Limited is called after each SetLimit.
	Limited()
	// Ease gives pages back if too many are resident. It takes some microseconds.
	Ease()
}

var (
	limit atomic.Int64 // how many bytes are to be resident at most; 0: as many as the system grants
	pager atomic.Pointer[Pager]
)

// SetLimit says how many bytes of this process are to be resident at most, as far as elements in files can be given back for it; 0: any
// number.
func SetLimit(bytes int64) {
	limit.Store(bytes)
	if p := pager.Load(); p != nil {
		(*p).Limited()
	}
}

// Limit returns what SetLimit has set.
func Limit() int64 { return limit.Load() }

// SetPager says who gives pages back.
func SetPager(p Pager) { pager.Store(&p) }

// Ease is what loops over elements call after each block of some megabytes, so that a process which is faster than its pager holds the
// limit, too. Without a limit it costs nothing.
func Ease() {
	if limit.Load() > 0 {
		if p := pager.Load(); p != nil {
			(*p).Ease()
		}
	}
}

// Piece is how many bytes a loop takes before it lets pages be given back.
const Piece = 4 << 20

// InPieces calls f with ranges of n units of so many bytes, which are pieces where there is a limit, and lets pages be given back after each.
func InPieces(n, bytes int, f func(from, to int)) {
	if Limit() == 0 || n*bytes <= Piece {
		f(0, n)
		return
	}
	step := max(Piece/bytes, 1)
	for at := 0; at < n; at += step {
		f(at, min(at+step, n))
		Ease()
	}
}

const (
	// fewOnDisk is how many bytes of a rank's part are worth a file where there is no limit.
	fewOnDisk = 1 << 20
	// shareOfLimit is the part of the limit that one result may take in memory.
	shareOfLimit = 16
)

// WorthAFile reports whether a container of so many bytes a rank, which is computed of some in files, is in files, too.
func WorthAFile(bytes int64) bool {
	if n := Limit(); n > 0 {
		return bytes > n/shareOfLimit
	}
	return bytes >= fewOnDisk
}
