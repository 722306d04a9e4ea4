package board

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"dtl/core/status"
)

// presence is what a rank lets others know of its process, and what it offers them.
type presence struct {
	process  int64
	key, lie uint64 // a random number, and where it lies in the process
	reads    uint32 // 1 if this rank can read the memory of every other
	_        [36]byte
	offers   [OffersKept]offer
}

// PresenceBytes is for code outside Go that looks there.
const PresenceBytes = unsafe.Sizeof(presence{})

// introduce tells the others of this process.
func (p *presence) introduce(process int, l *Local) {
	var key [8]byte
	_, _ = rand.Read(key[:]) // never fails
	l.key = binary.LittleEndian.Uint64(key[:])
	p.key, p.lie = l.key, uint64(uintptr(unsafe.Pointer(&l.key)))
	atomic.StoreInt64(&p.process, int64(process))
}

// TryReading finds out whether this rank can read the others' memory, and lets them know. All have the board open.
func (b *Board) TryReading() {
	for rank := range b.size {
		if !b.slot(rank).presence.there() {
			return
		}
	}
	atomic.StoreUint32(&b.slot(b.rank).presence.reads, 1)
}

// Reads reports whether a rank can read the memory of every other.
func (b *Board) Reads(rank int) bool { return atomic.LoadUint32(&b.slot(rank).presence.reads) != 0 }

// there reports whether the process is that of its key, and can be read.
func (p *presence) there() bool {
	key := ^p.key
	return p.copy(unix.ProcessVMReadv, unsafe.Pointer(&key), p.lie, 8) == nil && key == p.key
}

// Alive reports whether a rank's process is there, where this one can read its memory; else yes.
func (b *Board) Alive(rank int) bool { return !b.Reads(b.rank) || b.slot(rank).presence.there() }

// Read copies bytes from an address in a rank's process.
func (b *Board) Read(rank int, here unsafe.Pointer, there uint64, bytes int) error {
	return b.slot(rank).presence.reach(unix.ProcessVMReadv, rank, here, there, bytes)
}

// Write copies bytes to an address in a rank's process.
func (b *Board) Write(rank int, here unsafe.Pointer, there uint64, bytes int) error {
	return b.slot(rank).presence.reach(unix.ProcessVMWritev, rank, here, there, bytes)
}

func (p *presence) reach(move mover, rank int, here unsafe.Pointer, there uint64, bytes int) error {
	if err := p.copy(move, here, there, int64(bytes)); err != nil {
		return status.New(status.Communication, "rank %d's memory: %w", rank, err)
	}
	return nil
}

// mover is the kernel's copying between memory here and that of another process, in one of the directions.
type mover func(process int, here []unix.Iovec, there []unix.RemoteIovec, flags uint) (int, error)

// copy moves bytes between here and the process's memory.
func (p *presence) copy(move mover, here unsafe.Pointer, there uint64, bytes int64) error {
	for done := int64(0); done < bytes; {
		from := []unix.Iovec{{Base: (*byte)(unsafe.Add(here, done))}}
		from[0].SetLen(int(bytes - done))
		to := []unix.RemoteIovec{{Base: uintptr(there) + uintptr(done), Len: int(bytes - done)}}
		n, err := move(int(p.process), from, to, 0)
		if n <= 0 {
			return errors.Join(err, errors.New("the memory of the other process cannot be reached"))
		}
		done += int64(n)
	}
	return nil
}

// Two processes copy at once, part by part: half of what there is, but not so little that the kernel's way there takes
// longer, nor so much that one waits long for the other's last part.
const leastPart, mostPart = 16 << 10, 256 << 10

// briefLooks is how often a rank that has copied its parts looks whether the other has, too, before it waits in other ways:
// several times as long as that takes where the other rank runs.
const briefLooks = 20_000

func (o *offer) part() int64 {
	return min(max((o.bytes/2+4095)&^4095, leastPart), mostPart)
}

// copyParts copies parts that nobody has begun, between memory here and that of a process.
func (o *offer) copyParts(p *presence, move mover, here unsafe.Pointer, there uint64) {
	size := o.part()
	for {
		at := size * (atomic.AddInt64(&o.next, 1) - 1)
		if at >= o.bytes {
			return
		}
		n := min(size, o.bytes-at)
		if p.copy(move, unsafe.Add(here, at), there+uint64(at), n) != nil {
			atomic.StoreUint32(&o.spoilt, 1)
		}
		atomic.AddInt64(&o.finished, n)
	}
}

// give copies what the taker has not begun yet.
func (o *offer) give(taker *presence) {
	var here unsafe.Pointer
	*(*uint64)(unsafe.Pointer(&here)) = o.addr // which whoever offers it keeps where it is
	o.copyParts(taker, unix.ProcessVMWritev, here, o.into)
}

// share lets the rank whose offer it is copy parts to memory here, unless it has given the offer up.
func (o *offer) share(rank int, into unsafe.Pointer) {
	o.taker, o.into, o.next, o.finished, o.spoilt = uint32(rank), uint64(uintptr(into)), 0, 0, 0
	atomic.CompareAndSwapUint32(&o.state, claimed, shared)
}

// outstanding reports whether parts are being copied, after copyParts has begun the last one.
func (o *offer) outstanding() bool { return atomic.LoadInt64(&o.finished) < o.bytes }

// The offers are behind a whole cache line.
const _ = uint(64-unsafe.Offsetof(presence{}.offers)) + uint(unsafe.Offsetof(presence{}.offers)-64)
