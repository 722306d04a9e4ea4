package cpu

import "testing"

func TestMostThatIsKept(t *testing.T) {
	const mib, gib = 1 << 20, 1 << 30
	for name, c := range map[string]struct {
		size          int
		file          bool
		memory, ranks int
		want          int
	}{
		"a small block":              {mib, false, 16 * gib, 1, gib / 4},
		"a large block":              {gib, false, 16 * gib, 1, gib},
		"a large block of two ranks": {gib, false, 16 * gib, 2, 0},
		"one that is too large":      {3 * gib, false, 1024 * gib, 1, 0},
		"a small machine":            {20 * mib, false, gib, 1, 20 * mib},
		"a small file":               {mib, true, 16 * gib, 1, gib / 4},
		"a large file":               {gib, true, 1024 * gib, 1, 0},
	} {
		if got := mostOf(c.size, c.file, c.memory, c.ranks); got != c.want {
			t.Errorf("%s: keeps %d bytes, want %d", name, got, c.want)
		}
	}
}
