package reduce_test

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"

	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/kernel/reduce"
	"dtl/core/memory"
)

func TestSumsByALoopThatIsLent(t *testing.T) {
	calls := 0
	reduce.SetSum(dtype.Float64, func(dst, src unsafe.Pointer, n int) {
		calls++
		d, s := unsafe.Slice((*float64)(dst), n), unsafe.Slice((*float64)(src), n)
		for i := range d {
			d[i] += s[i]
		}
	})
	defer reduce.SetSum(dtype.Float64, nil)
	for _, n := range []int{0, 1, 255, 256, 1001} {
		dst, src := make([]float64, n), make([]float64, n)
		for i := range dst {
			dst[i], src[i] = float64(i), float64(2*i)
		}
		a, b := memory.Of(dtype.Float64, dst), memory.Of(dtype.Float64, src)
		assert.NoError(t, reduce.Accumulate(a, b, kernel.Sum))
		for i, v := range dst {
			assert.Equal(t, float64(3*i), v)
		}
		assert.NoError(t, reduce.Accumulate(a, b, kernel.Max))
	}
	assert.Equal(t, 2, calls, "few elements, and other operators, are not its affair")
	whole := make([]int64, 1000)
	run := memory.Of(dtype.Int64, whole)
	assert.NoError(t, reduce.Accumulate(run, run, kernel.Sum))
	assert.Equal(t, 2, calls, "nor are other types")
}
