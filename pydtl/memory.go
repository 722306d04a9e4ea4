package pydtl

import (
	"runtime/debug"

	"dtl/core/backend"
	"dtl/core/memory"
	"dtl/core/runtime"
)

// hostMemory returns the memory that containers use.
func hostMemory() (backend.MemorySpace, error) {
	p, err := backend.As[backend.MemoryProvider](backend.Local)
	if err != nil {
		return nil, err
	}
	return p.Memory(), nil
}

// MemoryInUse returns the bytes of host memory that are handed out now.
func MemoryInUse() (bytes int64, err error) {
	defer guard(&err)
	m, err := hostMemory()
	if err != nil {
		return 0, err
	}
	bytes, _ = m.InUse()
	return bytes, nil
}

// MemoryPeak returns the most bytes of host memory that were ever handed out at once.
func MemoryPeak() (bytes int64, err error) {
	defer guard(&err)
	m, err := hostMemory()
	if err != nil {
		return 0, err
	}
	_, bytes = m.InUse()
	return bytes, nil
}

// PlacementWhyNot returns why containers cannot be placed on a GPU, or in memory that host and GPU both reach; "" if they can.
// It begins to use the device.
func PlacementWhyNot(unified bool) (reason string, err error) {
	defer guard(&err)
	if err := runtime.CheckPlacement(unified); err != nil {
		return err.Error(), nil
	}
	return "", nil
}

// MemorySetLimit says how many bytes of this process are to be resident at most; 0: any number.
func MemorySetLimit(bytes int64) (ok bool, err error) {
	defer guard(&err)
	memory.SetLimit(bytes)
	return true, nil
}

// MemoryLimit returns how many bytes of this process are to be resident at most; 0: any number.
func MemoryLimit() (bytes int64, err error) {
	defer guard(&err)
	return memory.Limit(), nil
}

// MemoryReturn gives memory back to the system that the core has done with. Local.
func MemoryReturn() (ok bool, err error) {
	defer guard(&err)
	debug.FreeOSMemory()
	return true, nil
}

// MemoryEase lets pages of files be given back, after a block of a loop.
func MemoryEase() (ok bool, err error) {
	defer guard(&err)
	memory.Ease()
	return true, nil
}

// MemoryInFiles returns the most bytes of containers that were ever in files at once, of their own or of users.
func MemoryInFiles() (bytes int64, err error) {
	defer guard(&err)
	return memory.InFiles(), nil
}

// MemoryShare returns this process's share of the memory that its control group has; 0: there is no limit.
func MemoryShare() (bytes int64, err error) {
	defer guard(&err)
	return memory.Share(), nil
}

// MemoryTrim gives memory of GPUs that is kept for later back to their drivers, and returns how many bytes.
func MemoryTrim() (bytes int64, err error) {
	defer guard(&err)
	return runtime.Trim()
}
