package container

import (
	"fmt"
	"math"
	"strings"

	"dtl/core/comm"
	"dtl/core/comm/wire"
	"dtl/core/dtype"
	"dtl/core/partition"
	"dtl/core/status"
)

// Spec says what container to make. All ranks pass the same.
type Spec struct {
	Family string // "vector", "array" or "tensor", for errors
	Op     string // the call that makes it, where that is not the family's
	Shape  []int64
	Type   dtype.Type
	Division
	Placement Placement
	Blank     bool    // the elements are anything: for a caller that writes all of them before anyone else sees them
	Same      []int64 // what else all ranks pass alike
	Words     string  // and as words, which an error shows
}

// Division says how to divide.
type Division struct {
	Kind  partition.Kind // of the first dimension, the others not being divided
	Block int64          // of KindBlockCyclic
	Sizes []int64        // of KindExplicit: of each rank
	Grid  []int64        // by blocks, over these extents of a grid of ranks; nil: the first dimension over all ranks
}

// layout divides a shape among ranks.
func (v Division) layout(shape []int64, ranks int) (partition.Layout, error) {
	if len(shape) == 0 || len(shape) > wire.MaxDims {
		return partition.Layout{}, status.New(status.InvalidArgument, "shape has %d dimensions; it must have 1 to %d",
			len(shape), wire.MaxDims)
	}
	if err := v.checkGrid(len(shape), ranks); err != nil {
		return partition.Layout{}, err
	}
	dims := make([]partition.Partition, len(shape))
	for d, n := range shape {
		var err error
		if d == 0 && v.Kind != partition.KindBlock {
			dims[d], err = v.first(n, ranks)
		} else {
			dims[d], err = partition.NewBlock(n, v.axis(d, ranks))
		}
		if err != nil {
			return partition.Layout{}, err
		}
	}
	return partition.NewLayout(dims...)
}

// axis returns the extent of the grid of ranks along a dimension.
func (v Division) axis(d, ranks int) int {
	switch {
	case d < len(v.Grid):
		return int(v.Grid[d])
	case d == 0 && v.Grid == nil:
		return ranks
	}
	return 1
}

// checkGrid refuses a grid that does not go with dimensions and ranks.
func (v Division) checkGrid(dims, ranks int) error {
	if v.Grid == nil {
		return nil
	}
	if v.Kind != partition.KindBlock {
		return status.New(status.InvalidArgument, "a grid divides by blocks; other partitions divide the first dimension alone")
	}
	if len(v.Grid) > dims {
		return status.New(status.InvalidArgument, "grid %v has %d axes for %d dimensions", v.Grid, len(v.Grid), dims)
	}
	left := int64(ranks)
	for _, n := range v.Grid {
		if n < 1 {
			return status.New(status.InvalidArgument, "grid %v has an axis of %d; each must have at least 1", v.Grid, n)
		}
		if left%n != 0 {
			left = 0
			break
		}
		left /= n
	}
	if left != 1 {
		return status.New(status.InvalidArgument, "grid %v does not multiply to the %d ranks", v.Grid, ranks)
	}
	return nil
}

// first divides the first dimension by what is not by equal blocks.
func (v Division) first(n int64, ranks int) (partition.Partition, error) {
	switch v.Kind {
	case partition.KindCyclic:
		return partition.NewCyclic(n, ranks)
	case partition.KindBlockCyclic:
		return partition.NewBlockCyclic(n, ranks, v.Block)
	case partition.KindHash:
		return partition.NewHash(n, ranks)
	case partition.KindReplicated:
		return partition.NewReplicated(n, ranks)
	case partition.KindExplicit:
		return v.explicit(n, ranks)
	}
	return nil, status.New(status.InvalidArgument, "partition number %d does not exist", v.Kind)
}

func (v Division) explicit(n int64, ranks int) (partition.Partition, error) {
	if len(v.Sizes) != ranks {
		return nil, status.New(status.InvalidArgument, "%d local sizes were given for %d ranks", len(v.Sizes), ranks)
	}
	p, err := partition.NewExplicit(v.Sizes)
	if err != nil {
		return nil, err
	}
	if p.GlobalSize() != n {
		return nil, status.New(status.InvalidArgument, "the local sizes add up to %d, not to the size %d", p.GlobalSize(), n)
	}
	return p, nil
}

// same returns what all ranks must pass alike.
func (v Division) same() []int64 {
	all := []int64{int64(v.Kind), v.Block, int64(len(v.Sizes))}
	return append(append(all, v.Sizes...), v.Grid...)
}

var kindNames = [...]string{"BLOCK", "CYCLIC", "BLOCK_CYCLIC", "HASH", "REPLICATED", "EXPLICIT"}

// String describes the division for an error.
func (v Division) String() string {
	switch {
	case v.Grid != nil:
		return "grid " + tuple(v.Grid)
	case int(v.Kind) >= len(kindNames):
		return fmt.Sprint("partition ", uint8(v.Kind))
	case v.Kind == partition.KindBlockCyclic:
		return fmt.Sprint("partition BLOCK_CYCLIC, block_size ", v.Block)
	case v.Kind == partition.KindExplicit:
		return "local sizes " + tuple(v.Sizes)
	}
	return "partition " + kindNames[v.Kind]
}

// tuple spells numbers as Python does, and cuts a long list short.
func tuple(numbers []int64) string {
	texts := make([]string, 0, len(numbers))
	for i, n := range numbers {
		if i == 16 {
			texts = append(texts, "…")
			break
		}
		texts = append(texts, fmt.Sprint(n))
	}
	if len(texts) == 1 {
		return "(" + texts[0] + ",)"
	}
	return "(" + strings.Join(texts, ", ") + ")"
}

// Name returns what users know the call as that makes the container.
func (s *Spec) Name() string {
	if s.Op != "" {
		return s.Op
	}
	return s.Family
}

// call is the spec as the ranks agree on it.
func (s *Spec) call() comm.Call {
	same := append([]int64{int64(s.Type), int64(s.Placement), int64(len(s.Shape))}, s.Shape...)
	same = append(append(same, s.same()...), s.Same...)
	return comm.Call{
		Op:   s.Name(),
		Same: append(same, int64(wire.Hash(s.Words))),
		Text: func() string {
			size := "shape " + tuple(s.Shape)
			if s.Family != "tensor" && len(s.Shape) == 1 {
				size = fmt.Sprint("size ", s.Shape[0])
			}
			text := fmt.Sprintf("%s, dtype %s, %s", size, s.Type, s.Division)
			if s.Placement != OnHost {
				text += ", placement " + s.Placement.String()
			}
			if s.Words != "" {
				text += ", " + s.Words
			}
			return text
		},
	}
}

// bytesOf returns the bytes of n elements, or an error where no address reaches as far.
func bytesOf(n int64, t dtype.Type) (int, error) {
	if n > math.MaxInt64/int64(t.Size()) {
		return 0, status.New(status.OutOfMemory, "%d elements of %s are more bytes than an address has", n, t)
	}
	return int(n) * t.Size(), nil
}
