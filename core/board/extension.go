package board

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"dtl/core/status"
)

// The extension is memory of the same file for payloads of more than MaxPayload. It has no pages until a call first needs it: most
// communicators never do. Then each rank gets those of its own slot, and all of them use the extension if all could.

const (
	// MostPayload is the most bytes that an entry carries where there is an extension: 64 KiB of elements with a header.
	MostPayload   = 66 << 10
	extensionSlot = 2 * MostPayload // of a rank

	// ExtensionRanks is the most ranks of a board with an extension, which then takes 16.5 MiB.
	ExtensionRanks = 128
)

// extensionBytes returns how long the extension for so many ranks is.
func extensionBytes(ranks int) int {
	if ranks > ExtensionRanks {
		return 0
	}
	return ranks * extensionSlot
}

// MostPayload returns the most bytes that an entry carries now.
func (b *Board) MostPayload() int {
	if b.local.extension != 0 {
		return MostPayload
	}
	return MaxPayload
}

// FillExtension gets the pages of this rank's slot in the extension, or returns why there are none.
func (b *Board) FillExtension() error {
	if b.extension == nil {
		return status.New(status.OutOfMemory, "no shared memory for long payloads")
	}
	mine := b.extension[b.rank*extensionSlot:][:extensionSlot]
	err := unix.Madvise(mine, unix.MADV_POPULATE_WRITE) // refuses where a write would be a signal, and in Linux before 5.14
	if err != nil {
		_ = unix.Madvise(mine, unix.MADV_REMOVE) // those that it got
		return status.New(status.OutOfMemory, "no shared memory of %d bytes: %w", extensionSlot, err)
	}
	return nil
}

// UseExtension has entries carry MostPayload from now on. All ranks have filled theirs, and do the same between the same meetings.
func (b *Board) UseExtension() {
	b.local.extension = uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b.extension))))
}

// DropExtension gives the extension back, which is not used.
func (b *Board) DropExtension() {
	if b.extension == nil {
		return
	}
	_ = unix.Madvise(b.extension[b.rank*extensionSlot:][:extensionSlot], unix.MADV_REMOVE) // or it is freed with the board
	_ = unix.Munmap(b.extension)                                                           // of what is mapped
	b.extension = nil
}

// Keep has the payload that this rank laid down for the last meeting but one stay as it is until all ranks have come to the
// next: its rank has changed it since, for the others to read.
func (b *Board) Keep() {
	l := b.local
	for _, r := range []*ring{&l.payloads, &l.longer} {
		for part := range r.used {
			if r.used[part] == l.seq {
				r.used[part] = l.seq + 1
			}
		}
	}
}
