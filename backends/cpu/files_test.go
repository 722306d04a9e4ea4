package cpu

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"dtl/core/backend/backendtest"
	"dtl/core/memory"
	"dtl/core/status"
)

func TestFiles(t *testing.T) { backendtest.MemorySpace(t, NewFiles(t.TempDir())) }

func TestFilesHaveNoName(t *testing.T) {
	folder := t.TempDir()
	f := NewFiles(folder)
	b, err := f.Allocate(1<<20, 64)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Deallocate(b)
	if names, err := os.ReadDir(folder); err != nil || len(names) > 0 {
		t.Errorf("%v, %v", names, err)
	}
	var file unix.Stat_t
	if err := unix.Fstat(f.FileOf(b), &file); err != nil || file.Size != 1<<20 || file.Nlink != 0 || file.Blocks*512 < 1<<20 {
		t.Errorf("%v: %+v; want all of its room, and no name", err, file)
	}
}

func TestFoldersThatCannotBeUsed(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name, folder string
		want         status.Code
	}{
		{"absent", filepath.Join(folder, "absent"), status.FileMissing},
		{"no folder", file, status.FileErrno + status.Code(unix.ENOTDIR)},
	} {
		if _, err := NewFiles(row.folder).Allocate(100, 64); status.CodeOf(err) != row.want {
			t.Errorf("%s: %v, %d, want %d", row.name, err, status.CodeOf(err), row.want)
		}
	}
}

func TestFilesAreRefusedThatAreTooLarge(t *testing.T) {
	f := NewFiles(t.TempDir())
	for _, size := range []int{1 << 50, 1<<62 + 1} {
		if _, err := f.Allocate(size, 64); !errors.Is(err, status.OutOfMemory) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 1 << 20, Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	_, err := f.Allocate(2<<20, 64)
	if back := unix.Setrlimit(unix.RLIMIT_FSIZE, &before); back != nil {
		t.Fatal(back)
	}
	if !errors.Is(err, status.OutOfMemory) {
		t.Errorf("beyond RLIMIT_FSIZE: %v", err)
	}
}

func TestFilesAreKeptForAWhile(t *testing.T) {
	f := NewFiles(t.TempDir())
	const size = 8 << 20
	b, err := f.AllocateUsed(size, 64)
	if err != nil {
		t.Fatal(err)
	}
	*(*byte)(b.Addr) = 7
	f.Deallocate(b)
	zeros, err := f.Allocate(size, 64)
	if err != nil || *(*byte)(zeros.Addr) != 0 {
		t.Errorf("a block that is promised to be zero starts with %d: %v", *(*byte)(zeros.Addr), err)
	}
	f.Deallocate(zeros)
	again, err := f.AllocateUsed(size-1000, 64)
	if err != nil || again.Addr != b.Addr || f.FileOf(again) < 0 {
		t.Fatalf("%p after %p was given back, of file %d: %v", again.Addr, b.Addr, f.FileOf(again), err)
	}
	if current, _ := f.InUse(); current != size-1000 {
		t.Errorf("%d bytes in use", current)
	}
	file := f.FileOf(again)
	f.Deallocate(again)
	if _, err := f.Allocate(1<<50, 64); !errors.Is(err, status.OutOfMemory) {
		t.Errorf("more than the disk has: %v", err)
	}
	if _, err := unix.FcntlInt(uintptr(file), unix.F_GETFD, 0); err == nil {
		t.Error("a spare file keeps its room where another finds none")
	}
	if current, _ := f.InUse(); current != 0 {
		t.Errorf("%d bytes in use", current)
	}
}

func residentNow() int64 {
	pages.mu.Lock()
	defer pages.mu.Unlock()
	return pages.bytes()
}

func TestPagesAreGivenBackBelowTheLimit(t *testing.T) {
	const size = 512 << 20
	f := NewFiles(t.TempDir())
	b, err := f.Allocate(size, 64)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Deallocate(b)
	memory.SetLimit(residentNow() + 256<<20)
	defer memory.SetLimit(0)
	words := unsafe.Slice((*int64)(b.Addr), size/8)
	most := int64(0)
	for i := range words {
		words[i] = int64(i)
		if i%(1<<18) == 0 {
			memory.Ease() // as loops do: the pager alone may come too late
			most = max(most, residentNow())
		}
	}
	if most > memory.Limit() {
		t.Errorf("%d bytes resident, limit %d", most, memory.Limit())
	}
	for i := range words {
		if words[i] != int64(i) {
			t.Fatalf("element %d is %d", i, words[i])
		}
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		if residentNow() < threshold() {
			return
		}
	}
	t.Error("pages stay")
}
