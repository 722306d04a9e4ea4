//go:build cpython

package embedtest

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	_ "dtl/backends/cpu"
	"dtl/core/container"
	"dtl/core/dtype"
	dtl "dtl/core/runtime"
)

// TestMain keeps the interpreter on one thread. Python's own sys.path finds NumPy through PYTHONPATH, which
// `make test` sets.
func TestMain(m *testing.M) {
	runtime.LockOSThread()
	os.Exit(m.Run())
}

// TestViewsShareMemory runs everything that needs the interpreter: it is one a process, on one thread.
func TestViewsShareMemory(t *testing.T) {
	runtime.LockOSThread()
	require.NoError(t, Start())
	defer Stop()
	require.NoError(t, Run(`
import gc, numpy as np, _bridge
_bridge.setup(np.zeros((2, 3)), np.generic, RuntimeError, lambda: "somewhere", lambda code, line: "", None)
class Native(_bridge.Handle):
    pass
def view(handle):
    native = Native()
    native._handle = handle
    return np.asarray(_bridge.call(_bridge.VIEW, native, None, None, 0, 0, 0, 0))
`))
	for _, elementType := range dtype.All() {
		t.Run(elementType.String(), func(t *testing.T) { checkView(t, elementType) })
	}
	t.Run("stale handle", func(t *testing.T) {
		assert.NoError(t, Run(`
try:
    view(0)
except RuntimeError as error:
    assert str(error).startswith("[102 "), error
else:
    raise AssertionError("a view of no vector")
`))
	})
}

func checkView(t *testing.T, elementType dtype.Type) {
	self, err := dtl.Self()
	require.NoError(t, err)
	before, _ := self.Memory().InUse()
	v, err := container.New(self, container.Spec{Family: "vector", Shape: []int64{5}, Type: elementType})
	require.NoError(t, err)
	h := container.Containers.Put(v)
	own, err := v.View()
	require.NoError(t, err)
	require.NoError(t, Run(fmt.Sprintf(`
a = view(%d)
assert a.dtype == np.dtype(%q) and a.shape == (5,) and a.flags.writeable and a.flags.c_contiguous
address = a.__array_interface__["data"][0]
a[...] = [0, 1, 1, 0, 1]
`, h, elementType)))
	address, err := Int("address")
	require.NoError(t, err)
	assert.Equal(t, int64(uintptr(own.Addr)), address, "the array lies where the vector's elements lie")
	bytes := unsafe.Slice((*byte)(own.Addr), own.Bytes())
	assert.NotEqual(t, make([]byte, len(bytes)), bytes, "Go sees what Python wrote")
	clear(bytes)
	require.NoError(t, Run("assert not a.any(), a"), "Python sees what Go wrote")

	own.Storage.Release()
	require.NoError(t, container.Containers.Close(h))
	assert.Equal(t, int64(1), own.Storage.Users(), "the array alone keeps the memory")
	require.NoError(t, Run("a[2:4] = 1\nb = a[2:]\ndel a\nassert b.sum() == 2"))
	assert.Equal(t, int64(1), own.Storage.Users(), "so does a slice of it")
	require.NoError(t, Run("del b\ngc.collect()"))
	assert.Zero(t, own.Storage.Users())
	after, _ := self.Memory().InUse()
	assert.Equal(t, before, after, "bytes in use")
	require.NoError(t, self.Close())
}
