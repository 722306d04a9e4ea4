// Package nccl is the backend of NVIDIA's collective library: so far, it knows whether this process can use it.
package nccl

import (
	"sync"

	"dtl/backends/internal/dl"
	"dtl/backends/internal/gpu"
	"dtl/core/backend"
	"dtl/core/status"
)

func init() {
	backend.Register(newBackend(func() error { return backend.Probe("cuda") }, dl.Linker))
}

type nccl struct{ probe func() error }

// newBackend returns a backend that looks for CUDA and the library once.
func newBackend(cuda func() error, opener dl.Opener) *nccl {
	return &nccl{sync.OnceValue(func() error { return look(cuda, opener) })}
}

// Name returns "nccl".
func (n *nccl) Name() string { return "nccl" }

// Probe returns nil if CUDA is usable and the library answers.
func (n *nccl) Probe() error { return n.probe() }

func look(cuda func() error, opener dl.Opener) error {
	if err := cuda(); err != nil {
		return status.New(status.BackendUnavailable, "NCCL needs CUDA: %w", err)
	}
	library, err := opener.Open("libnccl.so.2")
	if err != nil {
		return status.New(status.BackendUnavailable, "no NCCL: %w", err)
	}
	version, err := library.Symbol("ncclGetVersion")
	if err != nil {
		return err
	}
	if _, result := gpu.Integer(version); result != 0 {
		return status.New(status.BackendUnavailable, "NCCL found (%s), but ncclGetVersion failed: error %d",
			library.Path(), result)
	}
	return nil
}
