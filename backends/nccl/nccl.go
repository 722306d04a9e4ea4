// Package nccl is the backend of NVIDIA's collective library, with which the GPUs of several ranks exchange elements
// without the host, and of AMD's, which has the same functions.
package nccl

import (
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"dtl/backends/internal/dl"
	"dtl/backends/internal/environ"
	"dtl/core/backend"
	"dtl/core/status"
)

func init() {
	backend.Register(newBackend(backend.Probe, dl.Linker))
}

type nccl struct{ table func() (*table, error) }

var _ backend.DeviceLinker = (*nccl)(nil)

// newBackend returns a backend that looks for GPUs and the library once. probe says why a backend of GPUs is not usable.
func newBackend(probe func(name string) error, opener dl.Opener) *nccl {
	return &nccl{sync.OnceValues(func() (*table, error) { return look(probe, opener) })}
}

// Name returns "nccl".
func (n *nccl) Name() string { return "nccl" }

// Probe returns nil if GPUs are usable and the library of their vendor answers.
func (n *nccl) Probe() error {
	_, err := n.table()
	return err
}

// Version returns the library's.
func (n *nccl) Version() (string, error) {
	t, err := n.table()
	if err != nil {
		return "", err
	}
	return t.version() + " in " + t.library.Path(), nil
}

// SharesDevices reports whether the library and the environment allow several ranks on a GPU.
func (n *nccl) SharesDevices() bool {
	t, err := n.table()
	return err == nil && t.number >= 23000 && environ.Get("NCCL_MULTI_RANK_GPU_ENABLE") == "1"
}

// NewKey returns NCCL's unique id.
func (n *nccl) NewKey() ([]byte, error) {
	t, err := n.table()
	if err != nil {
		return nil, err
	}
	return t.newKey()
}

// The names of the libraries, of which all versions 2 are compatible: NVIDIA's, and AMD's.
const (
	soname      = "libnccl.so.2"
	sonameOfHIP = "librccl.so.1"
)

// wheel is the folder of a library that is installed beside this package.
var wheel atomic.Pointer[string]

// LookInto says in which folder a library may be that is installed beside this package, before the first look for one.
func LookInto(folder string) { wheel.Store(&folder) }

// look finds the library: the one that DTL_NCCL_LIB names, else the one that is in the process, else the one that is installed
// beside this package, else one of the default search path.
func look(probe func(name string) error, opener dl.Opener) (*table, error) {
	soname, advice := soname, "install it (pip install nvidia-nccl-cu12)"
	if err := probe("cuda"); err != nil {
		if probe("hip") != nil {
			return nil, status.New(status.BackendUnavailable, "NCCL needs CUDA: %w", err)
		}
		soname, advice = sonameOfHIP, "install RCCL, which is a part of ROCm"
	}
	if name := environ.Get("DTL_NCCL_LIB"); name != "" {
		library, err := opener.Open(name)
		if err != nil {
			return nil, status.New(status.BackendUnavailable, "DTL_NCCL_LIB: %w", err)
		}
		return newTable(library)
	}
	library, loaded := opener.Loaded(soname)
	if !loaded {
		var names []string
		if folder := wheel.Load(); folder != nil {
			if path := filepath.Join(*folder, soname); exists(path) {
				names = append(names, path)
			}
		}
		var err error
		if library, err = opener.Open(append(names, soname)...); err != nil {
			return nil, status.New(status.BackendUnavailable, "no NCCL: %w; %s, or set DTL_NCCL_LIB to its file", err, advice)
		}
	}
	return newTable(library)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
