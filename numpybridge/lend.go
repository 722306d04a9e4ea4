//go:build cpython

package numpybridge

// #include "bridge.h"
import "C"

import (
	"unsafe"

	"dtl/core/board"
	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/status"
)

// The layouts of bridge.h are those of the board: a difference is a constant that does not fit.
const (
	_ = uint(C.sizeof_dtl_board-unsafe.Sizeof(board.Local{})) + uint(unsafe.Sizeof(board.Local{})-C.sizeof_dtl_board)
	_ = uint(C.sizeof_dtl_entry-unsafe.Sizeof(board.Entry{})) + uint(unsafe.Sizeof(board.Entry{})-C.sizeof_dtl_entry)
	_ = uint(C.DTL_PAYLOAD_BYTES-board.MaxPayload) + uint(board.MaxPayload-C.DTL_PAYLOAD_BYTES)
)

// dtl_lend returns where the board of a context is, or NULL if there is none that C may use.
//
//export dtl_lend
func dtl_lend(handle C.int64_t) (at unsafe.Pointer) {
	defer guard(nil)
	c := Call{Handle: int64(handle)}
	_ = c.on(func(on *comm.Comm) error { // of a context that is closed, there is none
		at = on.Lend(int64(handle))
		return nil
	})
	return at
}

// dtl_print returns a number for an operation's name, or with by for an operator's.
//
//export dtl_print
func dtl_print(number C.int64_t, by C.int) (print C.uint64_t) {
	defer guard(nil)
	if by != 0 {
		return C.uint64_t(comm.Print(kernel.Op(number).String()))
	}
	if row := Code(number).row(); row != nil {
		return C.uint64_t(comm.Print(row.name))
	}
	return 0
}

// dtl_meet waits for the ranks to meet for a call that C laid down, and sets failed if they do not agree.
//
//export dtl_meet
func dtl_meet(b *C.dtl_brief, failed **C.char) {
	defer guard(failed)
	c := Call{Handle: int64(b.handle)}
	err := c.on(func(on *comm.Comm) error {
		brief := comm.Brief{
			Op: Code(b.code).row().name, Type: dtype.Type(b._type), Count: int(b.count), Root: int64(b.root), Loose: b.loose != 0,
		}
		if b.op >= 0 {
			brief.By = kernel.Op(b.op).String()
		}
		return on.Meet(brief)
	})
	if err != nil {
		*failed = C.CString(status.Encode(err))
	}
}
