package gpu

import (
	"unsafe"

	"dtl/core/backend"
	"dtl/core/memory"
)

// ordered is memory for what one queue alone works on. A block that is given back can be used again at once, because what the queue
// does with it later comes after what it did before.
type ordered struct {
	*space
	q *queue
}

var _ backend.DeviceSpace = (*ordered)(nil)

// Allocate returns memory that the queue fills with zeros.
func (o *ordered) Allocate(size, alignment int) (memory.Block, error) {
	return o.zeroed(o.q, o.q.stream, size, alignment)
}

// AllocateUsed returns memory that holds anything. What is queued here by now may still touch it.
func (o *ordered) AllocateUsed(size, alignment int) (memory.Block, error) {
	return o.allocate(size, alignment, o.q.stream)
}

// fence is an event in a stream, or in all of them, behind the work on blocks that were given back before it was recorded.
type fence struct {
	event   event  // 0 until it is made
	pending uint64 // how many blocks had been given back when the event was recorded; 0 unless it is
	passed  uint64 // how many had been when the last event was recorded that the device has come to
}

// reuse returns a block of so many bytes that is kept and that nothing touches but what is queued on the class's stream; nil if there
// is none. It waits only where the driver cannot tell what all streams have done.
func (s *space) reuse(of class) (unsafe.Pointer, error) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if n := len(s.spare[of]); n > 0 && of.in != anyStream {
		return s.pick(of, n-1), nil
	}
	for _, in := range s.givers {
		other := class{of.bytes, in}
		if len(s.spare[other]) == 0 {
			continue
		}
		if passed, err := s.passed(in, s.spare[other][0].given); err != nil {
			return nil, err
		} else if passed {
			return s.pick(other, 0), nil
		}
	}
	if len(s.spare[class{of.bytes, anyStream}]) > 0 && !s.on.recordsAll() {
		return s.wait(of.bytes)
	}
	return nil, nil
}

// passed reports whether the device has done what streams did with a block. If that is not known, an event is recorded that will tell.
func (s *space) passed(in stream, given uint64) (bool, error) {
	if given <= s.idle {
		return true, nil
	}
	if in == anyStream && !s.on.recordsAll() {
		return false, nil
	}
	f := s.fences[in]
	if f == nil {
		f = &fence{}
		s.fences[in] = f
	}
	if given > f.passed && f.pending > 0 { // one that was recorded before may be enough
		if err := s.ask(f); err != nil {
			return false, err
		}
	}
	if given > f.passed && f.pending == 0 {
		if err := s.record(f, in); err != nil {
			return false, err
		}
		if err := s.ask(f); err != nil {
			return false, err
		}
	}
	return given <= f.passed, nil
}

// ask notes whether the device has come to a fence.
func (s *space) ask(f *fence) error {
	done, err := s.on.eventDone(f.event)
	if done {
		f.passed, f.pending = f.pending, 0
	}
	return err
}

// record puts a fence behind what is queued by now.
func (s *space) record(f *fence, in stream) (err error) {
	if f.event == 0 {
		if f.event, err = s.on.newEvent(); err != nil {
			return err
		}
	}
	if err = s.on.record(f.event, in); err == nil {
		f.pending = s.given
	}
	return err
}

// waitFor returns a block of so many bytes that is kept, when the device has done all that is queued; nil if there is none.
func (s *space) waitFor(bytes int) (unsafe.Pointer, error) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.wait(bytes)
}

// wait does what waitFor does. The caller holds the lock.
func (s *space) wait(bytes int) (unsafe.Pointer, error) {
	for _, in := range s.givers {
		of := class{bytes, in}
		if len(s.spare[of]) == 0 {
			continue
		}
		if s.spare[of][0].given > s.idle {
			if err := s.on.synchronize(); err != nil {
				return nil, err
			}
			s.idle = s.given
		}
		return s.pick(of, 0), nil
	}
	return nil, nil
}

// pick takes a block that is kept.
func (s *space) pick(of class, i int) unsafe.Pointer {
	list := s.spare[of]
	at := list[i].at
	s.spare[of] = append(list[:i], list[i+1:]...)
	s.kept -= int64(of.bytes)
	return at
}

// dropFences gives the events back.
func (s *space) dropFences() (err error) {
	for in, f := range s.fences {
		if f.event != 0 {
			if failed := s.on.dropEvent(f.event); failed != nil {
				err = failed
			}
		}
		delete(s.fences, in)
	}
	return err
}
