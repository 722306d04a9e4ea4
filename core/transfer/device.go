package transfer

import (
	"cmp"
	"unsafe"

	"dtl/core/backend"
	"dtl/core/dtype"
	"dtl/core/memory"
)

const (
	// deviceChunk is the most bytes of a message where a side is on devices: each costs a kernel and a wait for it.
	deviceChunk = 2 << 20
	// deviceRuns is how many runs a kernel is given at a time at most.
	deviceRuns = 1 << 16
)

// span is n bytes of the memory from its first element on. A device's are told apart by their place.
func (m Memory) span(n int64) memory.Span {
	return memory.Span{Addr: m.Addr, Count: int(n), Type: dtype.Uint8, Place: m.Place}
}

// runs takes stretches of the next n bytes, as a kernel moves them, at most deviceRuns of them. It returns how many bytes they have. A
// side whose bytes follow each other from an address on, as in a buffer, is dense.
func (w *walker) runs(n int64, dense [2]bool) (all []backend.Run, bytes int64) {
	for bytes < n && len(all) < deviceRuns {
		s := w.next(n - bytes)
		for side := range s.at {
			if dense[side] {
				s.at[side], s.stride[side] = bytes, s.unit
			}
		}
		all = append(all, backend.Run{
			From: s.at[0], FromStep: s.stride[0], To: s.at[1], ToStep: s.stride[1], Unit: s.unit, Count: s.count,
		})
		bytes += s.unit * s.count
	}
	return all, bytes
}

// moveOnDevice is move where this rank's memory is on a device. It waits, also after a failure, where the host touches managed memory next.
func (f *flow) moveOnDevice(buffer unsafe.Pointer, n int64) error {
	err := f.queueMove(buffer, n)
	if f.memory.waits {
		err = cmp.Or(err, f.memory.Queue.Device().Settle())
	}
	return err
}

// queueMove queues the kernels of a move.
func (f *flow) queueMove(buffer unsafe.Pointer, n int64) error {
	for n > 0 {
		dense := [2]bool{f.side != 0, f.side != 1}
		all, bytes := f.walk.runs(n, dense)
		packed := memory.Span{Addr: buffer, Count: int(bytes), Type: dtype.Uint8, Place: f.buffer}
		dst, src := packed, f.memory.span(bytes)
		if f.side == 1 {
			dst, src = src, dst
		}
		if err := f.memory.Queue.Runs(dst, src, all); err != nil {
			return err
		}
		buffer, n = unsafe.Add(buffer, bytes), n-bytes
	}
	return nil
}

// within reports whether a device moves elements between both memories by itself.
func within(memories [2]Memory) bool {
	q, r := memories[0].Queue, memories[1].Queue
	return q != nil && r != nil && q.Device() == r.Device()
}

// direct returns the side of what stays on this rank whose memory is the host's and as dense as a buffer, or -1.
func (t *Transfer) direct() int {
	for side, m := range t.memory {
		var strides [2][]int64
		if strides[side] = m.Strides; m.Queue == nil && t.own.grain(strides).kept == 0 {
			return side
		}
	}
	return -1
}

// between returns how many bytes of a buffer are needed for what stays on this rank.
func (t *Transfer) between() int64 {
	if t.own == nil || !t.OnDevice() || within(t.memory) || t.direct() >= 0 {
		return 0
	}
	return min(t.own.bytes, deviceChunk)
}

// OnDevice reports whether memory of this rank is on a device.
func (t *Transfer) OnDevice() bool { return t.memory[0].Queue != nil || t.memory[1].Queue != nil }

// Known reports whether all ranks know of the error that Run returned, since a library that connects their devices has them agree.
func (t *Transfer) Known() bool { return t.known }

// keep moves what stays on this rank.
func (t *Transfer) keep() error {
	strides := [2][]int64{t.memory[0].Strides, t.memory[1].Strides}
	switch {
	case t.own == nil:
		return nil
	case !t.OnDevice():
		w := t.own.walk(t.own.grain(strides), strides)
		w.put = t.memory[1].Combine
		w.copy(t.memory[1].Addr, t.memory[0].Addr, t.own.bytes)
		return nil
	case within(t.memory):
		return t.keepOnDevice(t.own.walk(t.own.grain(strides), strides))
	}
	return t.keepThroughHost()
}

// keepOnDevice moves what stays where both memories are on one device, in the order of both queues.
func (t *Transfer) keepOnDevice(w *walker) error {
	from, to := t.memory[0].Queue, t.memory[1].Queue
	return backend.InOrder(to, []backend.Queue{from}, func() error {
		for done := int64(0); done < t.own.bytes; {
			all, bytes := w.runs(t.own.bytes-done, [2]bool{})
			if err := to.Runs(t.memory[1].span(bytes), t.memory[0].span(bytes), all); err != nil {
				return err
			}
			done += bytes
		}
		return nil
	})
}

// keepThroughHost moves what stays by pieces, by way of a buffer, or of the host's side where that is as good as one.
func (t *Transfer) keepThroughHost() error {
	direct, me := t.direct(), t.comm.Rank()
	flows := [2]*flow{t.own.newFlow(0, me, t.memory[0], deviceChunk), t.own.newFlow(1, me, t.memory[1], deviceChunk)}
	for done := int64(0); done < t.own.bytes; {
		n := min(deviceChunk, t.own.bytes-done)
		buffer := t.middle
		if direct >= 0 {
			buffer = unsafe.Add(t.memory[direct].Addr, flows[direct].own.base[direct]+done)
		}
		for side, f := range flows {
			if side == direct {
				continue
			}
			if err := f.move(buffer, n); err != nil {
				return err
			}
		}
		done += n
	}
	return nil
}
