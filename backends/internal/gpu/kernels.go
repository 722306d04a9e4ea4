package gpu

import (
	"sync"
	"unsafe"

	"dtl/core/dtype"
	"dtl/core/status"
)

// kernels are what a device can compute, loaded when first needed.
type kernels struct {
	mu      sync.Mutex
	modules map[string]uintptr
	byName  map[string]uintptr
}

// named returns a kernel of a source.
func (k *kernels) named(on driven, source, name string) (uintptr, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if f, ok := k.byName[name]; ok {
		return f, nil
	}
	module, err := k.module(on, source, name)
	if err != nil {
		return 0, err
	}
	known := module != 0
	var f uintptr
	if known {
		if f, known, err = on.function(module, name); err != nil {
			return 0, err
		}
	}
	if !known {
		return 0, status.New(status.Unsupported, "GPUs have no %s yet", name)
	}
	k.byName[name] = f
	return f, nil
}

// module returns the module of a kernel, or 0 if there is none. The caller holds the lock.
func (k *kernels) module(on driven, source, name string) (uintptr, error) {
	if k.modules == nil {
		k.modules, k.byName = map[string]uintptr{}, map[string]uintptr{}
	}
	of := imageOf(on.architecture(), source, name)
	if m := k.modules[of.key]; m != 0 {
		return m, nil
	}
	code, err := of.read()
	if err != nil || code == nil {
		return 0, err
	}
	m, err := on.load(code)
	if err == nil {
		k.modules[of.key] = m
	}
	return m, err
}

const (
	blockThreads = 256
	mostBlocks   = 4096 // of them: each thread takes as many elements as it has to
)

// carriers are the types as which elements are moved, by their bytes.
var carriers = map[int]dtype.Type{1: dtype.Uint8, 2: dtype.Uint16, 4: dtype.Uint32, 8: dtype.Uint64, 16: dtype.Complex128}

// word is an address as kernels take it.
func word(at unsafe.Pointer) uint64 { return uint64(uintptr(at)) }

// each queues a kernel that takes any number of threads for so many elements.
func (q *queue) each(f uintptr, n int, words ...uint64) error {
	return q.on.launch(q.stream, f, min((n+blockThreads-1)/blockThreads, mostBlocks), blockThreads, words)
}
