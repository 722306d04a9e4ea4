package cpu

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"dtl/core/memory"
)

// pattern returns bytes that differ from page to page.
func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i>>12)
	}
	return b
}

// bytesOf returns the memory of a block.
func bytesOf(b memory.Block) []byte { return unsafe.Slice((*byte)(b.Addr), b.Size) }

// mappedFile maps a range of a file that has the bytes.
func mappedFile(t *testing.T, content []byte, offset, size int) (memory.Block, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	b, owner, err := local{}.MapRange(int(file.Fd()), int64(offset), size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { owner.Deallocate(b) })
	return b, path
}

func TestCopiesByCallsReadAndWriteFiles(t *testing.T) {
	const size = 3 << 20
	f, want := NewFiles(t.TempDir()), pattern(size)
	a, err := f.Allocate(size, 64)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Deallocate(a)
	b, err := f.Allocate(size, 64)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Deallocate(b)
	to := make([]byte, size)
	for _, row := range []struct {
		name     string
		dst, src unsafe.Pointer
		n        int
	}{
		{"to a file", unsafe.Add(a.Addr, 100), unsafe.Pointer(&want[100]), size - 100},
		{"from file to file", unsafe.Add(b.Addr, 5), unsafe.Add(a.Addr, 5), size - 5},
		{"from a file", unsafe.Pointer(&to[99]), unsafe.Add(b.Addr, 99), size - 99},
	} {
		if got := pages.Copy(row.dst, row.src, row.n); got != row.n {
			t.Errorf("%s: %d of %d bytes", row.name, got, row.n)
		}
	}
	if !bytes.Equal(to[100:], want[100:]) || !bytes.Equal(bytesOf(a)[100:], want[100:]) {
		t.Error("other bytes")
	}
	bytesOf(a)[200] = 77 // whoever reads the file finds what was written to the memory
	if got := pages.Copy(unsafe.Pointer(&to[0]), unsafe.Add(a.Addr, 200), 1); got != 1 || to[0] != 77 {
		t.Errorf("%d bytes, %d", got, to[0])
	}
	for name, n := range map[string]int{"past the end": 2, "in no file": 0} {
		src := unsafe.Add(a.Addr, size-1)
		if n == 0 {
			src = unsafe.Pointer(&want[0])
		}
		if got := pages.Copy(unsafe.Pointer(&to[0]), src, 2); got != 0 {
			t.Errorf("%s: %d bytes", name, got)
		}
	}
}

func TestFilesThatFitStayAndOthersGiveWay(t *testing.T) {
	const size = 64 << 20
	f := NewFiles(t.TempDir())
	blocks := make([]memory.Block, 3)
	for i := range blocks {
		b, err := f.Allocate(size, 64)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Deallocate(b)
		blocks[i] = b
	}
	a, b, c := blocks[0].Addr, unsafe.Add(blocks[1].Addr, size/2), blocks[2].Addr
	touch := func(b memory.Block) {
		for at := 0; at < b.Size; at += 4096 {
			bytesOf(b)[at] = 1
		}
	}
	all, ofFiles := pages.pages()
	memory.SetLimit((all - ofFiles + 2*size + size/2) * 8 / 7) // of two files, not of three
	defer memory.SetLimit(0)
	inMemory := unsafe.Pointer(new(int))
	for name, row := range map[string]struct {
		places []unsafe.Pointer
		want   bool
	}{
		"two": {[]unsafe.Pointer{a, b}, true}, "one of them twice": {[]unsafe.Pointer{a, a, b}, true},
		"three": {[]unsafe.Pointer{a, b, c}, false}, "memory": {[]unsafe.Pointer{inMemory, a}, true},
	} {
		if got := pages.Fits(row.places...); got != row.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	touch(blocks[2])
	if !pages.Fits(a, b) {
		t.Fatal("two do not fit")
	}
	touch(blocks[0])
	touch(blocks[1])
	if now, _ := pages.pages(); now > memory.Limit() {
		t.Errorf("%d bytes are resident under a limit of %d", now, memory.Limit())
	}
}

func TestCopiesByCallsOfUsersFiles(t *testing.T) {
	const size, offset = 1 << 20, 128
	content := pattern(offset + size)
	b, path := mappedFile(t, content, offset, size)
	to := make([]byte, size)
	if got := pages.Copy(unsafe.Pointer(&to[0]), b.Addr, size); got != size || !bytes.Equal(to, content[offset:]) {
		t.Errorf("%d bytes", got)
	}
	bytesOf(b)[300_000] = 9 // is in memory alone
	if got := pages.Copy(unsafe.Pointer(&to[0]), unsafe.Add(b.Addr, 200_000), 200_000); got != 0 {
		t.Errorf("%d bytes, of which some were written", got)
	}
	if got := pages.Copy(unsafe.Pointer(&to[0]), b.Addr, 200_000); got != 200_000 {
		t.Errorf("%d bytes beside those that were written", got)
	}
	if got := pages.Copy(b.Addr, unsafe.Pointer(&to[0]), 100); got != 0 {
		t.Errorf("%d bytes to a file of the user's", got)
	}
	if err := os.Truncate(path, offset+5000); err != nil {
		t.Fatal(err)
	}
	if got := pages.Copy(unsafe.Pointer(&to[0]), b.Addr, 100_000); got != 5000 {
		t.Errorf("%d bytes of a file that has 5000 left", got)
	}
}
