package board

import (
	"crypto/rand"
	"encoding/hex"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"dtl/core/status"
)

// folder is a file system in memory, which all processes of a machine see.
const folder = "/dev/shm"

// NameBytes is how long a segment's name is.
const NameBytes = 40

// CreateSegment makes memory of at least one byte, zeroed, and returns the name by which processes of this machine open
// it. Its pages are there from then on: a full file system is an error here, not a signal later.
func CreateSegment(bytes int) (name string, err error) {
	random := make([]byte, (NameBytes-4)/2)
	_, _ = rand.Read(random) // never fails
	name = "dtl-" + hex.EncodeToString(random)
	file, err := os.OpenFile(filepath.Join(folder, name), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", status.New(status.Backend, "no shared memory: %w", err)
	}
	defer file.Close()
	if err := unix.Fallocate(int(file.Fd()), 0, 0, int64(bytes)); err != nil {
		Forget(name)
		return "", status.New(status.OutOfMemory, "no shared memory of %d bytes: %w", bytes, err)
	}
	return name, nil
}

// Forget takes the name away; who has opened the memory keeps it.
func Forget(name string) { _ = os.Remove(filepath.Join(folder, name)) }

// OpenSegment returns the memory of a name, to be unmapped with unix.Munmap. A name of another machine is an error.
func OpenSegment(name string, bytes int) ([]byte, error) {
	file, err := os.OpenFile(filepath.Join(folder, name), os.O_RDWR, 0)
	if err != nil {
		return nil, status.New(status.Backend, "no shared memory: %w", err)
	}
	defer file.Close()
	memory, err := unix.Mmap(int(file.Fd()), 0, bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE)
	if err != nil {
		return nil, status.New(status.OutOfMemory, "no shared memory of %d bytes: %w", bytes, err)
	}
	return memory, nil
}

// PrivateSegment returns zeroed memory of this process alone, to be unmapped like a shared one.
func PrivateSegment(bytes int) ([]byte, error) {
	memory, err := unix.Mmap(-1, 0, bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, status.New(status.OutOfMemory, "no memory of %d bytes: %w", bytes, err)
	}
	return memory, nil
}
