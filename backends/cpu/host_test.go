package cpu

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"dtl/core/backend/backendtest"
	"dtl/core/memory"
	"dtl/core/status"
)

func TestHost(t *testing.T) { backendtest.MemorySpace(t, NewHost()) }

// committed returns the bytes of RAM behind size bytes from p on; none where they are not mapped.
func committed(t *testing.T, p unsafe.Pointer, size int) int {
	t.Helper()
	page := os.Getpagesize()
	start := unsafe.Add(p, -int(uintptr(p)%uintptr(page)))
	pages := make([]byte, (size+page-1)/page)
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(start), uintptr(len(pages)*page), uintptr(unsafe.Pointer(&pages[0])))
	if errno != 0 && errno != unix.ENOMEM {
		t.Fatal(errno)
	}
	resident := 0
	for _, state := range pages {
		resident += int(state&1) * page
	}
	return resident
}

func TestAllocateTouchesNothing(t *testing.T) {
	h := NewHost()
	for _, size := range []int{1000, 3 << 20, 80_000_000} {
		b, err := h.Allocate(size, 64)
		if err != nil {
			t.Fatal(err)
		}
		mapped := max(size, hugePage)
		if got := committed(t, b.Addr, mapped); got != 0 {
			t.Errorf("%d bytes: %d committed before anything is written", size, got)
		}
		*(*byte)(b.Addr) = 1
		if got := committed(t, b.Addr, mapped); got == 0 || got > hugePage {
			t.Errorf("%d bytes: %d committed after one write, want at most one huge page", size, got)
		}
		h.Deallocate(b)
		h = NewHost()
	}
}

func TestLargeBlocksAreOnHugePagesAndGoBack(t *testing.T) {
	h := NewHost()
	b, err := h.Allocate(8<<20, 64)
	if err != nil {
		t.Fatal(err)
	}
	if uintptr(b.Addr)%hugePage != 0 {
		t.Errorf("%p is no multiple of %d", b.Addr, hugePage)
	}
	clear(unsafe.Slice((*byte)(b.Addr), b.Size))
	if got := committed(t, b.Addr, b.Size); got < b.Size {
		t.Errorf("%d committed of %d written", got, b.Size)
	}
	h.Deallocate(b)
	if got := committed(t, b.Addr, b.Size); got != 0 {
		t.Errorf("%d still committed", got)
	}
}

func TestAlignmentBeyondHugePages(t *testing.T) {
	h := NewHost()
	b, err := h.Allocate(100, 16<<20)
	if err != nil || uintptr(b.Addr)%(16<<20) != 0 {
		t.Fatalf("%p: %v", b.Addr, err)
	}
	h.Deallocate(b)
}

// TestChunksGoBack fills several chunks, and frees in an order that leaves holes first.
func TestChunksGoBack(t *testing.T) {
	h := NewHost()
	var all []memory.Block
	for range 3*chunkSize/(1<<20) + 1 {
		b, err := h.Allocate(1<<20, 64)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b)
	}
	first := all[0].Addr
	for odd := range 2 {
		for i := odd; i < len(all); i += 2 {
			*(*byte)(all[i].Addr) = 1
			h.Deallocate(all[i])
		}
	}
	if got := committed(t, first, 32<<20); got != 0 {
		t.Errorf("a chunk without blocks keeps %d bytes", got)
	}
	if free := h.arena.free.Count(); free > 1 {
		t.Errorf("%d free extents, want the one of the newest chunk", free)
	}
}

func TestFreedMemoryIsUsedAgain(t *testing.T) {
	h := NewHost()
	for range 1_000_000 / 1000 {
		var all [100]memory.Block
		for i := range all {
			all[i], _ = h.Allocate(1000+i*64, 64)
		}
		for _, b := range all {
			h.Deallocate(b)
		}
	}
	if h.arena.newest.Fresh() > 2<<20 {
		t.Errorf("%d bytes for 100 blocks of some KB", h.arena.newest.Fresh())
	}
}

func TestMoreThanTheMachineHas(t *testing.T) {
	h := NewHost()
	_, err := h.Allocate(limit()+1, 64)
	if !errors.Is(err, status.OutOfMemory) || !strings.Contains(err.Error(), fmt.Sprint(limit()+1)) {
		t.Errorf("%v: want out of memory, with the size", err)
	}
	b, err := h.Allocate(limit()/2, 64) // untouched, so not committed
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Allocate(limit()-limit()/2+1, 64); !errors.Is(err, status.OutOfMemory) {
		t.Errorf("in two blocks: %v, want out of memory", err)
	}
	h.Deallocate(b)
}

func TestDeallocateTwicePanics(t *testing.T) {
	h := NewHost()
	b, _ := h.Allocate(10, 64)
	h.Deallocate(b)
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	h.Deallocate(b)
}

// expect fails the test unless every byte of a block has one value.
func expect(t *testing.T, b memory.Block, value byte) {
	t.Helper()
	for k, v := range unsafe.Slice((*byte)(b.Addr), b.Size) {
		if v != value {
			t.Fatalf("byte %d of %d is %#x, not %#x", k, b.Size, v, value)
		}
	}
}

func FuzzHost(f *testing.F) {
	f.Add([]byte{10, 0, 200, 3, 90, 255, 1, 128, 7, 64})
	f.Fuzz(func(t *testing.T, steps []byte) {
		h := NewHost()
		var live []memory.Block
		for i := 0; i+1 < len(steps); i += 2 {
			what, n := steps[i], int(steps[i+1])
			if what < 100 && len(live) > 0 {
				k := n % len(live)
				h.Deallocate(live[k])
				live = append(live[:k], live[k+1:]...)
				continue
			}
			size, alignment := n*n<<(what%8), 1<<(what%14)
			b, err := h.Allocate(size, alignment)
			if err != nil {
				t.Fatal(err)
			}
			expect(t, b, 0) // else not zeroed, or another live block's
			for k := range size {
				*(*byte)(unsafe.Add(b.Addr, k)) = 0xFF
			}
			if uintptr(b.Addr)%uintptr(max(alignment, cacheLine)) != 0 {
				t.Fatalf("%p is no multiple of %d", b.Addr, alignment)
			}
			live = append(live, b)
		}
		for _, b := range live {
			expect(t, b, 0xFF)
			h.Deallocate(b)
		}
		if now, _ := h.InUse(); now != 0 {
			t.Fatalf("%d bytes in use", now)
		}
		h.arena.retire()
	})
}

func BenchmarkAllocate(b *testing.B) {
	for _, size := range []int{64, 8000, 1 << 20, 8 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			h := NewHost()
			for b.Loop() {
				block, err := h.Allocate(size, 64)
				if err != nil {
					b.Fatal(err)
				}
				h.Deallocate(block)
			}
		})
	}
}

func TestUsedMemoryIsKeptForAWhile(t *testing.T) {
	h := NewHost()
	const size = 8 << 20
	b, err := h.AllocateUsed(size, 64)
	if err != nil {
		t.Fatal(err)
	}
	for i := range unsafe.Slice((*byte)(b.Addr), size) {
		*(*byte)(unsafe.Add(b.Addr, i)) = 7
	}
	h.Deallocate(b)
	if current, _ := h.InUse(); current != 0 {
		t.Errorf("%d bytes in use", current)
	}
	zeros, err := h.Allocate(size, 64)
	if err != nil || *(*byte)(zeros.Addr) != 0 {
		t.Errorf("a block that is promised to be zero starts with %d: %v", *(*byte)(zeros.Addr), err)
	}
	again, err := h.AllocateUsed(size-1000, 64)
	if err != nil || again.Addr != b.Addr || committed(t, again.Addr, size) < size {
		t.Errorf("%p after %p was given back: %v", again.Addr, b.Addr, err)
	}
	if small, err := h.AllocateUsed(100, 64); err != nil || small.Addr == again.Addr {
		t.Errorf("a small block at %p: %v", small.Addr, err)
	}
	h.Deallocate(again)
	h.Mu.Lock()
	h.spares.trim(0)
	h.Mu.Unlock()
	if got := committed(t, b.Addr, size); got != 0 {
		t.Errorf("%d still committed", got)
	}
}
