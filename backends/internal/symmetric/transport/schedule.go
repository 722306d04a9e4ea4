package transport

// #include "schedule.h"
import "C"

import (
	"unsafe"

	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/kernel/reduce"
	"dtl/core/memory"
)

// Schedule is what a rank does for a collective, step by step: whoever has the engine go on takes them. The zero Schedule has
// no step. Its memory stays while it is under way.
type Schedule struct{ steps []C.struct_dtl_step }

// Clear takes all steps out.
func (s *Schedule) Clear() { s.steps = s.steps[:0] }

func (s *Schedule) add(kind, rank int, into, from memory.Span, op kernel.Op) {
	s.steps = append(s.steps, C.struct_dtl_step{
		kind: C.int32_t(kind), rank: C.int32_t(rank), _type: C.int32_t(into.Type), op: C.int32_t(op),
		into: C.uint64_t(uintptr(into.Addr)), from: C.uint64_t(uintptr(from.Addr)), bytes: C.int64_t(max(into.Bytes(), from.Bytes())),
	})
}

// Send starts to send to a rank.
func (s *Schedule) Send(buf memory.Span, rank int) {
	s.add(C.DTL_STEP_SEND, rank, memory.Span{}, buf, 0)
}

// Receive starts to receive from a rank, whose messages come in the order in which it sends them.
func (s *Schedule) Receive(buf memory.Span, rank int) {
	s.add(C.DTL_STEP_RECEIVE, rank, buf, memory.Span{}, 0)
}

// Await waits for the receives before. What is sent is waited for at the end.
func (s *Schedule) Await() { s.add(C.DTL_STEP_AWAIT, 0, memory.Span{}, memory.Span{}, 0) }

// Copy copies elements, none of which are in both.
func (s *Schedule) Copy(into, from memory.Span) { s.add(C.DTL_STEP_COPY, 0, into, from, 0) }

// Combine combines elements, which have the operator.
func (s *Schedule) Combine(into, from memory.Span, op kernel.Op) {
	s.add(C.DTL_STEP_COMBINE, 0, into, from, op)
}

//export dtl_combine
func dtl_combine(into, from C.uint64_t, bytes C.int64_t, typ, op C.int32_t) {
	t := dtype.Type(typ)
	n := int(bytes) / t.Size()
	_ = reduce.Accumulate(spanAt(into, n, t), spanAt(from, n, t), kernel.Op(op)) // who made the step has checked that it can
}

// spanAt returns the elements at an address.
func spanAt(addr C.uint64_t, n int, t dtype.Type) memory.Span {
	return memory.Span{Addr: *(*unsafe.Pointer)(unsafe.Pointer(&addr)), Count: n, Type: t}
}
