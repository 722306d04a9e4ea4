package backendtest

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"dtl/core/backend"
	"dtl/core/memory"
	"dtl/core/status"
)

// NothingLeft checks, when the test ends, that all that was allocated since this call has been given back.
func NothingLeft(t testing.TB, space backend.MemorySpace) {
	t.Helper()
	before, _ := space.InUse()
	t.Cleanup(func() {
		if after, _ := space.InUse(); after != before {
			t.Errorf("%d bytes in use, %d before the test", after, before)
		}
	})
}

// MemorySpace checks a memory space whose addresses the CPU can use, if it says so, and else what can be
// seen without looking. Nobody else may use it meanwhile.
func MemorySpace(t *testing.T, space backend.MemorySpace) {
	if space.Name() == "" {
		t.Error("no name")
	}
	for name, body := range map[string]func(*testing.T, backend.MemorySpace){
		"blocks":             blocks,
		"zero when recycled": recycled,
		"random blocks":      randomBlocks,
		"in use":             inUse,
		"absurd sizes":       absurdSizes,
		"bad arguments":      badArguments,
		"goroutines":         allocateAtOnce,
		"available":          available,
	} {
		t.Run(name, func(t *testing.T) {
			NothingLeft(t, space)
			body(t, space)
		})
	}
}

// allocate returns a block, after checking its address, size and contents.
func allocate(t *testing.T, space backend.MemorySpace, size, alignment int) (b memory.Block, ok bool) {
	t.Helper()
	b, err := space.Allocate(size, alignment)
	if err != nil {
		t.Errorf("%d bytes at a multiple of %d: %v", size, alignment, err)
		return b, false
	}
	if b.Size != size {
		t.Errorf("block of %d bytes, want %d", b.Size, size)
	}
	least := max(1, alignment, space.Properties().Alignment)
	if b.Addr == nil || uintptr(b.Addr)%uintptr(least) != 0 {
		t.Errorf("%d bytes at %p, which is no multiple of %d", size, b.Addr, least)
	}
	if space.Properties().HostAccessible && !zero(contents(b)) {
		t.Errorf("%d bytes are not all zero", size)
	}
	return b, true
}

func contents(b memory.Block) []byte { return unsafe.Slice((*byte)(b.Addr), b.Size) }

var zeros [1 << 16]byte

func zero(b []byte) bool {
	for len(b) > 0 {
		n := min(len(b), len(zeros))
		if !bytes.Equal(b[:n], zeros[:n]) {
			return false
		}
		b = b[n:]
	}
	return true
}

// fill writes a byte all over a block, if the CPU can.
func fill(space backend.MemorySpace, b memory.Block, with byte) {
	if space.Properties().HostAccessible {
		c := contents(b)
		for filled := copy(c, []byte{with}); filled < len(c); { // the race detector looks at a copy once
			filled += copy(c[filled:], c[:filled])
		}
	}
}

func blocks(t *testing.T, space backend.MemorySpace) {
	if a := space.Properties().Alignment; a < 1 || a&(a-1) != 0 {
		t.Errorf("alignment %d is no power of two", a)
	}
	for _, size := range []int{0, 1, 63, 64, 65, 4096, 1 << 20, 2<<20 - 1, 2 << 20, 5 << 20, 20<<20 + 1} {
		for _, alignment := range []int{0, 1, 8, 64, 256, 4096} {
			if b, ok := allocate(t, space, size, alignment); ok {
				fill(space, b, 0xFF)
				space.Deallocate(b)
			}
		}
	}
}

func recycled(t *testing.T, space backend.MemorySpace) {
	for _, size := range []int{100, 5000, 3 << 20, 9 << 20} {
		for range 3 {
			var all []memory.Block
			for range 4 {
				if b, ok := allocate(t, space, size, 64); ok {
					fill(space, b, 0xEE)
					all = append(all, b)
				}
			}
			for _, i := range rand.Perm(len(all)) {
				space.Deallocate(all[i])
			}
		}
	}
}

// randomBlocks allocates and frees in random order: blocks are zero, aligned, apart, and keep what is
// written to them.
func randomBlocks(t *testing.T, space backend.MemorySpace) {
	random := rand.New(rand.NewPCG(3, 4))
	var live []memory.Block
	var marks []byte
	for i := range 3000 {
		if len(live) > 0 && random.IntN(100) < 48 {
			k := random.IntN(len(live))
			checkMark(t, space, live[k], marks[k])
			space.Deallocate(live[k])
			live[k], marks[k] = live[len(live)-1], marks[len(marks)-1]
			live, marks = live[:len(live)-1], marks[:len(marks)-1]
			continue
		}
		size := random.IntN(1 << (1 + random.IntN(18)))
		if b, ok := allocate(t, space, size, 1<<random.IntN(13)); ok {
			mark := byte(1 + i%255)
			fill(space, b, mark)
			live, marks = append(live, b), append(marks, mark)
		}
	}
	for k, b := range live {
		checkMark(t, space, b, marks[k])
	}
	checkApart(t, live)
	for _, b := range live {
		space.Deallocate(b)
	}
}

func checkMark(t *testing.T, space backend.MemorySpace, b memory.Block, mark byte) {
	t.Helper()
	if space.Properties().HostAccessible && bytes.Count(contents(b), []byte{mark}) != b.Size {
		t.Errorf("a block of %d bytes was overwritten", b.Size)
	}
}

func checkApart(t *testing.T, live []memory.Block) {
	t.Helper()
	sorted := append([]memory.Block(nil), live...)
	sort.Slice(sorted, func(i, j int) bool { return uintptr(sorted[i].Addr) < uintptr(sorted[j].Addr) })
	for i := 1; i < len(sorted); i++ {
		if uintptr(sorted[i-1].Addr)+uintptr(max(1, sorted[i-1].Size)) > uintptr(sorted[i].Addr) {
			t.Errorf("%p + %d and %p overlap", sorted[i-1].Addr, sorted[i-1].Size, sorted[i].Addr)
		}
	}
}

func inUse(t *testing.T, space backend.MemorySpace) {
	before, _ := space.InUse()
	a, _ := allocate(t, space, 1000, 64)
	b, _ := allocate(t, space, 10<<20, 64)
	want := before + 1000 + 10<<20
	if now, peak := space.InUse(); now != want || peak < want {
		t.Errorf("in use %d, peak %d; want %d", now, peak, want)
	}
	space.Deallocate(b)
	if now, peak := space.InUse(); now != before+1000 || peak < want {
		t.Errorf("in use %d, peak %d; want %d, at least %d", now, peak, before+1000, want)
	}
	space.Deallocate(a)
}

func absurdSizes(t *testing.T, space backend.MemorySpace) {
	for _, size := range []int{1 << 50, 1 << 62, math.MaxInt} {
		_, err := space.Allocate(size, 64)
		if !errors.Is(err, status.OutOfMemory) {
			t.Errorf("%d bytes: %v, want out of memory", size, err)
		} else if !strings.Contains(err.Error(), fmt.Sprint(size)) {
			t.Errorf("%q does not name the size, %d", err, size)
		}
	}
}

// available asks a space that says how much it has left: so much of it can be had, and the error of what is too much
// says it.
func available(t *testing.T, space backend.MemorySpace) {
	metered, ok := space.(backend.MeteredSpace)
	if !ok {
		return
	}
	n := metered.AvailableMemory()
	if n < 0 || n > 1<<50 {
		t.Errorf("%d bytes are available, want a number in [0, 2**50]", n)
	}
	if b, err := space.Allocate(int(min(n/2, 1<<20)), 64); err != nil {
		t.Errorf("of %d bytes that are available, %d cannot be had: %v", n, min(n/2, 1<<20), err)
	} else {
		space.Deallocate(b)
	}
	_, err := memory.NewStorage(space, 1<<50, 64)
	if !errors.Is(err, status.OutOfMemory) || n > 0 && !strings.Contains(err.Error(), "bytes are available") {
		t.Errorf("%v: want out of memory, and how much is available", err)
	}
}

func badArguments(t *testing.T, space backend.MemorySpace) {
	for _, bad := range [][2]int{{-1, 64}, {64, -8}, {64, 3}, {math.MinInt, 64}} {
		if _, err := space.Allocate(bad[0], bad[1]); !errors.Is(err, status.InvalidArgument) {
			t.Errorf("%d bytes at a multiple of %d: %v, want invalid argument", bad[0], bad[1], err)
		}
	}
}

func allocateAtOnce(t *testing.T, space backend.MemorySpace) {
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			var last memory.Block
			for i := range 200 {
				b, ok := allocate(t, space, (g+1)*(i+1), 64)
				if !ok {
					break
				}
				fill(space, b, byte(g+1))
				if i > 0 {
					checkMark(t, space, last, byte(g+1))
					space.Deallocate(last)
				}
				last = b
			}
			if last.Addr != nil {
				space.Deallocate(last)
			}
		})
	}
	all.Wait()
}
