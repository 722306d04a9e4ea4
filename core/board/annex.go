package board

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"dtl/core/status"
)

// The annex is memory of the same file for payloads of more than MaxPayload. It has no pages until a call first needs it: most
// communicators never do. Then each rank gets those of its own slot, and all of them use the annex if all could.

const (
	// MostPayload is the most bytes that an entry carries where there is an annex: 64 KiB of elements with a header.
	MostPayload = 66 << 10
	annexSlot   = 2 * MostPayload // of a rank

	// AnnexRanks is the most ranks of a board with an annex, which then takes 16.5 MiB.
	AnnexRanks = 128
)

// annexBytes returns how long the annex for so many ranks is.
func annexBytes(ranks int) int {
	if ranks > AnnexRanks {
		return 0
	}
	return ranks * annexSlot
}

// MostPayload returns the most bytes that an entry carries now.
func (b *Board) MostPayload() int {
	if b.local.annex != 0 {
		return MostPayload
	}
	return MaxPayload
}

// FillAnnex gets the pages of this rank's slot in the annex, or returns why there are none.
func (b *Board) FillAnnex() error {
	if b.annex == nil {
		return status.New(status.OutOfMemory, "no shared memory for long payloads")
	}
	mine := b.annex[b.rank*annexSlot:][:annexSlot]
	err := unix.Madvise(mine, unix.MADV_POPULATE_WRITE) // refuses where a write would be a signal, and in Linux before 5.14
	if err != nil {
		_ = unix.Madvise(mine, unix.MADV_REMOVE) // those that it got
		return status.New(status.OutOfMemory, "no shared memory of %d bytes: %w", annexSlot, err)
	}
	return nil
}

// UseAnnex has entries carry MostPayload from now on. All ranks have filled theirs, and do the same between the same meetings.
func (b *Board) UseAnnex() {
	b.local.annex = uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b.annex))))
}

// DropAnnex gives the annex back, which is not used.
func (b *Board) DropAnnex() {
	if b.annex == nil {
		return
	}
	_ = unix.Madvise(b.annex[b.rank*annexSlot:][:annexSlot], unix.MADV_REMOVE) // or it is freed with the board
	_ = unix.Munmap(b.annex)                                                   // of what is mapped
	b.annex = nil
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
