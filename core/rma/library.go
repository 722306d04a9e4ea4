package rma

import (
	"golang.org/x/sys/unix"

	"dtl/core/backend"
	"dtl/core/board"
	"dtl/core/comm"
	"dtl/core/memory"
	"dtl/core/status"
)

// Ranks of one machine combine elements in memory that the backend's library has allocated without a message to their owner. The
// library gives that memory back with its window, but views of a part outlive the window. So a rank maps the pages of its part a
// second time, and has its views there.

// page is the size of a page: parts in memory that the library allocates begin and end at a multiple of it.
const page = 4096

func inPages(bytes int64) int { return (int(bytes) + page - 1) &^ (page - 1) }

// secondMapping is the allocator of a second mapping of pages that somebody else has mapped, which it gives back.
type secondMapping struct{ memory.Block }

// Allocate returns the whole mapping.
func (t secondMapping) Allocate(int, int) (memory.Block, error) { return t.Block, nil }

// Deallocate unmaps it.
func (secondMapping) Deallocate(b memory.Block) { _ = unix.MunmapPtr(b.Addr, uintptr(b.Size)) } // only of memory that is not mapped

// mapAgain maps pages a second time, which are zero. That is an error where processes cannot share them: then they would be copied, or
// others be mapped.
func mapAgain(pages memory.Span) (*memory.Storage, error) {
	if uintptr(pages.Addr)%page != 0 {
		return nil, status.New(status.Unsupported, "the memory does not begin with a page")
	}
	size := uintptr(pages.Bytes())
	again, err := unix.MremapPtr(pages.Addr, 0, nil, size, unix.MREMAP_MAYMOVE)
	if err != nil {
		return nil, status.New(status.Unsupported, "the memory cannot be mapped a second time: %w", err)
	}
	block := memory.Block{Addr: again, Size: pages.Bytes()}
	one, two := (*byte)(pages.Addr), (*byte)(again)
	*one = 1
	same := *two == 1
	if *one = 0; !same {
		secondMapping{}.Deallocate(block)
		return nil, status.New(status.Unsupported, "a second mapping is of other memory")
	}
	return memory.NewStorage(secondMapping{block}, block.Size, page)
}

// allocate has the backend open memory of its own for the parts, and maps this rank's part again. It returns nil where that is of no use
// or not possible on some rank: there, the library's memory is that of one process, or there is little room. Collective.
func (w *Window) allocate(part Part, all []comm.Shared) (backend.Window, error) {
	if !part.Allocate || !w.comm.Allocates() {
		return nil, nil
	}
	if yes, err := w.unanimous(w.roomOnNode(), nil, all); !yes {
		return nil, err
	}
	exposed, pages, failed := w.comm.Allocate("window", "part", inPages(max(part.Bytes, 1)))
	if failed == nil {
		w.storage, _ = mapAgain(pages) // or the parts are not the library's
	}
	if yes, err := w.unanimous(w.storage != nil, failed, all); yes || err != nil {
		return exposed, err
	}
	if w.storage != nil {
		w.storage.Release()
		w.storage = nil
	}
	return nil, exposed.Close()
}

// unanimous reports whether all ranks say yes, and returns the error of any. Collective.
func (w *Window) unanimous(yes bool, failed error, all []comm.Shared) (bool, error) {
	said := comm.Shared{}
	if yes {
		said[0] = 1
	}
	if err := w.comm.AgreeSharing(comm.Call{Op: "window"}, failed, said, all); err != nil {
		return false, err
	}
	for _, said := range all {
		yes = yes && said[0] == 1
	}
	return yes, nil
}

// roomOnNode reports whether there are other ranks on this rank's node, and half of the shared memory there has room for all parts.
func (w *Window) roomOnNode() bool {
	if b, _ := w.comm.BoardWith(w.comm.Rank()); b == nil {
		return false
	}
	room := board.Unused() / 2
	for rank := range w.targets {
		if b, _ := w.comm.BoardWith(rank); b != nil {
			room -= int64(inPages(max(w.targets[rank].bytes, 1)))
		}
		if room < 0 {
			return false
		}
	}
	return true
}
