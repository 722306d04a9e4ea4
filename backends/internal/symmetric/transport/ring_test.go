package transport

import "testing"

// TestLayout: neighbours do not overlap, and many processes get smaller rings.
func TestLayout(t *testing.T) {
	for _, n := range []int{1, 2, 7, 1000, 100_000} {
		m := Layout(n)
		if m.size < leastRing || m.size > mostRing || m.size > leastRing && int64(n)*int64(m.size) > allRings {
			t.Errorf("%d processes: rings of %d bytes", n, m.size)
		}
		if m.credit(n-1)+CacheLine > m.records(0) || m.records(1)-m.records(0) != int(m.size) || m.records(0)%4096 != 0 {
			t.Errorf("%d processes: counters end at %d, rings start at %d", n, m.credit(n-1)+CacheLine, m.records(0))
		}
	}
}
