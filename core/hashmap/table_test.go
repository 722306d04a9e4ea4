package hashmap_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dtl/backends/cpu"
	"dtl/core/dtype"
	"dtl/core/hashmap"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
)

// host is memory that gives no more blocks than it has left, if that is counted, and must all come back.
type host struct {
	*cpu.Host
	counted bool
	left    int
}

// little is how many bytes the allocator of these tests always grants.
const little = 4096

func newHost(t *testing.T) *host {
	h := &host{Host: cpu.NewHost()}
	t.Cleanup(func() {
		current, _ := h.InUse()
		assert.Zero(t, current, "bytes in use")
	})
	return h
}

func (h *host) Allocate(size, alignment int) (memory.Block, error) {
	if h.counted && size > little {
		if h.left--; h.left < 0 {
			return memory.Block{}, status.New(status.OutOfMemory, "%d bytes are more than the test gives", size)
		}
	}
	return h.Host.Allocate(size, alignment)
}

// model is a table beside a Go map that must hold the same.
type model struct {
	t      *testing.T
	table  *hashmap.Table
	width  int
	want   map[string]int64
	random *rand.Rand
}

func newModel(t *testing.T, from memory.Allocator, width int) *model {
	table, err := hashmap.NewTable(from, width, 8)
	require.NoError(t, err)
	return &model{t: t, table: table, width: width, want: map[string]int64{}, random: rand.New(rand.NewPCG(1, uint64(width)))}
}

// draw returns n keys, side by side, of so many different ones.
func (m *model) draw(n, different int) []byte {
	keys := make([]byte, 0, n*m.width+8)
	for range n {
		var number [8]byte
		binary.LittleEndian.PutUint64(number[:], uint64(m.random.IntN(different))*0x10001)
		key := make([]byte, m.width)
		copy(key[max(0, m.width-8):], number[:])
		keys = append(keys, key...)
	}
	return keys
}

func (m *model) key(keys []byte, i int) string { return string(keys[i*m.width : (i+1)*m.width]) }

func at[T any](s []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(s)) }

func (m *model) put(n, different int) {
	keys, values := m.draw(n, different), make([]int64, n)
	for i := range values {
		values[i] = m.random.Int64()
		m.want[m.key(keys, i)] = values[i]
	}
	assert.NoError(m.t, m.table.Put(at(keys), at(values), n, nil))
}

func (m *model) update(n, different int) {
	keys, values := m.draw(n, different), make([]int64, n)
	for i := range values {
		values[i] = m.random.Int64()
		m.want[m.key(keys, i)] += values[i]
	}
	assert.NoError(m.t, m.table.Update(at(keys), at(values), n, dtype.Int64, kernel.Sum, nil))
}

func (m *model) get(n, different int) {
	keys, values, found := m.draw(n, different), make([]int64, n), make([]uint8, n)
	for i := range values {
		values[i] = -7
	}
	m.table.Get(at(keys), at(values), n, found)
	for i := range values {
		want, ok := m.want[m.key(keys, i)]
		if !ok {
			want = -7
		}
		require.Equal(m.t, ok, found[i] == 1, "key %d", i)
		require.Equal(m.t, want, values[i], "key %d", i)
	}
}

func (m *model) erase(n, different int) {
	keys := m.draw(n, different)
	m.table.Erase(at(keys), n)
	for i := range n {
		delete(m.want, m.key(keys, i))
	}
}

// check compares all entries.
func (m *model) check() {
	n := m.table.Len()
	require.Equal(m.t, len(m.want), n)
	keys, values := make([]byte, n*m.width), make([]int64, n)
	m.table.Copy(at(keys), at(values))
	seen := map[string]int64{}
	for i, v := range values {
		seen[m.key(keys, i)] = v
	}
	require.Equal(m.t, m.want, seen)
}

func TestTableAgainstMap(t *testing.T) {
	for _, width := range []int{1, 2, 3, 4, 7, 8, 12, 40, 257} {
		for _, different := range []int{10, 1000, 100_000} {
			t.Run(fmt.Sprintf("%d keys of %d bytes", different, width), func(t *testing.T) {
				m := newModel(t, newHost(t), width)
				defer m.table.Close()
				for range 30 {
					n := m.random.IntN(1000)
					switch m.random.IntN(4) {
					case 0:
						m.put(n, different)
					case 1:
						m.update(n, different)
					case 2:
						m.get(n, different)
					case 3:
						m.erase(n, different)
					}
					require.Equal(t, len(m.want), m.table.Len())
				}
				m.check()
			})
		}
	}
}

func TestTableThatComesAndGoes(t *testing.T) {
	h := newHost(t)
	m := newModel(t, h, 8)
	defer m.table.Close()
	var alive []byte
	for range 1000 { // erased slots in full groups must not pile up
		keys := m.draw(50, 1<<40)[:50*8]
		require.NoError(t, m.table.Put(at(keys), at(make([]int64, 50)), 50, nil))
		if alive = append(alive, keys...); len(alive) > 1700*8 {
			m.table.Erase(at(alive), 50)
			alive = alive[50*8:]
		}
	}
	assert.Equal(t, 1700, m.table.Len())
	_, peak := h.InUse()
	assert.Less(t, peak, int64(200_000), "bytes for 1700 entries at a time")
}

func TestTableStaysSmallWhileItGrows(t *testing.T) {
	h := newHost(t)
	table, err := hashmap.NewTable(h, 8, 8)
	require.NoError(t, err)
	defer table.Close()
	const step = 10_000
	for first := int64(0); first < 300_000; first += step {
		keys := make([]int64, step)
		for i := range keys {
			keys[i] = (first + int64(i)) * 0x10000
		}
		require.NoError(t, table.Put(at(keys), at(keys), step, nil))
		_, peak := h.InUse()
		if first > 20*step {
			require.Less(t, float64(peak), 2.7*16*float64(first+step), "%d entries", table.Len())
		}
	}
	assert.Equal(t, 300_000, table.Len())
}

func TestUndo(t *testing.T) {
	h := newHost(t)
	m := newModel(t, h, 8)
	defer m.table.Close()
	m.put(1000, 2000)
	before := map[string]int64{}
	for k, v := range m.want {
		before[k] = v
	}
	room := make([]byte, 4000*9)
	j := hashmap.NewUndoLog(at(room), 4000, 8)
	one, two := m.draw(1500, 3000), m.draw(2500, 3000)
	values := make([]int64, 2500)
	require.NoError(t, m.table.Put(at(one), at(values), 1500, j))
	require.NoError(t, m.table.Update(at(two), at(values), 2500, dtype.Int64, kernel.Prod, j))
	require.NotEqual(t, len(before), m.table.Len())
	j.Undo(m.table, at(two), 2500)
	j.Undo(m.table, at(one), 1500)
	m.want = before
	m.check()
}

func TestPutWithoutMemory(t *testing.T) {
	h := newHost(t)
	m := newModel(t, h, 8)
	defer m.table.Close()
	m.put(10_000, 1<<40)
	h.counted, h.left = true, 1
	room := make([]byte, 50_000*9)
	j := hashmap.NewUndoLog(at(room), 50_000, 8)
	keys := m.draw(50_000, 1<<40)
	err := m.table.Put(at(keys), at(make([]int64, 50_000)), 50_000, j)
	require.ErrorIs(t, err, status.OutOfMemory)
	j.Undo(m.table, at(keys), j.Len())
	m.check()
	h.counted = false
	m.put(50_000, 1<<40)
	m.check()
}

func TestCollidingKeysEndInLargerSegments(t *testing.T) {
	// Keys whose hashes start alike would divide the table for ever: 2000 keys that SplitMix64 takes to hashes below 2⁴⁰.
	keys := make([]uint64, 2000)
	for i := range keys {
		keys[i] = unmix(uint64(i) << 20)
	}
	table, err := hashmap.NewTable(newHost(t), 8, 256) // segments of few groups, so that they are soon full
	require.NoError(t, err)
	defer table.Close()
	values, found := make([]byte, 256*len(keys)), make([]uint8, len(keys))
	require.NoError(t, table.Put(at(keys), at(values), len(keys), nil))
	table.Get(at(keys), nil, len(keys), found)
	assert.Equal(t, len(keys), table.Len())
	assert.False(t, slices.Contains(found, 0))
}

// unmix is SplitMix64 backwards.
func unmix(x uint64) uint64 {
	x = (x ^ x>>31 ^ x>>62) * 0x319642b2d24d8ec3
	x = (x ^ x>>27 ^ x>>54) * 0x96de1b173f119089
	return x ^ x>>30 ^ x>>60 - 0x9e3779b97f4a7c15
}

func BenchmarkTable(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000, 10_000_000} {
		keys := make([]uint64, n)
		for i := range keys {
			keys[i] = uint64(i) * 0x9e3779b1
		}
		found, values := make([]uint8, n), make([]uint64, n)
		b.Run(fmt.Sprintf("put and get %d", n), func(b *testing.B) {
			for range b.N {
				table, err := hashmap.NewTable(cpu.NewHost(), 8, 8)
				require.NoError(b, err)
				require.NoError(b, table.Put(at(keys), at(keys), n, nil))
				table.Get(at(keys), at(values), n, found)
				table.Close()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/key")
		})
	}
}
