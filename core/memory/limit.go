package memory

import "sync/atomic"

// limit is how many bytes of this process are to be resident at most; 0: as many as the system grants.
var (
	limit   atomic.Int64
	limited atomic.Pointer[func()]
)

// SetLimit says how many bytes of this process are to be resident at most, as far as elements in files can be given back for it; 0: any
// number.
func SetLimit(bytes int64) {
	limit.Store(bytes)
	if f := limited.Load(); f != nil {
		(*f)()
	}
}

// Limit returns what SetLimit has set.
func Limit() int64 { return limit.Load() }

// OnLimit has a function called after each SetLimit.
func OnLimit(f func()) { limited.Store(&f) }

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
