package numpybridge

import (
	"unsafe"

	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/handle"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/runtime"
	"dtl/core/status"
)

// ncclCollective is a collective call among the GPUs that a library connects. args[0] is the code of the same call on the host, args[1] the
// operator and args[2] root. The input has five integers for what is sent, and five for what is received: the address, the number
// of elements, their type, their device, -1 for the host, and the driver's stream that works on them.
func ncclCollective(c *Call) (err error) {
	ref, err := runtime.Contexts.Acquire(handle.Handle(c.Handle))
	if err != nil {
		return c.unknown(err)
	}
	defer ref.End(&err)
	if _, err := ref.Object.Comm(); err != nil {
		return err
	}
	words, err := c.integers()
	if err != nil {
		return err
	}
	op, err := kernel.ParseOp(c.Args[1])
	if err != nil {
		return err
	}
	among := ref.Object.Linked()
	if among == nil || len(words) != 10 {
		return status.New(status.Internal, "nothing connects the GPUs of this context, or %d integers describe two arrays", len(words))
	}
	return amongDevices(among, Code(c.Args[0]), placed(words[:5]), placed(words[5:]), op, c.Args[2])
}

func amongDevices(among *comm.Devices, code Code, send, recv comm.Placed, op kernel.Op, root int64) error {
	switch code {
	case Allreduce:
		return among.Allreduce(send, recv, op)
	case Reduce:
		return among.Reduce(send, recv, op, root)
	case ReduceParts:
		return among.ReduceScatter(send, recv, op)
	case Broadcast:
		return among.Broadcast(send, recv, root)
	case Gather:
		return among.Gather(send, recv, root)
	case Scatter:
		return among.Scatter(send, recv, root)
	case Allgather:
		return among.Allgather(send, recv)
	case Alltoall:
		return among.Alltoall(send, recv)
	}
	return status.New(status.Internal, "operation %d is none among GPUs", code)
}

// placed is an array that five integers describe.
func placed(words []int64) comm.Placed {
	at := uintptr(words[0])
	span := memory.Span{Count: int(words[1]), Type: dtype.Type(words[2]), Place: memory.OnDevice(int(words[3]))}
	span.Addr = *(*unsafe.Pointer)(unsafe.Pointer(&at)) // of an array that the caller keeps
	return comm.Placed{Span: span, Stream: uintptr(words[4])}
}
