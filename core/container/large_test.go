package container_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/core/container"
	"dtl/core/dtype"
	"dtl/core/partition"
	"dtl/core/runtime"
	"dtl/core/status"
)

// TestHashOfTooMuch would take an hour if each index were hashed before the memory is asked for.
func TestHashOfTooMuch(t *testing.T) {
	onRanks(t, 2, func(on *runtime.Context) {
		spec := container.Spec{Family: "vector", Shape: []int64{1 << 45}, Type: dtype.Float64}
		spec.Kind = partition.KindHash
		_, err := container.New(on, spec)
		assert.ErrorIs(t, err, status.OutOfMemory)
		v := made(t, on, 10, spec.Division)
		assert.ErrorIs(t, v.Resize(1<<45), status.OutOfMemory)
		assert.NoError(t, v.Close())
	})
}
