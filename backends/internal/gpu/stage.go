package gpu

import (
	"sync"
	"unsafe"

	"dtl/core/memory"
)

// piece is how many bytes go through one half of a stage at a time: the device copies one half while the processor copies the
// other.
const piece = 2 << 20

// stage is pinned memory that bytes go through on their way between the host and a device, in two halves. It is made when it
// is first needed.
type stage struct {
	on driven

	mu     sync.Mutex
	halves [2]half
}

// half is one half, and the event of the copy that used it last. After a call that failed, a copy may be under way without an event.
type half struct {
	at     unsafe.Pointer
	then   event
	failed bool
}

// ready makes the halves. The caller holds the lock.
func (s *stage) ready() error {
	for i := range s.halves {
		h := &s.halves[i]
		if h.at == nil {
			at, err := s.on.pin(piece)
			if err != nil {
				return err
			}
			h.at = at
		}
		if h.then == 0 {
			e, err := s.on.newEvent()
			if err != nil {
				return err
			}
			h.then = e
		}
	}
	return nil
}

// settle returns when the device has done what it did with a half.
func (s *stage) settle(h *half) error {
	if !h.failed {
		return s.on.waitEvent(h.then)
	}
	err := s.on.synchronize()
	h.failed = err != nil
	return err
}

// copy queues a copy from or to a half that is settled.
func (s *stage) copy(h *half, in stream, to, from unsafe.Pointer, n int) error {
	err := s.on.copy(in, to, from, n, h.then)
	h.failed = err != nil
	return err
}

// trim unpins the halves, when the device has done what it did with them.
func (s *stage) trim() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.halves {
		h := &s.halves[i]
		if h.at == nil {
			continue
		}
		if h.then != 0 { // else it could not be made, and nothing has used the half
			if err := s.settle(h); err != nil {
				return err
			}
		}
		if err := s.on.unpin(h.at); err != nil {
			return err
		}
		h.at = nil
	}
	return nil
}

// upload queues a copy to the device. The host's memory has been read when it returns.
func (s *stage) upload(in stream, to, from unsafe.Pointer, n int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ready(); err != nil {
		return err
	}
	for at, k := 0, 0; at < n; at, k = at+piece, k+1 {
		h, size := &s.halves[k%2], min(piece, n-at)
		if err := s.settle(h); err != nil {
			return err
		}
		memory.Move(h.at, unsafe.Add(from, at), size)
		if err := s.copy(h, in, unsafe.Add(to, at), h.at, size); err != nil {
			return err
		}
	}
	return nil
}

// download copies from the device, in the order of the stream, and returns when the bytes are there.
func (s *stage) download(in stream, to, from unsafe.Pointer, n int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ready(); err != nil {
		return err
	}
	begin := func(at, k int) error {
		h := &s.halves[k%2]
		if err := s.settle(h); err != nil { // of an upload before
			return err
		}
		return s.copy(h, in, h.at, unsafe.Add(from, at), min(piece, n-at))
	}
	if err := begin(0, 0); err != nil {
		return err
	}
	for at, k := 0, 0; at < n; at, k = at+piece, k+1 {
		if at+piece < n {
			if err := begin(at+piece, k+1); err != nil {
				return err
			}
		}
		h := &s.halves[k%2]
		if err := s.settle(h); err != nil {
			return err
		}
		memory.Move(unsafe.Add(to, at), h.at, min(piece, n-at))
	}
	return nil
}
