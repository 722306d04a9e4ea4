package radix

import (
	"dtl/core/dtype"
	"dtl/core/memory"
)

// NumberedKeys writes to keys, of uint64, the keys of elements in the order of places, and adds first to each place: the keys in the
// order of uint64 are sorted if the places are Argsort's. All NaNs get one key.
func NumberedKeys(keys, places, s memory.Span, o Order, first int64, workers Workers) {
	switch s.Type.Size() {
	case 1:
		numberedKeys[uint8](keys, places, s, &o, first, workers)
	case 2:
		numberedKeys[uint16](keys, places, s, &o, first, workers)
	case 4:
		numberedKeys[uint32](keys, places, s, &o, first, workers)
	default:
		numberedKeys[uint64](keys, places, s, &o, first, workers)
	}
}

func numberedKeys[T words](keys, places, s memory.Span, o *Order, first int64, workers Workers) {
	a, in, out := items[T](s), memory.As[int64](places), items[uint64](keys)
	workers.over(len(a), workers.parts(len(a)), func(_, lo, hi int) {
		order := *o
		for i := lo; i < hi; i++ {
			out[i] = order.rank(uint64(a[in[i]]))
			in[i] += first
		}
	})
}

// KeysInto writes to keys, of uint64, the keys of elements. All NaNs get one key.
func KeysInto(keys, s memory.Span, o Order) {
	switch s.Type.Size() {
	case 1:
		keysInto[uint8](keys, s, o)
	case 2:
		keysInto[uint16](keys, s, o)
	case 4:
		keysInto[uint32](keys, s, o)
	default:
		keysInto[uint64](keys, s, o)
	}
}

func keysInto[T words](keys, s memory.Span, o Order) {
	out := items[uint64](keys)
	for i, v := range items[T](s)[:len(out)] {
		out[i] = o.rank(uint64(v))
	}
}

// MergeNumbers writes to dst the numbers that go with the keys of sorted runs, which lie one after the other, in the order of the keys.
// Of equal keys, those of earlier runs come first. All are of 8 bytes, and dst is another memory. It needs no memory of the size of one,
// as Merge would for both.
func MergeNumbers(dst, keys, numbers memory.Span, runs []int, workers Workers) {
	m := numbered64{out: items[uint64](dst), keys: items[uint64](keys), numbers: items[uint64](numbers)}
	at := 0
	for _, n := range runs {
		m.starts, m.ends = append(m.starts, at), append(m.ends, at+n)
		at += n
	}
	workers.over(len(m.out), workers.parts(len(m.out)), func(_, lo, hi int) {
		m.merge(m.out[lo:hi], m.cut(lo), m.cut(hi))
	})
}

// numbered64 is one MergeNumbers.
type numbered64 struct {
	out, keys, numbers []uint64
	starts, ends       []int // of the runs
}

// cut returns where in each run those end that are the first n of all runs together.
func (m *numbered64) cut(n int) []int {
	if n == len(m.keys) {
		return m.ends
	}
	lo, hi := uint64(0), ^uint64(0) // the n-th key is between them
	for lo < hi {
		mid := lo + (hi-lo)/2
		if _, upTo := m.upTo(mid, true); upTo > n {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	places, less := m.upTo(lo, false)
	after, _ := m.upTo(lo, true)
	for run, place := range places {
		equal := min(n-less, after[run]-place)
		places[run], less = place+equal, less+equal
	}
	return places
}

// upTo returns where in each run the keys end that are less than one, or also equal to it, and how many these are.
func (m *numbered64) upTo(key uint64, also bool) (places []int, total int) {
	plain := NewOrder(dtype.Uint64, false)
	places = make([]int, len(m.starts))
	for run, start := range m.starts {
		n := search(m.keys[start:m.ends[run]], &plain, key, also)
		places[run], total = start+n, total+n
	}
	return places, total
}

// merge writes the numbers of what runs have from some places to others.
func (m *numbered64) merge(out []uint64, from, to []int) {
	var at, end []int // of the runs that are left
	for run := range from {
		if from[run] < to[run] {
			at, end = append(at, from[run]), append(end, to[run])
		}
	}
	for len(at) > 2 {
		through := m.tournament(&out, at, end)
		at, end = append(at[:through], at[through+1:]...), append(end[:through], end[through+1:]...)
	}
	if len(at) == 2 {
		out = m.mergeTwo(out, &at[0], end[0], &at[1], end[1])
	}
	for run := range at {
		out = out[copy(out, m.numbers[at[run]:end[run]]):]
	}
}

// mergeTwo writes the numbers of two runs until one is through, and returns the rest of out.
func (m *numbered64) mergeTwo(out []uint64, at *int, end int, other *int, otherEnd int) []uint64 {
	i, k, n := *at, *other, 0
	for i < end && k < otherEnd {
		from, t := i, 0
		if m.keys[k] < m.keys[i] {
			from, t = k, 1
		}
		out[n] = m.numbers[from]
		i, k, n = i+1-t, k+t, n+1
	}
	*at, *other = i, k
	return out[n:]
}

// tournament writes the numbers of runs until one is through, which it returns: by a tree of losers (Knuth, The Art of Computer
// Programming 3, 5.4.1).
func (m *numbered64) tournament(out *[]uint64, at, end []int) int {
	heads, losers := make([]uint64, len(at)), make([]int, len(at))
	for run := range at {
		heads[run] = m.keys[at[run]]
	}
	winner, n := first(heads, losers), 0
	for {
		(*out)[n] = m.numbers[at[winner]]
		at[winner], n = at[winner]+1, n+1
		if at[winner] == end[winner] {
			*out = (*out)[n:]
			return winner
		}
		heads[winner] = m.keys[at[winner]]
		for node := (winner + len(at)) / 2; node > 0; node /= 2 {
			if loser := losers[node]; before(heads, loser, winner) {
				losers[node], winner = winner, loser
			}
		}
	}
}

// first lets each two heads meet, and returns the winner of all.
func first(heads []uint64, losers []int) int {
	k := len(heads)
	winners := make([]int, 2*k)
	for run := range k {
		winners[k+run] = run
	}
	for node := k - 1; node > 0; node-- {
		a, b := winners[2*node], winners[2*node+1]
		if before(heads, b, a) {
			a, b = b, a
		}
		winners[node], losers[node] = a, b
	}
	return winners[1]
}

// before reports whether one run's head comes before another's.
func before(heads []uint64, a, b int) bool {
	return heads[a] < heads[b] || heads[a] == heads[b] && a < b
}
