package hashmap_test

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dtl/backends/cpu"
	"dtl/core/backend"
	"dtl/core/backend/backendtest"
	"dtl/core/comm"
	"dtl/core/container"
	"dtl/core/dtype"
	"dtl/core/hashmap"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/runtime"
	"dtl/core/status"
)

var int64s = hashmap.Key{Type: dtype.Int64, Bytes: 8}

// onRanks runs body as each of n ranks, and checks that no memory is left in use.
func onRanks(t *testing.T, n int, body func(on *runtime.Context)) {
	t.Helper()
	backendtest.OnRanks(t, cpu.Group(n), func(main backend.ReducingCommunicator, mem backend.MemorySpace) {
		on, err := runtime.New(backend.Local, main, mem, runtime.NoDevice)
		if assert.NoError(t, err) {
			body(on)
			assert.NoError(t, on.Close())
		}
	})
}

// withMap makes a map to int64 on n ranks.
func withMap(t *testing.T, n int, key hashmap.Key, body func(on *runtime.Context, m *hashmap.Map)) {
	t.Helper()
	onRanks(t, n, func(on *runtime.Context) {
		m, err := hashmap.New(on, key, dtype.Int64, container.OnHost)
		if assert.NoError(t, err) {
			body(on, m)
			assert.NoError(t, m.Close())
		}
	})
}

func of(s []int64) memory.Span { return memory.Of(dtype.Int64, s) }

// long keys are few in a round, so that a short list takes many.
var long = hashmap.Key{Bytes: 201}

// written returns numbers as keys of a width: the number comes last.
func written(numbers []int64, width int) memory.Span {
	keys := make([]byte, width*len(numbers))
	for i, n := range numbers {
		binary.LittleEndian.PutUint64(keys[(i+1)*width-8:], uint64(n))
	}
	return memory.Of(dtype.Uint8, keys)
}

// entries reads what LocalEntries and GlobalEntries return.
func entries(t *testing.T, width int, r comm.Result, err error) map[int64]int64 {
	require.NoError(t, err)
	defer r.Storage.Release()
	b := memory.As[uint8](r.Span)
	n := int(binary.LittleEndian.Uint64(b))
	read := map[int64]int64{}
	values := b[binary.LittleEndian.Uint64(b[8:]):]
	for i := range n {
		read[int64(binary.LittleEndian.Uint64(b[64+width*(i+1)-8:]))] = int64(binary.LittleEndian.Uint64(values[8*i:]))
	}
	require.Len(t, read, n)
	return read
}

// lists are the keys and values that each rank passes.
type lists struct{ keys, values [][]int64 }

func draw(random *rand.Rand, ranks, most int, different int64) lists {
	l := lists{make([][]int64, ranks), make([][]int64, ranks)}
	for rank := range ranks {
		for range random.IntN(most + 1) {
			l.keys[rank] = append(l.keys[rank], random.Int64N(different)-different/2)
			l.values[rank] = append(l.values[rank], random.Int64N(1000))
		}
	}
	return l
}

// each calls f with all ranks' keys and values in the order that the map promises.
func (l lists) each(f func(rank, i int, key, value int64)) {
	for rank, keys := range l.keys {
		for i, key := range keys {
			f(rank, i, key, l.values[rank][i])
		}
	}
}

// checkStep makes one random call on all ranks and on the model, and compares the answers. Every rank has a model and
// draws the same.
func checkStep(t *testing.T, random *rand.Rand, on *runtime.Context, m *hashmap.Map, want map[int64]int64, most int) {
	l := draw(random, on.Size(), most, 200)
	keys, values := l.keys[on.Rank()], l.values[on.Rank()]
	wantFound, found := make([]bool, len(keys)), make([]bool, len(keys))
	answer := func(rank, i int, ok bool) {
		if rank == on.Rank() {
			wantFound[i] = ok
		}
	}
	switch random.IntN(5) {
	case 0:
		l.each(func(_, _ int, k, v int64) { want[k] = v })
		assert.NoError(t, m.InsertMany(of(keys), of(values)))
	case 1:
		l.each(func(_, _ int, k, v int64) { want[k] += v })
		assert.NoError(t, m.UpdateMany(of(keys), of(values), int64(kernel.Sum)))
	case 2:
		got := make([]int64, len(keys))
		assert.NoError(t, m.FindMany(of(keys), of(got), memory.Of(dtype.Bool, found)))
		l.each(func(rank, i int, k, _ int64) {
			v, ok := want[k]
			answer(rank, i, ok)
			if rank == on.Rank() {
				assert.Equal(t, v, got[i])
			}
		})
	case 3:
		assert.NoError(t, m.ContainsMany(of(keys), memory.Of(dtype.Bool, found)))
		l.each(func(rank, i int, k, _ int64) { _, ok := want[k]; answer(rank, i, ok) })
	case 4:
		assert.NoError(t, m.EraseMany(of(keys), memory.Of(dtype.Bool, found)))
		l.each(func(rank, i int, k, _ int64) { _, ok := want[k]; answer(rank, i, ok) })
		l.each(func(_, _ int, k, _ int64) { delete(want, k) })
	}
	assert.Equal(t, wantFound, found)
	size, err := m.Len()
	assert.NoError(t, err)
	assert.Equal(t, int64(len(want)), size)
}

func TestMapAgainstMap(t *testing.T) {
	for _, n := range backendtest.Sizes(t, 7) {
		for _, most := range []int{1, 100} {
			t.Run(fmt.Sprintf("%d ranks, lists of %d", n, most), func(t *testing.T) {
				withMap(t, n, int64s, func(on *runtime.Context, m *hashmap.Map) {
					random, want := rand.New(rand.NewPCG(uint64(n), uint64(most))), map[int64]int64{}
					for range 40 {
						checkStep(t, random, on, m, want, most)
					}
					r, err := m.GlobalEntries()
					assert.Equal(t, want, entries(t, 8, r, err))
					size, err := m.Len()
					assert.NoError(t, err)
					assert.Equal(t, int64(len(want)), size)
				})
			})
		}
	}
}

func TestListsOfManyRounds(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5} {
		for _, different := range []int64{1, 5, 4000} { // with few, one range has more than a round takes
			t.Run(fmt.Sprintf("%d ranks, %d keys", n, different), func(t *testing.T) {
				withMap(t, n, long, func(on *runtime.Context, m *hashmap.Map) {
					random := rand.New(rand.NewPCG(uint64(n), uint64(different)))
					l, want := draw(random, n, 6000, different), map[int64]int64{}
					keys, values := written(l.keys[on.Rank()], long.Bytes), l.values[on.Rank()]
					l.each(func(_, _ int, k, v int64) { want[k] = v })
					assert.NoError(t, m.InsertMany(keys, of(values)))
					r, err := m.GlobalEntries()
					assert.Equal(t, want, entries(t, long.Bytes, r, err))

					l.each(func(_, _ int, k, v int64) { want[k] += v })
					assert.NoError(t, m.UpdateMany(keys, of(values), int64(kernel.Sum)))
					got, found := make([]int64, len(values)), make([]bool, len(values))
					assert.NoError(t, m.FindMany(keys, of(got), memory.Of(dtype.Bool, found)))
					for i, k := range l.keys[on.Rank()] {
						if want[k] != got[i] || !found[i] {
							t.Fatalf("key %d has %d, want %d", k, got[i], want[k])
						}
					}
					found = make([]bool, len(values))
					assert.NoError(t, m.EraseMany(keys, memory.Of(dtype.Bool, found)))
					assert.NotContains(t, found, false)
					size, err := m.Len()
					assert.NoError(t, err)
					assert.Zero(t, size)
				})
			})
		}
	}
}

func TestLocalEntriesAreAllOnce(t *testing.T) {
	var mu sync.Mutex
	all := map[int64]int64{}
	withMap(t, 5, int64s, func(on *runtime.Context, m *hashmap.Map) {
		keys := []int64{int64(on.Rank()), 100 + int64(on.Rank()), math.MinInt64}
		assert.NoError(t, m.InsertMany(of(keys), of([]int64{1, 2, int64(on.Rank())})))
		r, err := m.LocalEntries()
		mine := entries(t, 8, r, err)
		assert.Len(t, mine, int(m.LocalSize()))
		mu.Lock()
		defer mu.Unlock()
		for k := range mine {
			assert.NotContains(t, all, k)
		}
		maps.Copy(all, mine)
	})
	assert.Len(t, all, 11)
	assert.Equal(t, int64(4), all[math.MinInt64], "the highest rank's")
}

func TestFloatKeys(t *testing.T) {
	onRanks(t, 3, func(on *runtime.Context) {
		m, err := hashmap.New(on, hashmap.Key{Type: dtype.Float64, Bytes: 8}, dtype.Int8, container.OnHost)
		require.NoError(t, err)
		other := math.Float64frombits(0xfff8000000000123) // another NaN
		if on.Rank() == 0 {
			keys := memory.Of(dtype.Float64, []float64{math.Copysign(0, -1), math.NaN(), math.Inf(1)})
			assert.NoError(t, m.InsertMany(keys, memory.Of(dtype.Int8, []int8{1, 2, 3})))
		} else {
			assert.NoError(t, m.InsertMany(memory.Of(dtype.Float64, []float64{}), memory.Of(dtype.Int8, []int8{})))
		}
		values, found := make([]int8, 5), make([]bool, 5)
		keys := memory.Of(dtype.Float64, []float64{0, other, math.Inf(1), math.Inf(-1), math.Copysign(0, -1)})
		assert.NoError(t, m.FindMany(keys, memory.Of(dtype.Int8, values), memory.Of(dtype.Bool, found)))
		assert.Equal(t, []int8{1, 2, 3, 0, 1}, values)
		assert.Equal(t, []bool{true, true, true, false, true}, found)
		assert.NoError(t, m.Close())
	})
}

func TestClear(t *testing.T) {
	withMap(t, 4, int64s, func(on *runtime.Context, m *hashmap.Map) {
		for range 3 {
			keys := make([]int64, 1000)
			for i := range keys {
				keys[i] = int64(i*on.Size() + on.Rank())
			}
			assert.NoError(t, m.InsertMany(of(keys), of(keys)))
			assert.NoError(t, m.Sync("sync"))
			size, err := m.Len()
			assert.NoError(t, err)
			assert.Equal(t, int64(4000), size)
			assert.NoError(t, m.Clear())
			size, err = m.Len()
			assert.NoError(t, err)
			assert.Zero(t, size)
		}
	})
}

func TestWhatOneRankCannotDoNoneDoes(t *testing.T) {
	for n := 2; n <= 4; n++ {
		withMap(t, n, int64s, func(on *runtime.Context, m *hashmap.Map) {
			one, last := []int64{7}, on.Rank() == on.Size()-1
			found := make([]bool, 1)
			for _, row := range []struct {
				name string
				code status.Code
				good func() error
				bad  func() error
			}{
				{"values of another type", status.InvalidArgument,
					func() error { return m.InsertMany(of(one), of(one)) },
					func() error { return m.InsertMany(of(one), memory.Of(dtype.Float64, []float64{1})) }},
				{"fewer values", status.InvalidArgument,
					func() error { return m.InsertMany(of(one), of(one)) },
					func() error { return m.InsertMany(of([]int64{1, 2, 3}), of([]int64{1, 2})) }},
				{"keys cut short", status.InvalidArgument,
					func() error { return m.ContainsMany(of(one), memory.Of(dtype.Bool, found)) },
					func() error { return m.ContainsMany(memory.Of(dtype.Int8, []int8{1}), memory.Of(dtype.Bool, found)) }},
				{"another operator", status.Mismatch,
					func() error { return m.UpdateMany(of(one), of(one), int64(kernel.Sum)) },
					func() error { return m.UpdateMany(of(one), of(one), int64(kernel.Max)) }},
				{"another call", status.Mismatch,
					func() error { return m.InsertMany(of(one), of(one)) },
					func() error { return m.Clear() }},
			} {
				call := row.good
				if last {
					call = row.bad
				}
				assert.ErrorIs(t, call(), row.code, row.name)
				assert.Zero(t, m.LocalSize(), row.name)
			}
		})
	}
}

func TestMapsThatCannotBe(t *testing.T) {
	for _, row := range []struct {
		name  string
		key   hashmap.Key
		value dtype.Type
	}{
		{"no value type", int64s, dtype.Invalid},
		{"keys of bool", hashmap.Key{Type: dtype.Bool, Bytes: 1}, dtype.Int8},
		{"keys of complex64", hashmap.Key{Type: dtype.Complex64, Bytes: 8}, dtype.Int8},
		{"keys of float32", hashmap.Key{Type: dtype.Float32, Bytes: 4}, dtype.Int8},
		{"keys without bytes", hashmap.Key{}, dtype.Int8},
		{"keys too long", hashmap.Key{Bytes: 1<<20 + 1}, dtype.Int8},
		{"keys of half an int", hashmap.Key{Type: dtype.Int64, Bytes: 4}, dtype.Int8},
	} {
		onRanks(t, 2, func(on *runtime.Context) {
			_, err := hashmap.New(on, row.key, row.value, container.OnHost)
			assert.ErrorIs(t, err, status.InvalidArgument, row.name)
		})
	}
	onRanks(t, 3, func(on *runtime.Context) {
		value := []dtype.Type{dtype.Int64, dtype.Float64, dtype.Int64}[on.Rank()]
		_, err := hashmap.New(on, int64s, value, container.OnHost)
		assert.ErrorIs(t, err, status.Mismatch)
		assert.ErrorContains(t, err, "rank 1 called map(keys of int64, values of float64)")
	})
}

func TestClosedMap(t *testing.T) {
	withMap(t, 1, int64s, func(on *runtime.Context, m *hashmap.Map) {
		assert.NoError(t, m.Close())
		assert.ErrorIs(t, m.InsertMany(of(nil), of(nil)), status.InvalidHandle)
		assert.ErrorIs(t, m.Clear(), status.InvalidHandle)
		_, err := m.Len()
		assert.ErrorIs(t, err, status.InvalidHandle)
		_, err = m.LocalEntries()
		assert.ErrorIs(t, err, status.InvalidHandle)
		_, err = m.GlobalEntries()
		assert.ErrorIs(t, err, status.InvalidHandle)
		assert.Zero(t, m.LocalSize())
	})
}

func BenchmarkMap(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000, 10_000_000} {
		for _, ranks := range []int{1, 2} {
			b.Run(fmt.Sprintf("%d keys on %d ranks", n, ranks), func(b *testing.B) {
				benchmark(b, n, ranks)
			})
		}
	}
}

func benchmark(b *testing.B, n, ranks int) {
	mem := cpu.NewHost()
	var all sync.WaitGroup
	for _, rank := range cpu.Group(ranks) {
		all.Go(func() {
			on, _ := runtime.New(backend.Local, rank, mem, runtime.NoDevice)
			keys, values, found := make([]int64, n/ranks), make([]int64, n/ranks), make([]bool, n/ranks)
			for i := range keys {
				keys[i] = int64(i*ranks+on.Rank()) * 7919
			}
			for range b.N {
				m, _ := hashmap.New(on, int64s, dtype.Int64, container.OnHost)
				_ = m.InsertMany(of(keys), of(keys))
				_ = m.FindMany(of(keys), of(values), memory.Of(dtype.Bool, found))
				_ = m.Close()
			}
			_ = on.Close()
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/key")
}
