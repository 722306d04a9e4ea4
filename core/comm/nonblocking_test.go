package comm_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
)

// begun unwraps what starts a request.
func begun(t *testing.T) func(r *comm.Request, err error) *comm.Request {
	return func(r *comm.Request, err error) *comm.Request {
		t.Helper()
		assert.NoError(t, err)
		return r
	}
}

func floats(elements []float64) memory.Span { return memory.Of(dtype.Float64, elements) }

// summed is what allreduce makes of every rank's ramp.
func summed(n, count int) []float64 {
	s := make([]float64, count)
	for rank := range n {
		for i, v := range ramp(rank, count) {
			s[i] += v
		}
	}
	return s
}

// inFlight are requests that have been started, and what is to hold when each is over.
type inFlight struct {
	t        *testing.T
	c        *comm.Comm
	requests []*comm.Request
	checks   []func(result []float64)
}

func (f *inFlight) add(r *comm.Request, err error, check func(result []float64)) {
	if assert.NoError(f.t, err) {
		f.requests, f.checks = append(f.requests, r), append(f.checks, check)
	}
}

// reduce starts reductions of count elements, one of them in place.
func (f *inFlight) reduce(count int) {
	want, out, inPlace := summed(f.c.Size(), count), make([]float64, count), ramp(f.c.Rank(), count)
	r, err := f.c.Iallreduce(floats(ramp(f.c.Rank(), count)), floats(out), kernel.Sum)
	f.add(r, err, func([]float64) { sameElements(f.t, want, out) })
	r, err = f.c.Iallreduce(floats(inPlace), floats(inPlace), kernel.Sum)
	f.add(r, err, func([]float64) { sameElements(f.t, want, inPlace) })
}

// collect starts what brings count elements of every rank together.
func (f *inFlight) collect(count, root int) {
	every := []float64{}
	for rank := range f.c.Size() {
		every = append(every, ramp(rank, count)...)
	}
	all, gathered := make([]float64, len(every)), make([]float64, len(every))
	r, err := f.c.Iallgather(floats(ramp(f.c.Rank(), count)), floats(all))
	f.add(r, err, func([]float64) { sameElements(f.t, every, all) })
	r, err = f.c.Igather(floats(ramp(f.c.Rank(), count)), floats(gathered), int64(root))
	f.add(r, err, func([]float64) {
		if f.c.Rank() == root {
			sameElements(f.t, every, gathered)
		}
	})
}

func (f *inFlight) broadcast(count, root int) {
	var value *comm.Array
	if f.c.Rank() == root {
		a := array(ramp(7, count), 1, int64(count))
		value = &a
	}
	r, err := f.c.Ibroadcast(value, nil, int64(root))
	f.add(r, err, func(result []float64) {
		if f.c.Rank() != root {
			sameElements(f.t, ramp(7, count), append([]float64{}, result...))
		}
	})
}

// exchange starts an exchange of rows that only this one has: those from a rank to another are serial, from and to.
func (f *inFlight) exchange(serial int, counts func(from, to int) int) {
	rows := func(of func(rank int) (from, to int)) (elements []float64, each []int64) {
		each = make([]int64, f.c.Size())
		for rank := range each {
			from, to := of(rank)
			each[rank] = int64(counts(from, to))
			elements = append(elements, slices.Repeat([]float64{float64(serial), float64(from), float64(to)}, counts(from, to))...)
		}
		return elements, each
	}
	mine, sends := rows(func(to int) (int, int) { return f.c.Rank(), to })
	want, _ := rows(func(from int) (int, int) { return from, f.c.Rank() })
	r, err := f.c.Ialltoallv(array(mine, int64(len(mine)/3), 3), sends, nil, nil)
	f.add(r, err, func(result []float64) {
		sameElements(f.t, append([]float64{}, want...), append([]float64{}, result...))
	})
}

// finish ends all requests in an order of this rank's own: waiting for one, or for any, or testing some until they are over.
func (f *inFlight) finish(random *rand.Rand) {
	left := random.Perm(len(f.requests))
	for len(left) > 0 {
		k, pick := 0, random.IntN(3)
		if pick == 0 {
			under := make([]*comm.Request, len(left))
			for at, i := range left {
				under[at] = f.requests[i]
			}
			var err error
			k, err = f.c.WaitAny(under)
			assert.NoError(f.t, err)
		} else if pick == 1 {
			for _, i := range left[:len(left)/2] {
				f.requests[i].Test()
			}
		}
		i := left[k]
		f.checks[i](done(f.t, f.requests[i]))
		left = slices.Delete(left, k, k+1)
	}
	f.requests, f.checks = nil, nil
}

// TestRandomRequestsInAnyOrder starts what takes several messages, of any lengths, beside calls that block, and ends it in an
// order of each rank's own.
func TestRandomRequestsInAnyOrder(t *testing.T) {
	upTo5(t, func(c *comm.Comm) {
		alike, own := rand.New(rand.NewPCG(3, 4)), rand.New(rand.NewPCG(5, uint64(c.Rank())))
		next, previous := neighbours(c)
		f := &inFlight{t: t, c: c}
		for range 3 {
			for serial := range 12 {
				count := lengths[alike.IntN(len(lengths))] * alike.IntN(3) / 2
				switch seed := alike.Uint64(); seed % 6 {
				default:
					f.exchange(serial, func(from, to int) int {
						return int((seed>>8 + uint64(from*7+to*3)) % 4 * uint64(count) / 4)
					})
				case 3:
					f.broadcast(count, int(seed>>8)%c.Size())
				case 4:
					r, err := c.Irecv(nil, comm.Expected{}, previous, 5)
					f.add(r, err, func(got []float64) { sameElements(f.t, ramp(int(previous), count), append([]float64{}, got...)) })
					r, err = c.Isend(array(ramp(c.Rank(), count)), next, 5)
					f.add(r, err, func([]float64) {})
				case 5:
					f.reduce(count)
					assert.NoError(t, c.Barrier())
				}
				if len(f.requests) > 0 && own.IntN(2) == 0 {
					f.requests[own.IntN(len(f.requests))].Test()
				}
			}
			f.finish(own)
		}
		assert.Zero(t, c.Active())
	})
}

// TestSeveralCollectivesInFlight starts all kinds, and waits in an order of each rank's own.
func TestSeveralCollectivesInFlight(t *testing.T) {
	upTo5(t, func(c *comm.Comm) {
		random := rand.New(rand.NewPCG(1, uint64(c.Rank())))
		f := &inFlight{t: t, c: c}
		for _, count := range lengths {
			root := count % c.Size()
			f.reduce(count)
			f.collect(count, root)
			f.broadcast(count, root)
			r, err := c.Ibarrier()
			f.add(r, err, func([]float64) {})
		}
		assert.NoError(t, c.Barrier(), "beside a call that blocks")
		for _, i := range random.Perm(len(f.requests)) {
			f.checks[i](done(t, f.requests[i]))
		}
		assert.Zero(t, c.Active())
	})
}

func TestIalltoallv(t *testing.T) {
	upTo5(t, func(c *comm.Comm) {
		n := c.Size()
		for _, scale := range []int{0, 1, 7000} {
			counts := make([]int64, n) // rank r sends r+to rows of two elements to rank to
			var rows []float64
			for to := range counts {
				counts[to] = int64(scale * (c.Rank() + to))
				for range counts[to] {
					rows = append(rows, float64(c.Rank()), float64(to))
				}
			}
			value := array(rows, int64(len(rows)/2), 2)
			var want []float64
			expected := make([]int64, n)
			for from := range n {
				expected[from] = int64(scale * (from + c.Rank()))
				for range expected[from] {
					want = append(want, float64(from), float64(c.Rank()))
				}
			}
			into := make([]float64, len(want))
			out := array(into, int64(len(want)/2), 2)
			first := begun(t)(c.Ialltoallv(value, counts, nil, nil))
			second := begun(t)(c.Ialltoallv(value, counts, expected, &out))
			done(t, second)
			sameElements(t, append([]float64{}, want...), append([]float64{}, into...))
			sameElements(t, append([]float64{}, want...), append([]float64{}, done(t, first)...))
		}
	})
}

func TestIalltoallvThatDoesNotFit(t *testing.T) {
	onRanks(t, 3, func(c *comm.Comm) {
		value := array(ramp(0, 6))
		counts := []int64{2, 2, 2}
		short := array(make([]float64, 5))
		for _, row := range []struct {
			expected []int64
			out      *comm.Array
			text     string
		}{{[]int64{2, 2, 1}, nil, "recv_counts [2 2 1], but the ranks send [2 2 2] rows"}, {nil, &short, "out has 5 elements"}} {
			var r *comm.Request
			if c.Rank() == 1 {
				r = begun(t)(c.Ialltoallv(value, counts, row.expected, row.out))
				_, err := r.Wait()
				assert.ErrorIs(t, err, status.InvalidArgument)
				assert.ErrorContains(t, err, row.text)
			} else {
				want := slices.Repeat(ramp(2*c.Rank(), 2), 3)
				assert.Equal(t, want, done(t, begun(t)(c.Ialltoallv(value, counts, nil, nil))))
			}
		}
	})
}

// TestCollectivesThatDisagree has ranks that share a board start what does not fit together: all get the error, and go on
// on a dup.
func TestCollectivesThatDisagree(t *testing.T) {
	type call = func(c *comm.Comm, buf, out memory.Span) (*comm.Request, error)
	sum := func(c *comm.Comm, buf, out memory.Span) (*comm.Request, error) {
		return c.Iallreduce(buf, out, kernel.Sum)
	}
	for name, row := range map[string]struct {
		call call
		text string
	}{
		"operation": {func(c *comm.Comm, buf, out memory.Span) (*comm.Request, error) { return c.Ibarrier() }, "called ibarrier()"},
		"count": {func(c *comm.Comm, buf, out memory.Span) (*comm.Request, error) {
			return c.Iallreduce(buf.Slice(0, 2), out.Slice(0, 2), kernel.Sum)
		}, "called iallreduce(2 elements of float64, SUM)"},
		"op": {func(c *comm.Comm, buf, out memory.Span) (*comm.Request, error) {
			return c.Iallreduce(buf, out, kernel.Max)
		},
			"called iallreduce(4 elements of float64, MAX)"},
		"argument": {func(c *comm.Comm, buf, out memory.Span) (*comm.Request, error) {
			return c.Iallreduce(buf, out.Slice(0, 1), kernel.Sum)
		}, "rank 2: out has 1 elements"},
	} {
		t.Run(name, func(t *testing.T) {
			meetingRanks(t, 3, func(c *comm.Comm) {
				other, err := c.Dup()
				assert.NoError(t, err)
				buf, out := make([]float64, 4), make([]float64, 4)
				mine := sum
				if c.Rank() == 2 {
					mine = row.call
				}
				r, err := mine(c, floats(buf), floats(out))
				if err == nil {
					_, err = r.Wait()
				}
				assert.Error(t, err)
				if c.Rank() < 2 || name != "argument" {
					assert.ErrorContains(t, err, row.text)
				}
				assert.NoError(t, c.Barrier())
				if r, err := c.Ibarrier(); err == nil { // where nobody had started anything
					done(t, r)
				} else {
					assert.ErrorContains(t, err, "out of step")
				}
				assert.Zero(t, c.Active())
				done(t, begun(t)(other.Iallreduce(floats(buf), floats(out), kernel.Sum)))
				assert.NoError(t, other.Close())
			})
		})
	}
}

// TestCollectivesThatAllRefuse: where nobody has started anything, nobody is out of step.
func TestCollectivesThatAllRefuse(t *testing.T) {
	meetingRanks(t, 3, func(c *comm.Comm) {
		for range 20 {
			_, err := c.Iallreduce(floats(make([]float64, 4)), floats(make([]float64, 3)), kernel.Sum)
			assert.ErrorIs(t, err, status.InvalidArgument)
		}
		if r, err := c.Ibarrier(); assert.NoError(t, err) {
			done(t, r)
		}
	})
}
