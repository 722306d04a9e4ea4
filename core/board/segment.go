package board

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"dtl/core/status"
)

// folder is a file system in memory. Processes of a machine may see the same one, or, in containers, each its own.
const folder = "/dev/shm"

// NameBytes is the most bytes that a segment's name takes.
const NameBytes = 64

// tokenBytes is how long the random token is that lies behind a segment's memory.
const tokenBytes = 20

// Segment is memory that processes of a machine are to map. Its file has no path, so nothing is left of it when its
// processes are killed: others open it through /proc, as a file that this process has open. Where they do not see this
// process, because they are in another container, Link gives the file a path until Close.
type Segment struct {
	file  *os.File
	token string
	path  string // "" unless there is one
}

// CreateSegment makes a segment of at least one byte, zeroed. Its pages are there from then on: a full file system is an
// error here, not a signal later.
func CreateSegment(bytes int) (*Segment, error) { return createSegment(bytes, 0) }

// createSegment is CreateSegment with room in the file for so many bytes behind it, which have no pages yet: see extension.go.
func createSegment(bytes, behind int) (*Segment, error) {
	fd, err := unix.Open(folder, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, status.New(status.Backend, "no shared memory: %w", err)
	}
	random := make([]byte, tokenBytes/2)
	_, _ = rand.Read(random) // never fails
	s := &Segment{file: os.NewFile(uintptr(fd), folder), token: hex.EncodeToString(random)}
	for err = unix.EINTR; errors.Is(err, unix.EINTR); {
		err = unix.Fallocate(fd, 0, 0, int64(bytes)+tokenBytes)
	}
	if err == nil {
		_, err = s.file.WriteAt([]byte(s.token), int64(bytes))
	}
	if err == nil && behind > 0 {
		err = unix.Ftruncate(fd, behindSegment(bytes)+int64(behind))
	}
	if err != nil {
		s.Close()
		return nil, status.New(status.OutOfMemory, "no shared memory of %d bytes: %w", bytes, err)
	}
	return s, nil
}

// Unused returns about how many bytes there is room for in segments.
func Unused() int64 {
	var there unix.Statfs_t
	if err := unix.Statfs(folder, &there); err != nil {
		return 0
	}
	return int64(there.Bavail) * there.Bsize
}

// Name returns what other processes open the segment by, until Close. A nil segment has none.
func (s *Segment) Name() string {
	if s == nil {
		return ""
	}
	return fmt.Sprintf("%d/%d/%s/%s", os.Getpid(), s.file.Fd(), s.token, Machine())
}

// Link gives the segment a path, and removes those that processes left which were killed: while a process is alive that has
// given a file a path, it has it locked.
func (s *Segment) Link() error {
	sweep()
	err := unix.Flock(int(s.file.Fd()), unix.LOCK_EX)
	if err == nil {
		s.path = path(s.token)
		err = unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", s.file.Fd()), unix.AT_FDCWD, s.path, unix.AT_SYMLINK_FOLLOW)
	}
	if err != nil {
		return status.New(status.Backend, "no shared memory: %w", err)
	}
	return nil
}

// Close ends the name; who has opened the memory keeps it. A nil segment has none.
func (s *Segment) Close() {
	if s == nil {
		return
	}
	if s.path != "" {
		removeName(s.path, s.file)
	}
	_ = s.file.Close()
}

const prefix = "dtl-"

func path(token string) string { return filepath.Join(folder, prefix+token) }

// ours tells the names of segments from those of other files that begin like them, which stay.
var ours = regexp.MustCompile(fmt.Sprintf("^%s[0-9a-f]{%d}$", prefix, tokenBytes))

// sweep removes the paths of segments whose makers have ended.
func sweep() {
	left, _ := filepath.Glob(path("*")) // of a fixed pattern
	for _, path := range left {
		if !ours.MatchString(filepath.Base(path)) {
			continue
		}
		file, err := os.OpenFile(path, os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
		if err != nil {
			continue // of another user, or gone
		}
		if likeASegment(file) && unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			removeName(path, file)
		}
		_ = file.Close()
	}
}

// likeASegment reports whether a file is this user's, for nobody else, of one name, and has room for a token.
func likeASegment(file *os.File) bool {
	var is unix.Stat_t
	return unix.Fstat(int(file.Fd()), &is) == nil && is.Mode == unix.S_IFREG|0o600 && is.Nlink == 1 &&
		int(is.Uid) == os.Geteuid() && is.Size >= tokenBytes
}

// removeName removes a path of an open file, unless it is another file's by now.
func removeName(path string, file *os.File) {
	var is, there unix.Stat_t
	if unix.Fstat(int(file.Fd()), &is) == nil && unix.Lstat(path, &there) == nil && is.Dev == there.Dev && is.Ino == there.Ino {
		_ = os.Remove(path)
	}
}

// Machine returns what tells this machine from others, also those that were started from the same image; "" if unknown.
var Machine = sync.OnceValue(func() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	text := strings.ReplaceAll(string(id), "-", "")
	return text[:min(16, len(text))]
})

// maker is what a segment's name says of where it is.
type maker struct {
	process, file  int
	token, machine string
}

func parse(name string) (m maker, ok bool) {
	fields := strings.Split(strings.TrimRight(name, "\x00"), "/")
	if len(fields) != 4 || len(fields[2]) != tokenBytes {
		return m, false
	}
	n, _ := fmt.Sscan(fields[0]+" "+fields[1], &m.process, &m.file) // what is missing shows in n
	m.token, m.machine = fields[2], fields[3]
	return m, n == 2
}

// OnThisMachine reports whether a segment is one of this machine's; no, if that is unknown.
func OnThisMachine(name string) bool {
	m, ok := parse(name)
	return ok && m.machine != "" && m.machine == Machine()
}

// OpenSegment returns the memory of a name, to be unmapped with unix.Munmap. A name of another machine is an error, and
// so is one of a process that this one does not see, unless the segment has a path.
func OpenSegment(name string, bytes int) ([]byte, error) {
	memory, _, err := openSegment(name, bytes, 0)
	return memory, err
}

// openSegment is OpenSegment of what createSegment has made. What is behind the segment is nil if it cannot be mapped.
func openSegment(name string, bytes, more int) (memory, behind []byte, err error) {
	m, ok := parse(name)
	if !ok {
		return nil, nil, status.New(status.Backend, "no shared memory: %q names none", name)
	}
	fd, err := m.open(int64(bytes))
	if err != nil {
		return nil, nil, status.New(status.Backend, "no shared memory: %w", err)
	}
	defer unix.Close(fd)
	memory, err = unix.Mmap(fd, 0, bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE)
	if err != nil {
		return nil, nil, status.New(status.OutOfMemory, "no shared memory of %d bytes: %w", bytes, err)
	}
	if more > 0 {
		behind, _ = unix.Mmap(fd, behindSegment(bytes), more, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	}
	return memory, behind, nil
}

// behindSegment returns where in its file the first page behind a segment and its token is.
func behindSegment(bytes int) int64 {
	page := int64(os.Getpagesize())
	return (int64(bytes) + tokenBytes + page - 1) / page * page
}

// open opens the file that has the token behind so many bytes: a process of that number may be another one here.
func (m maker) open(bytes int64) (fd int, err error) {
	there := fmt.Sprintf("/proc/%d/fd/%d", m.process, m.file)
	if link, _ := os.Readlink(there); strings.HasSuffix(link, " (deleted)") { // a device might mind being opened
		if fd, err = m.openAt(there, bytes); err == nil {
			return fd, nil
		}
	}
	return m.openAt(path(m.token), bytes)
}

func (m maker) openAt(path string, bytes int64) (fd int, err error) {
	if fd, err = unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC, 0); err != nil {
		return -1, err
	}
	token := make([]byte, tokenBytes)
	if _, err = unix.Pread(fd, token, bytes); err == nil && string(token) != m.token {
		err = unix.ESTALE
	}
	if err != nil {
		_ = unix.Close(fd)
	}
	return fd, err
}

// PrivateSegment returns zeroed memory of this process alone, to be unmapped like a shared one.
func PrivateSegment(bytes int) ([]byte, error) {
	memory, err := unix.Mmap(-1, 0, bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, status.New(status.OutOfMemory, "no memory of %d bytes: %w", bytes, err)
	}
	return memory, nil
}
