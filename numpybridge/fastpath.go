//go:build cpython

package numpybridge

// #include "bridge.h"
import "C"

import (
	"unsafe"

	_ "dtl/core/board/cma" // cma.h is included here
	"dtl/core/comm"
	_ "dtl/core/comm/agreement/nodes" // and nodes.h
	"dtl/core/comm/wire"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
	_ "dtl/core/mix" // and mix.h
	"dtl/core/progress"
	"dtl/core/rma"
	"dtl/core/status"
	"dtl/core/watchdog"
)

// dtl_fast_context sets who this rank of a context is and how many there are, and returns where the context's board is, or
// NULL if there is none that C may use. between is set where ranks of several nodes meet, or stays NULL.
//
//export dtl_fast_context
func dtl_fast_context(handle C.int64_t, rank, size *C.int32_t, between *unsafe.Pointer) (at unsafe.Pointer) {
	defer guard(nil)
	c := Call{Handle: int64(handle)}
	_ = c.on(func(on *comm.Comm) error { // of a context that is closed, there is none
		*rank, *size = C.int32_t(on.Rank()), C.int32_t(on.Size())
		at, *between = on.OpenFastPath(int64(handle))
		return nil
	})
	return at
}

// dtl_fast_window returns where a window is, or NULL if C may not use it.
//
//export dtl_fast_window
func dtl_fast_window(handle C.int64_t) (at unsafe.Pointer) {
	defer guard(nil)
	c := Call{Handle: int64(handle)}
	_ = c.window(func(w *rma.Window) error { // of one that is closed, there is none
		at = w.OpenFastPath(int64(handle))
		return nil
	})
	return at
}

// dtl_fast_request returns where a request is to be looked at, or NULL if C may not do so.
//
//export dtl_fast_request
func dtl_fast_request(handle C.int64_t) (at unsafe.Pointer) {
	defer guard(nil)
	c := Call{Handle: int64(handle)}
	_ = c.request(func(r *comm.Request) error { // of one that is closed, there is none
		at = r.OpenPeek(int64(handle))
		return nil
	})
	return at
}

// dtl_end says that the program ends.
//
//export dtl_end
func dtl_end() {
	defer guard(nil)
	watchdog.End()
}

// dtl_polls returns the address of an int32: where it is not 0, dtl_poll is called before each call that C makes by itself.
//
//export dtl_polls
func dtl_polls() C.uintptr_t {
	defer guard(nil)
	return C.uintptr_t(uintptr(unsafe.Pointer(progress.Polls()))) // which never moves
}

// dtl_ahead_of_others returns the address of what says of which ranks this process is ahead.
//
//export dtl_ahead_of_others
func dtl_ahead_of_others() C.uintptr_t {
	defer guard(nil)
	return C.uintptr_t(uintptr(comm.AheadOfOthers())) // which never moves
}

// dtl_poll goes on with what is under way.
//
//export dtl_poll
func dtl_poll() {
	defer guard(nil)
	progress.Poll()
}

// dtl_hash returns a number for an operation's name, or with by for an operator's.
//
//export dtl_hash
func dtl_hash(number C.int64_t, by C.int) (print C.uint64_t) {
	defer guard(nil)
	if by != 0 {
		return C.uint64_t(wire.Hash(kernel.Op(number).String()))
	}
	if row := Code(number).row(); row != nil {
		return C.uint64_t(wire.Hash(row.name))
	}
	return 0
}

// dtl_meet waits for the ranks to meet for a call that C laid down, and sets failed if they do not agree.
//
//export dtl_meet
func dtl_meet(b *C.dtl_signature, failed **C.char) {
	defer guard(failed)
	c := Call{Handle: int64(b.handle)}
	err := c.within(func(on *comm.Comm) error {
		signature := wire.Signature{
			Op: Code(b.code).row().name, Type: dtype.Type(b._type), Count: int(b.count), Root: int64(b.root), ElementsOptional: b.elements_optional != 0,
		}
		if b.op >= 0 {
			signature.Operator = kernel.Op(b.op).String()
		}
		return on.Meet(signature)
	})
	if err != nil {
		*failed = C.CString(status.Encode(err))
	}
}

// dtl_move has the backend make a call from send to recv for which C has had all ranks meet: allreduce, or, without an operator,
// allgather among so many ranks.
//
//export dtl_move
func dtl_move(b *C.dtl_signature, send, recv unsafe.Pointer, ranks C.int, failed **C.char) {
	defer guard(failed)
	c := Call{Handle: int64(b.handle)}
	from := memory.Span{Addr: send, Count: int(b.count), Type: dtype.Type(b._type)}
	into := memory.Span{Addr: recv, Count: int(b.count), Type: dtype.Type(b._type)}
	err := c.within(func(on *comm.Comm) error {
		if b.op >= 0 {
			return on.Allreduced(from, into, kernel.Op(b.op))
		}
		into.Count *= int(ranks)
		return on.Allgathered(from, into)
	})
	if err != nil {
		*failed = C.CString(status.Encode(err))
	}
}

// dtl_finish_send waits for a message that C has sent and that has not gone yet: there is a request, or an offer that is
// not negative; or that may not have gone, because of an error rc.
//
//export dtl_finish_send
func dtl_finish_send(handle C.int64_t, request C.uint64_t, rc, offer C.int, dest, tag C.int64_t, failed **C.char) {
	defer guard(failed)
	c := Call{Handle: int64(handle)}
	err := c.within(func(on *comm.Comm) error {
		return on.FinishSend(uint64(request), int(rc), int(offer), int64(dest), int64(tag))
	})
	if err != nil {
		*failed = C.CString(status.Encode(err))
	}
}

// dtl_await_copy waits until a rank has copied its share of what it offers under a number, which C collects here.
//
//export dtl_await_copy
func dtl_await_copy(handle C.int64_t, rank, number, tag C.int, failed **C.char) {
	defer guard(failed)
	c := Call{Handle: int64(handle)}
	err := c.within(func(on *comm.Comm) error { return on.AwaitCopy(int(rank), int(number), int64(tag)) })
	if err != nil {
		*failed = C.CString(status.Encode(err))
	}
}

// dtl_keep_unexpected keeps a message that C has received, and that does not fit there, for the next receive.
//
//export dtl_keep_unexpected
func dtl_keep_unexpected(handle C.int64_t, message unsafe.Pointer, bytes C.int64_t, source, tag C.int, failed **C.char) {
	defer guard(failed)
	c := Call{Handle: int64(handle)}
	err := c.on(func(on *comm.Comm) error {
		return on.KeepUnexpected(memory.Span{Addr: message, Count: int(bytes), Type: dtype.Uint8}, int(source), int(tag))
	})
	if err != nil {
		*failed = C.CString(status.Encode(err))
	}
}

// dtl_take_turn takes the turn on a context for several calls of the calling thread, which are parts of op, and returns 1 if it
// had to be taken, else 0.
//
//export dtl_take_turn
func dtl_take_turn(handle C.int64_t, op *C.char, failed **C.char) (first C.int) {
	defer guard(failed)
	yes, err := TakeTurn(int64(handle), C.GoString(op))
	if err != nil {
		*failed = C.CString(status.Encode(err))
	}
	if yes {
		return 1
	}
	return 0
}

// dtl_end_turn ends the turn that dtl_take_turn has taken.
//
//export dtl_end_turn
func dtl_end_turn(handle C.int64_t, failed **C.char) {
	defer guard(failed)
	if err := EndTurn(int64(handle)); err != nil {
		*failed = C.CString(status.Encode(err))
	}
}
