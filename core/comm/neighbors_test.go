package comm_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/core/backend"
	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/status"
	"dtl/core/topology"
)

// doubled is a ring on which every rank has two edges to the next, and one to itself between them.
func doubled(c *comm.Comm) comm.Neighbors {
	n := int64(c.Size())
	before, me, behind := (int64(c.Rank())+n-1)%n, int64(c.Rank()), (int64(c.Rank())+1)%n
	return comm.Neighbors{Sources: []int64{before, me, before}, Dests: []int64{behind, me, behind}}
}

func TestNeighborsOnARingOfTwoEdges(t *testing.T) {
	everyGroup(t, func(t *testing.T, n int) {
		onRanks(t, n, func(c *comm.Comm) {
			ring := doubled(c)
			assert.NoError(t, c.Connect(ring))
			before, me := float64(ring.Sources[0]), float64(c.Rank())
			recv := make([]float64, 3)
			assert.NoError(t, c.NeighborAllgather(array([]float64{me}, 1), ring, memory.Of(dtype.Float64, recv)))
			assert.Equal(t, []float64{before, me, before}, recv)
			send := []float64{10 * me, 10*me + 1, 10*me + 2}
			assert.NoError(t, c.NeighborAlltoall(array(send, 3), ring, memory.Of(dtype.Float64, recv)))
			assert.Equal(t, []float64{10 * before, 10*me + 1, 10*before + 2}, recv)
			if n == 1 { // the edges are in order, and all are the rank's own
				assert.Equal(t, send, recv)
			}
			assert.NoError(t, c.NeighborAlltoall(array(send, 3), ring, memory.Of(dtype.Float64, send)), "in place")
			assert.Equal(t, recv, send)
		})
	})
}

func TestNeighborAlltoallv(t *testing.T) {
	everyGroup(t, func(t *testing.T, n int) {
		onRanks(t, n, func(c *comm.Comm) {
			ring := doubled(c)
			before, me := ring.Sources[0], int64(c.Rank())
			rows := func(rank, k int64) int64 { return (rank + k) % 3 }
			var counts, want []int64
			var send, expected []float64
			for k := range int64(3) {
				counts = append(counts, rows(me, k))
				send = append(send, ramp(int(100*me+10*k), int(rows(me, k)))...)
				source := []int64{before, me, before}[k]
				want = append(want, rows(source, k))
				expected = append(expected, ramp(int(100*source+10*k), int(rows(source, k)))...)
			}
			for _, known := range [][]int64{nil, want} {
				r, err := c.NeighborAlltoallv(array(send, int64(len(send))), ring, counts, known, nil)
				assert.NoError(t, err)
				sameElements(t, append([]float64{}, expected...), elements(r))
			}
			_, err := c.NeighborAlltoallv(array(send, int64(len(send))), ring, counts, []int64{9, 9, 9}, nil)
			assert.ErrorIs(t, err, status.InvalidArgument)
			assert.ErrorContains(t, err, "recv_counts [9 9 9], but the neighbours send")
			wrong := array(make([]float64, 99))
			_, err = c.NeighborAlltoallv(array(send, int64(len(send))), ring, counts, nil, &wrong)
			assert.ErrorContains(t, err, "out has 99 elements")
			_, err = c.NeighborAlltoallv(array(send, int64(len(send))), ring, []int64{1, 2}, nil, nil)
			assert.ErrorContains(t, err, "send_counts has 2 entries for 3 destinations")
		})
	})
}

// TestGridNeighbors compares with what the neighbour in each direction sends the other way, also along periods of one and
// two ranks, where both neighbours are the same.
func TestGridNeighbors(t *testing.T) {
	everyGroup(t, func(t *testing.T, n int) {
		for _, row := range []struct {
			dims    []int64
			periods []bool
		}{{[]int64{0}, []bool{true}}, {[]int64{0}, []bool{false}}, {[]int64{0, 0}, []bool{true, true}}, {[]int64{1, 0, 1}, []bool{true, false, true}}} {
			g, err := topology.NewCart(n, row.dims, row.periods)
			assert.NoError(t, err)
			onRanks(t, n, func(c *comm.Comm) {
				near, err := g.Neighbors(int64(c.Rank()))
				assert.NoError(t, err)
				edges := comm.Neighbors{Sources: near, Dests: near, Crosswise: true}
				send, recv, want := make([]float64, len(near)), make([]float64, len(near)), make([]float64, len(near))
				for k, rank := range near {
					send[k], recv[k] = float64(100*c.Rank()+k), -1
					if want[k] = -1; rank != backend.ProcNull {
						want[k] = float64(100*rank + int64(k^1))
					}
				}
				assert.NoError(t, c.NeighborAlltoall(array(send, int64(len(send))), edges, memory.Of(dtype.Float64, recv)))
				assert.Equal(t, want, recv, "%v %v", g.Dims, row.periods)
				kept := slices.Clone(send)
				assert.NoError(t, c.NeighborAlltoall(array(send, int64(len(send))), edges, memory.Of(dtype.Float64, send)))
				for k, rank := range near {
					if rank == backend.ProcNull {
						want[k] = kept[k]
					}
				}
				assert.Equal(t, want, send, "in place")
			})
		}
	})
}

// TestNeighborRefusals has one rank pass what it must not: every rank gets an error, and the next call works.
func TestNeighborRefusals(t *testing.T) {
	onRanks(t, 3, func(c *comm.Comm) {
		ring := doubled(c)
		me := int64(c.Rank())
		for _, row := range []struct {
			name string
			of   comm.Neighbors // on rank 1
			code status.Code
			text string
		}{
			{"an edge that the other end does not know", comm.Neighbors{Sources: ring.Sources, Dests: append(ring.Dests, 0)}, status.InvalidArgument,
				"rank 1 has 1 edge to rank 0, which has it 0 times among its sources"},
			{"an edge less", comm.Neighbors{Sources: ring.Sources[:2], Dests: ring.Dests}, status.InvalidArgument, "rank 0 has 2 edges to rank 1, which has it 1 time"},
			{"no rank", comm.Neighbors{Sources: []int64{3}}, status.OutOfBounds, "source 3 outside [0, 3)"},
			{"nobody", comm.Neighbors{Dests: []int64{backend.ProcNull}}, status.OutOfBounds, "destination -2 outside [0, 3)"},
		} {
			mine := ring
			if me == 1 {
				mine = row.of
			}
			err := c.Connect(mine)
			assert.ErrorIs(t, err, row.code, row.name)
			assert.ErrorContains(t, err, row.text, row.name)
		}
	})
}

// TestNeighborCallRefusals does so in the exchanges.
func TestNeighborCallRefusals(t *testing.T) {
	onRanks(t, 3, func(c *comm.Comm) {
		ring, me := doubled(c), c.Rank()
		value, recv := array([]float64{1}, 1), memory.Of(dtype.Float64, make([]float64, 3))
		bad := ring
		if me == 1 {
			bad.Sources = []int64{0, 1, 7}
		}
		assert.ErrorIs(t, c.NeighborAllgather(value, bad, recv), status.OutOfBounds)
		bad = ring
		if me == 1 {
			bad.Sources = []int64{0, 0, 0}
		}
		assert.ErrorContains(t, c.NeighborAllgather(value, bad, recv), "among its own sources")
		bad = ring
		if me == 1 {
			bad.Serial = 5
		}
		assert.ErrorIs(t, c.NeighborAllgather(value, bad, recv), status.Mismatch)
		short := recv
		if me == 2 {
			short.Count = 2
		}
		assert.ErrorContains(t, c.NeighborAllgather(value, ring, short), "out has 2 elements")
		if me == 0 {
			value, short = array([]float64{1, 2}, 2), memory.Of(dtype.Float64, make([]float64, 6))
		} else {
			short = recv
		}
		assert.ErrorIs(t, c.NeighborAllgather(value, ring, short), status.Mismatch)
		assert.ErrorContains(t, c.NeighborAlltoall(array([]float64{1, 2}, 2), ring, recv), "one entry along the first dimension for each of 3 destinations")
		assert.NoError(t, c.NeighborAlltoall(array([]float64{1, 2, 3}, 3), ring, recv))
	})
}
