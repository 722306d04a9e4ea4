package memory

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"dtl/core/status"
)

// Pager gives pages of elements in files back to the system, so that no more of this process is resident than Limit says.
type Pager interface {
	// Limited is called after each SetLimit.
	Limited()
	// Ease gives pages back if too many are resident. It takes some microseconds.
	Ease()
	// InFiles returns the most bytes that were ever in files at once.
	InFiles() int64
	// Crowded reports whether elements in files are so many that few of them can stay resident.
	Crowded() bool
	// Fits reports whether the files that some addresses are in can be resident as a whole, and gives others back that are in their way.
	Fits(places ...unsafe.Pointer) bool
	// Copy copies bytes that are in files, or go there, by calls of the system, which make none of their pages resident. It returns how
	// many of the first it has copied.
	Copy(dst, src unsafe.Pointer, n int) int
	// Room returns memory for so many bytes, and what gives it back to the system at once.
	Room(bytes int) (room unsafe.Pointer, done func(), err error)
}

var (
	limit atomic.Int64 // how many bytes are to be resident at most; 0: as many as the system grants
	pager atomic.Pointer[Pager]
	share atomic.Pointer[func() int64]
	holds atomic.Int64 // what the process holds of its share; 0: nothing is in files yet
)

// SetLimit says how many bytes of this process are to be resident at most, as far as elements in files can be given back for it; 0: any
// number.
func SetLimit(bytes int64) {
	limit.Store(bytes)
	if p := pager.Load(); p != nil {
		(*p).Limited()
	}
}

// Limit returns how many bytes of this process are to be resident at most; 0: any number. Nobody has to hold its share of the system's
// before elements are in files.
func Limit() int64 {
	if n := limit.Load(); n > 0 {
		return n
	}
	return holds.Load()
}

// SetShare says who knows this process's share of the memory that the system grants; 0: all.
func SetShare(f func() int64) { share.Store(&f) }

// Share returns this process's share of the memory that the system grants; 0: all.
func Share() int64 {
	if f := share.Load(); f != nil {
		return (*f)()
	}
	return 0
}

// HoldShare has the share be the limit where nobody sets one, but not less than some bytes.
func HoldShare(least int64) {
	if n := Share(); n > 0 && holds.Load() == 0 {
		holds.Store(max(n, least))
		if p := pager.Load(); p != nil {
			(*p).Limited()
		}
	}
}

// Limits are what ranks compare of their limits: what SetLimit has set, and the share.
type Limits [2]int64

// Mine returns those of this process.
func Mine() Limits { return Limits{limit.Load(), Share()} }

// Agreed returns the limit of all ranks, from what each has: what they set, which has to be the same, or the smallest share.
func Agreed(all []Limits) (int64, error) {
	least := int64(0)
	for rank, mine := range all {
		if mine[0] != all[0][0] {
			return 0, status.New(status.InvalidArgument, "the limit of memory is %s on rank 0 and %s on rank %d, and has to be the same on all "+
				"ranks: see set_memory_limit and DTL_MEMORY_LIMIT", said(all[0][0]), said(mine[0]), rank)
		}
		if mine[1] > 0 && (least == 0 || mine[1] < least) {
			least = mine[1]
		}
	}
	if set := all[0][0]; set > 0 {
		return set, nil
	}
	return least, nil
}

// said is a limit in words.
func said(limit int64) string {
	if limit == 0 {
		return "not set"
	}
	return fmt.Sprintf("%d bytes", limit)
}

// SetPager says who gives pages back.
func SetPager(p Pager) { pager.Store(&p) }

// InFiles returns the most bytes that were ever in files at once.
func InFiles() int64 {
	if p := pager.Load(); p != nil {
		return (*p).InFiles()
	}
	return 0
}

// Ease is what loops over elements call after each block of some megabytes, so that a process which is faster than its pager holds the
// limit, too. Without a limit it costs nothing.
func Ease() {
	if Limit() > 0 {
		if p := pager.Load(); p != nil {
			(*p).Ease()
		}
	}
}

// Piece is how many bytes a loop takes before it lets pages be given back.
const Piece = 4 << 20

// Pace lets pages be given back each time that a loop has gone over a piece, however few bytes it goes over at a time. Its threads may
// share one.
type Pace struct{ passed atomic.Int64 }

// Passed says that the loop has gone over so many bytes more.
func (p *Pace) Passed(bytes int) {
	if p.passed.Add(int64(bytes)) >= Piece {
		p.passed.Store(0)
		Ease()
	}
}

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

// WorthAFile reports whether a container of so many bytes a rank, which is computed of some in files, is in files, too, given the limit on
// which all ranks agreed; 0: none.
func WorthAFile(bytes, limit int64) bool {
	if limit > 0 {
		return bytes > limit/shareOfLimit
	}
	return bytes >= fewOnDisk
}
