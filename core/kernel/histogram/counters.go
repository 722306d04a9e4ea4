package histogram

import "dtl/core/kernel"

// counterSize is how many values counters have room for: four tables of it fit into the first cache.
const counterSize = 1024

// counters count values side by side, each quarter of the elements in a table of its own, because to count the same value
// twice in a row takes longer. The tables have one fixed length, so that one look says whether four values are inside.
type counters [4][counterSize]int64

// countSideBySide counts four quarters of the elements, from the i-th of each on and from the value lowest on. It stops before
// elements of which one has no room, and returns how many of each quarter it has counted.
func countSideBySide[T kernel.Integer](l *counters, x []T, lowest int64, i int) int {
	quarter := len(x) / 4
	q, r, v, w := x[:quarter], x[quarter:2*quarter], x[2*quarter:3*quarter], x[3*quarter:4*quarter]
	for ; i < len(q) && i < len(r) && i < len(v) && i < len(w); i++ {
		a, b, c, d := uint64(int64(q[i])-lowest), uint64(int64(r[i])-lowest), uint64(int64(v[i])-lowest), uint64(int64(w[i])-lowest)
		if (a|b|c|d)/counterSize != 0 {
			break
		}
		l[0][a%counterSize]++
		l[1][b%counterSize]++
		l[2][c%counterSize]++
		l[3][d%counterSize]++
	}
	return i
}

// addTo adds up the four in counts, and leaves out the values that it has no room for.
func (l *counters) addTo(counts []int64) {
	for i := range min(len(counts), counterSize) {
		counts[i] += l[0][i] + l[1][i] + l[2][i] + l[3][i]
	}
}
