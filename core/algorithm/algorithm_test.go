package algorithm_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/core/algorithm"
	"dtl/core/comm"
	"dtl/core/container"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/partition"
	"dtl/core/runtime"
	"dtl/core/status"
)

func TestRanksShareWhatTheyFound(t *testing.T) {
	everyDivision(t, func(t *testing.T, on *runtime.Context, size int64, d container.Division) {
		v := vector(t, on, dtype.Int64, size, d, func(global int64) int64 { return global })
		all, err := algorithm.Share(v, comm.Call{Op: "count"}, func(p container.Part) (found comm.Shared, err error) {
			p.Runs(func(run memory.Span) bool {
				for _, x := range memory.As[int64](run) {
					found[0]++
					found[1] += x
				}
				return true
			})
			return found, nil
		})
		assert.NoError(t, err)
		count, sum := int64(0), int64(0)
		for _, found := range all {
			count += found[0]
			sum += found[1]
		}
		times := int64(1)
		if d.Kind == partition.KindReplicated {
			times = int64(on.Size())
		}
		assert.Equal(t, times*size, count)
		assert.Equal(t, times*size*(size-1)/2, sum)
		assert.NoError(t, v.Close())
	})
}

func TestOneRankThatCannotIsAnErrorOnAll(t *testing.T) {
	onRanks(t, 3, func(on *runtime.Context) {
		v := vector(t, on, dtype.Int64, 10, container.Division{}, func(global int64) int64 { return global })
		_, err := algorithm.Share(v, comm.Call{Op: "count"}, func(container.Part) (comm.Shared, error) {
			if on.Rank() == 1 {
				return comm.Shared{}, status.New(status.InvalidArgument, "rank 1 has a reason")
			}
			return comm.Shared{}, nil
		})
		assert.ErrorContains(t, err, "rank 1 has a reason")
		_, err = algorithm.Share(v, comm.Call{Op: []string{"count", "find", "count"}[on.Rank()]}, nothing)
		assert.ErrorIs(t, err, status.Mismatch)
		assert.ErrorContains(t, err, "find")
		assert.NoError(t, v.Close())
	})
}

func nothing(container.Part) (comm.Shared, error) { return comm.Shared{}, nil }
