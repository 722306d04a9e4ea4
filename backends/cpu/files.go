package cpu

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"dtl/backends/internal/alloc"
	"dtl/core/backend"
	"dtl/core/memory"
	"dtl/core/status"
)

// Files is memory of files without a name in a folder, each of which is mapped. The system writes its pages to the file, and reads them
// again, as it needs room. A file is gone as soon as no process has it, however that ends.
type Files struct {
	folder string
	alloc.Space[mapped]
	spares spares
}

var _ backend.MeteredSpace = (*Files)(nil)

// mapped is the file of a block, how many bytes of it are mapped, and whether to keep it for the next user.
type mapped struct {
	file  *os.File
	size  int
	again bool
}

// folders has the memory of each folder, since a process has one count of what is in use.
var folders struct {
	mu  sync.Mutex
	all map[string]*Files
}

// Files returns the memory of files in a folder. The folder need not exist before the first block.
func (local) Files(folder string) backend.FileSpace {
	folders.mu.Lock()
	defer folders.mu.Unlock()
	found := folders.all[folder]
	if found == nil {
		found = NewFiles(folder)
		if folders.all == nil {
			folders.all = map[string]*Files{}
		}
		folders.all[folder] = found
	}
	return found
}

// NewFiles returns an empty memory space.
func NewFiles(folder string) *Files {
	f := &Files{folder: folder, Space: alloc.NewSpace[mapped](pageable)}
	f.spares.mu, f.spares.giveUp = &f.Mu, giveUp
	return f
}

// Name returns "files in" and the folder.
func (f *Files) Name() string { return "files in " + f.folder }

// AvailableMemory returns how many bytes the folder has room for.
func (f *Files) AvailableMemory() int64 {
	var s unix.Statfs_t
	if unix.Statfs(f.folder, &s) != nil {
		return 0
	}
	left := min(int64(s.Bavail), int64(1)<<62/max(s.Bsize, 1)) * s.Bsize
	return min(left, fileLimit())
}

// Open returns a file without a name in the folder, open for reading and writing, which is the caller's.
func (f *Files) Open() (*os.File, error) {
	pages.hold()
	fd, err := unix.Open(f.folder, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err == nil {
		return os.NewFile(uintptr(fd), f.folder), nil
	}
	if !errors.Is(err, unix.EOPNOTSUPP) && !errors.Is(err, unix.EISDIR) && !errors.Is(err, unix.EINVAL) {
		return nil, f.refused(err)
	}
	file, err := os.CreateTemp(f.folder, ".dtl-*") // a file system that makes none without a name
	if err != nil {
		return nil, f.refused(err)
	}
	if err := os.Remove(file.Name()); err != nil {
		_ = file.Close()
		return nil, f.refused(err)
	}
	return file, nil
}

// refused says what is wrong with the folder.
func (f *Files) refused(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return status.New(status.FileMissing, "the scratch folder %s does not exist", f.folder)
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		return f.full(0, err)
	}
	code := status.File
	if number := unix.Errno(0); errors.As(err, &number) {
		code = status.FileErrno + status.Code(number)
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return status.New(code, "no file can be made in the scratch folder %s: %w", f.folder, err)
}

// full says that the folder has no room for so many bytes.
func (f *Files) full(size int, err error) error {
	why := "%d bytes cannot be allocated in the scratch folder %s: %w"
	if errors.Is(err, unix.EFBIG) {
		return status.New(status.OutOfMemory, why+"; this process may write %d bytes to a file (RLIMIT_FSIZE)", size, f.folder, err, fileLimit())
	}
	return status.New(status.OutOfMemory, why, size, f.folder, err)
}

// fileLimit returns how many bytes this process may write to a file.
func fileLimit() int64 {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_FSIZE, &limit) != nil || limit.Cur > 1<<62 {
		return 1 << 62
	}
	return int64(limit.Cur)
}

// Allocate returns zeroed memory, for which the file has its room on the disk already.
func (f *Files) Allocate(size, alignment int) (memory.Block, error) {
	return f.allocate(size, alignment, false)
}

// allocate is Allocate of a file that is kept for the next user if again says so. Where there is no room, no other such file keeps any.
func (f *Files) allocate(size, alignment int, again bool) (memory.Block, error) {
	if err := memory.CheckRequest(size, alignment); err != nil {
		return memory.Block{}, err
	}
	p, at, err := f.mapNew(size, alignment)
	f.Mu.Lock()
	defer f.Mu.Unlock()
	if err != nil && f.spares.bytes > 0 {
		f.spares.trim(0)
		p, at, err = f.mapNew(size, alignment)
	}
	if err != nil {
		return memory.Block{}, err
	}
	at.again = again
	f.Blocks.Enter(p, size, at)
	pages.add(mapping{start: p, size: at.size, file: int(at.file.Fd())})
	return memory.Block{Addr: p, Size: size}, nil
}

// mapNew maps a new file that has its room.
func (f *Files) mapNew(size, alignment int) (unsafe.Pointer, mapped, error) {
	at := mapped{size: max(size, 1)}
	file, err := f.Open()
	if err != nil {
		return nil, at, err
	}
	at.file = file
	if err := f.fill(file, at.size); err != nil {
		_ = file.Close()
		return nil, at, err
	}
	if size >= hugePage { // so that the kernel maps many pages of the page cache at once
		alignment = max(alignment, hugePage)
	}
	p, err := mapFile(file, at.size, max(alignment, os.Getpagesize()))
	if err != nil {
		_ = file.Close()
		return nil, at, status.New(status.OutOfMemory, "%d bytes of a file in %s cannot be mapped: %w", size, f.folder, err)
	}
	return p, at, nil
}

// fill gives a file its size, and room for all of it: a disk that is full later ends the process by a signal.
func (f *Files) fill(file *os.File, size int) error {
	if int64(size) > fileLimit() { // which a signal tells, too
		return f.full(size, unix.EFBIG)
	}
	if available := f.AvailableMemory(); available > 0 && int64(size) > available {
		return f.full(size, unix.ENOSPC) // at once, not when the disk is full for others
	}
	err := unix.EINTR
	for errors.Is(err, unix.EINTR) {
		err = asErrno(unix.Fallocate(int(file.Fd()), 0, 0, int64(size)))
	}
	if err == unix.EOPNOTSUPP || err == unix.ENOSYS {
		err = asErrno(writeZeros(file, size))
	}
	if err != 0 {
		return f.full(size, err)
	}
	return nil
}

// asErrno returns the system's number of an error; 0 for none.
func asErrno(err error) unix.Errno {
	number := unix.Errno(0)
	if err != nil && !errors.As(err, &number) {
		return unix.EIO
	}
	return number
}

// writeZeros is for file systems that have no call for it.
func writeZeros(file *os.File, size int) error {
	zeros := make([]byte, min(size, 1<<20))
	for at := 0; at < size; {
		n, err := file.WriteAt(zeros[:min(len(zeros), size-at)], int64(at))
		if err != nil {
			return err
		}
		at += n
	}
	return nil
}

// mapFile maps size bytes of a file at a multiple of alignment, which is at least a page.
func mapFile(file *os.File, size, alignment int) (unsafe.Pointer, error) {
	all := size + alignment
	room, err := unix.MmapPtr(-1, 0, nil, uintptr(all), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return nil, err
	}
	page := os.Getpagesize()
	head := int(-uintptr(room) & uintptr(alignment-1))
	start, taken := unsafe.Add(room, head), roundUp(size, page)
	p, err := unix.MmapPtr(int(file.Fd()), 0, start, uintptr(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_FIXED)
	if err != nil {
		unmap(room, all)
		return nil, err
	}
	unmap(room, head)
	unmap(unsafe.Add(start, taken), roundUp(all, page)-head-taken)
	return p, nil
}

// Deallocate takes a block back. It panics if the block is not out.
func (f *Files) Deallocate(b memory.Block) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	at, out := f.Blocks.Leave(b.Addr)
	if !out {
		panic("cpu: Deallocate of a block that is not out")
	}
	if left := (spare{b.Addr, at.size, at.file}); at.again {
		f.spares.keep(left)
	} else {
		giveUp(left)
	}
}

// giveUp gives a file back, whose elements nobody wants.
func giveUp(x spare) {
	pages.remove(x.at)
	unmap(x.at, x.size)
	_ = x.file.Close()
}

// FileOf returns the descriptor of the file that a block is mapped of; -1: of none.
func (f *Files) FileOf(b memory.Block) int {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	if at, out := f.Blocks.Find(b.Addr); out {
		return int(at.file.Fd())
	}
	return -1
}

// temporary file systems of memory, by the numbers of statfs.
const (
	tmpfsMagic = 0x01021994
	ramfsMagic = 0x858458f6
)

// InMemory reports whether what the folder has is in memory, as on a tmpfs.
func (f *Files) InMemory() bool {
	var s unix.Statfs_t
	return unix.Statfs(f.folder, &s) == nil && (int64(s.Type) == tmpfsMagic || int64(s.Type) == ramfsMagic)
}
