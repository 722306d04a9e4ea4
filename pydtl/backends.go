package pydtl

import (
	"dtl/core/backend"
	"dtl/core/status"

	// The backends that exist: each registers itself.
	_ "dtl/backends/cpu"
	_ "dtl/backends/cuda"
	_ "dtl/backends/hip"
	_ "dtl/backends/nccl"
)

// BackendCount returns how many backends are registered, usable or not.
func BackendCount() (n int64, err error) {
	defer guard(&err)
	return int64(len(backend.Names())), nil
}

// BackendName returns the name of the i-th registered backend.
func BackendName(i int64) (name string, err error) {
	defer guard(&err)
	names := backend.Names()
	if i < 0 || i >= int64(len(names)) {
		return "", status.New(status.OutOfBounds, "backend %d outside [0, %d)", i, len(names))
	}
	return names[i], nil
}

// BackendWhyNot returns why the named backend cannot be used in this process, or "" if it can.
func BackendWhyNot(name string) (reason string, err error) {
	defer guard(&err)
	if err := backend.Probe(name); err != nil {
		return err.Error(), nil
	}
	return "", nil
}
