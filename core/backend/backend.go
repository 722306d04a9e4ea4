// Package backend states what the core asks of a backend, and keeps the registry of backends.
//
// A backend is one way to communicate, compute or hold memory. It implements Backend. If it offers more, it also
// implements provider interfaces, which the core finds by type assertion.
package backend

import (
	"os"
	"time"

	"dtl/core/kernel"
	"dtl/core/memory"
)

// Backend is one way to communicate, compute or hold memory.
type Backend interface {
	// Name is the registry's key: "cpu", "mpi", "cuda".
	Name() string
	// Probe returns nil if the backend can be used in this process. Otherwise it returns an error with the code
	// status.BackendUnavailable, which says what is missing. It may open a library, but initialises nothing.
	Probe() error
}

// CommunicatorProvider is a Backend that connects processes.
type CommunicatorProvider interface {
	Backend
	// Active reports whether this process is one of several that World would connect: a launcher says so in the
	// environment, or the library is loaded and initialised already. It opens nothing.
	Active() bool
	// World returns a communicator of all processes that were started together. The caller closes it.
	// Collective.
	World() (ReducingCommunicator, error)
	// Adopt duplicates a communicator of another owner, given its native handle. The caller closes the duplicate; the
	// original is never freed. Collective over the original.
	Adopt(native uintptr) (ReducingCommunicator, error)
}

// Local is the name of the backend that every process has: host memory, goroutines, and one rank.
const Local = "cpu"

// Wildcards and the null process, as MPI names them; each backend translates them to its own constants.
const (
	AnySource = -1
	AnyTag    = -1
	ProcNull  = -2
)

// Status describes a message that has arrived or is about to.
type Status struct {
	Source int
	Tag    int
	Bytes  int
	// Cancelled says that nothing arrived, because the receive was cancelled.
	Cancelled bool
}

// Request is an operation under way. It uses its buffers until Wait returns or Test says true.
type Request interface {
	// Wait blocks until the operation is complete. A second Wait returns the same result.
	Wait() (Status, error)
	// WaitFor is Wait with a limit of about d. It reports whether the operation is complete; if not, it goes on.
	WaitFor(d time.Duration) (Status, bool, error)
	// Test reports whether the operation is complete, and its result if so. It never blocks.
	Test() (Status, bool, error)
	// Cancel asks to cancel a receive for which no message has arrived. The operation is complete soon after, and its
	// status says whether it was cancelled. Other operations are not cancelled; the call may return an error for them.
	Cancel() error
}

// TakeBackWithin is how long TakeBack waits for a receive that it has cancelled.
const TakeBackWithin = time.Millisecond

// TakeBack cancels a receive for which nobody waits any more, and reports whether it is complete. If so, its status says
// whether a message has arrived all the same. If not, the operation still uses the buffer.
func TakeBack(r Request) (Status, bool) {
	if r.Cancel() != nil {
		return Status{}, false
	}
	st, done, err := r.WaitFor(TakeBackWithin)
	return st, done && err == nil
}

// Communicator is a group of ranks that exchange messages. Messages between two ranks with the same tag arrive in the
// order in which they were sent. Spans without elements are messages, too. ProcNull as a destination or source completes
// at once, without data.
//
// The caller makes sure that a receive has room for the message, whatever the sender does: a longer one may be written
// past the end of the buffer before it is an error.
type Communicator interface {
	Rank() int
	Size() int
	// TagBound is one more than the largest tag.
	TagBound() int
	// SendFor returns nil when buf may be used again, which can be before the message is received. After about patience,
	// it returns the send that is still under way; it also does so with an error after which it is unknown what becomes of
	// the message.
	SendFor(buf memory.Span, dest, tag int, patience time.Duration) (Request, error)
	// RecvFor fills the front of buf with a message of at most its length. After about patience, it returns the receive
	// that is still under way.
	RecvFor(buf memory.Span, source, tag int, patience time.Duration) (Status, Request, error)
	// Isend and Irecv return at once.
	Isend(buf memory.Span, dest, tag int) (Request, error)
	Irecv(buf memory.Span, source, tag int) (Request, error)
	// TryRecv is RecvFor for a message that has arrived already. It reports whether there was one.
	TryRecv(buf memory.Span, source, tag int) (Status, bool, error)
	// Dup returns a communicator of the same ranks whose traffic never meets this one's. Collective.
	Dup() (ReducingCommunicator, error)
	// Split returns a communicator of the ranks that gave the same color, ordered by key and then by rank;
	// nil for a negative color. Collective.
	Split(color, key int) (ReducingCommunicator, error)
	// SplitByNode returns a communicator of the ranks that share memory with this one, in their order. Collective.
	SplitByNode() (ReducingCommunicator, error)
	// Close frees the communicator. Collective. The world's resources go with the last communicator.
	Close() error
}

// CollectiveCommunicator is a Communicator on which all ranks act together. Every rank passes the same
// count and type; root is the same on all. Buffers never overlap.
type CollectiveCommunicator interface {
	Communicator
	// Barrier returns when every rank has called it.
	Barrier() error
	// Broadcast copies root's buf to every other rank's.
	Broadcast(buf memory.Span, root int) error
	// Gather concatenates every rank's send, in rank order, in root's recv; recv is ignored elsewhere.
	Gather(send, recv memory.Span, root int) error
	// Scatter gives rank r the r-th equal part of root's send; send is ignored elsewhere.
	Scatter(send, recv memory.Span, root int) error
	// Allgather is Gather with the result on every rank.
	Allgather(send, recv memory.Span) error
	// Alltoall sends the r-th equal part of send to rank r, and concatenates what arrives in rank order.
	Alltoall(send, recv memory.Span) error
	// Exchange sends send[r] to each rank r and fills recv[r] with what r sends to this rank. Both know the length, which
	// may differ between ranks. This rank's own elements are copied; spans without elements are not sent. The messages
	// have the given tag, which no other message between these ranks has meanwhile.
	Exchange(send, recv []memory.Span, tag int) error
}

// ReducingCommunicator is a CollectiveCommunicator that combines elements across ranks, elementwise, as reduce.Accumulate
// does: integers wrap, and no NaN is lost. LAND and LOR give 0 and 1 also where only one rank's elements come in.
type ReducingCommunicator interface {
	CollectiveCommunicator
	// Reduce combines every rank's send in root's recv; recv is ignored elsewhere.
	Reduce(send, recv memory.Span, op kernel.Op, root int) error
	// Allreduce is Reduce with the result on every rank.
	Allreduce(send, recv memory.Span, op kernel.Op) error
	// Scan combines in recv the sends of ranks 0 to this one.
	Scan(send, recv memory.Span, op kernel.Op) error
	// Exscan combines in recv the sends of the ranks before this one. On rank 0, recv is undefined afterwards.
	Exscan(send, recv memory.Span, op kernel.Op) error
	// ReduceScatter combines in rank r's recv the r-th equal part of every rank's send.
	ReduceScatter(send, recv memory.Span, op kernel.Op) error
}

// NativeCommunicator is a Communicator of a library that other code in the process uses, too.
type NativeCommunicator interface {
	Communicator
	// Export returns the native handle of a duplicate, which the caller frees. Collective.
	Export() (uintptr, error)
}

// DirectCommunicator is a Communicator whose short messages C can send and receive without Go.
type DirectCommunicator interface {
	Communicator
	Direct() Direct
	// Adopt returns the request of a send that C has started.
	Adopt(native uint64) Request
	// Failure returns the error of a SendFor in C, by the number that it returned.
	Failure(rc int) error
}

// Direct has the addresses of C functions, for a communicator that they know by a number. Their signatures are those
// of send_for, recv_for, wait_for and cancel in backends/mpi/calls.h. WaitFor knows a send by the number 0, and writes no status
// where it is given no address for one; then nobody has cancelled the operation.
type Direct struct {
	Comm                              uint64
	SendFor, RecvFor, WaitFor, Cancel uintptr
}

// DirectStatus is what those functions write of a message.
type DirectStatus struct {
	Source, Tag, Cancelled int32
	Bytes                  int64
}

// Drainer is a Communicator that must not be freed while messages are under way on it: messages that arrive late would be
// taken for those of a communicator that is made afterwards.
type Drainer interface {
	Communicator
	// Drained drops messages that have arrived on this communicator and on another one of the same ranks, and reports
	// whether none is under way to any rank. It does not wait. All ranks call it, when none sends any more, until it
	// returns true. Collective.
	Drained(other Communicator) (bool, error)
}

// NativeRequest is a Request that C can test without Go.
type NativeRequest interface {
	Request
	// Native returns a number of the operation, and a C function that reports whether it is complete. The signature is that
	// of peek in backends/mpi/calls.h. The number is valid until a method says that the operation is complete; then it is 0.
	Native() (number uint64, peek uintptr)
}

// Advancer is a Communicator of a library that makes progress only within its calls, even with accesses of other ranks to
// this rank's memory.
type Advancer interface {
	Communicator
	// Advance makes progress with everything that is under way in the process. It does nothing else, does not wait, and may
	// be called at the same time as every other call.
	Advance() error
}

// ThreadLimited is a Communicator of a library that may accept calls from some threads of the process only.
type ThreadLimited interface {
	Communicator
	// ThreadLimit says which threads these are; nil means all.
	ThreadLimit() (*ThreadLimit, error)
}

// ThreadLimit says which threads may call a library: one at a time, or a single one.
type ThreadLimit struct {
	Level string               // as the library calls it
	Main  func() (bool, error) // reports whether the caller is the single one; nil: each in turn
}

// Flat is a Communicator of a library whose collectives of long elements make little use of the memory that ranks share.
// It is then faster to call them twice: among the ranks of each node, and among the first ranks of all nodes.
type Flat interface {
	Communicator
	Flat() bool
}

// SlowToReduce is a ReducingCommunicator of a library whose Reduce of long elements takes longer than its Allreduce of them where
// ranks share memory.
type SlowToReduce interface {
	ReducingCommunicator
	SlowToReduce() bool
}

// AsyncCommunicator is a ReducingCommunicator with collectives that do not wait for the other ranks. Each returns a
// request, and several may be under way. All ranks start them in the same order, and complete them in any order. Buffers
// are as for the blocking calls, and are used until the operation is complete. These collectives never meet the blocking
// ones.
type AsyncCommunicator interface {
	ReducingCommunicator
	Ibarrier() (Request, error)
	Ibroadcast(buf memory.Span, root int) (Request, error)
	Igather(send, recv memory.Span, root int) (Request, error)
	Iallgather(send, recv memory.Span) (Request, error)
	Iallreduce(send, recv memory.Span, op kernel.Op) (Request, error)
}

// Properties say what a memory space promises.
type Properties struct {
	HostAccessible   bool // the CPU can dereference its addresses
	DeviceAccessible bool // a GPU can
	Unified          bool // both can, and see the same values
	SupportsAtomics  bool
	Pageable         bool // the system may move or swap it
	Alignment        int  // every block starts at a multiple of this
}

// MemorySpace is an Allocator with a name and properties.
type MemorySpace interface {
	memory.Allocator
	Name() string
	Properties() Properties
	// InUse returns the bytes handed out now and the most that ever were.
	InUse() (current, peak int64)
}

// MeteredSpace is a MemorySpace that knows how much memory is free. The error of a failed allocation says so.
type MeteredSpace interface {
	MemorySpace
	memory.Meter
}

// MemoryProvider is a Backend that holds memory.
type MemoryProvider interface {
	Backend
	Memory() MemorySpace
}

// FileSpace is memory of files in a folder, which the host reaches as any other.
type FileSpace interface {
	MeteredSpace
	// Open returns a file without a name in the folder, which is the caller's. It is gone when it is closed.
	Open() (*os.File, error)
	// InMemory reports whether the folder is in memory itself.
	InMemory() bool
}

// FileProvider is a Backend that has memory of files in any folder. A folder in which none can be made is found out by the first block.
type FileProvider interface {
	Backend
	Files(folder string) FileSpace
	// MapRange returns memory with size bytes of an open file from an offset on, and who takes it back. What is written to it stays in this
	// process. The descriptor stays the caller's.
	MapRange(descriptor int, offset int64, size int) (memory.Block, CheckedAllocator, error)
}

// CheckedAllocator is an Allocator whose blocks may lose what they have, as when somebody truncates a mapped file.
type CheckedAllocator interface {
	memory.Allocator
	// Check says whether a block still has all that it had.
	Check(b memory.Block) error
}

// Executor runs work.
type Executor interface {
	Name() string
	// Execute starts f; it may return before f ends.
	Execute(f func()) error
	// Synchronize returns when everything that was started has ended.
	Synchronize() error
}

// ParallelExecutor is an Executor that divides loops.
type ParallelExecutor interface {
	Executor
	// ParallelFor calls body once for each of some disjoint ranges that cover [0, n), and returns when all calls have
	// returned. If a body panics, ParallelFor panics with the same value after the others have ended. It may be called
	// from within a body.
	ParallelFor(n int, body func(lo, hi int)) error
	// MaxParallelism returns how many bodies may run at once.
	MaxParallelism() int
	// SuggestedParallelism returns how many are worth running at once, at least 1 and at most MaxParallelism: fewer if
	// other processes compute on the same machine. It may change when the process is bound to other processors.
	SuggestedParallelism() int
}

// ExecutorProvider is a Backend that computes.
type ExecutorProvider interface {
	Backend
	Executor() ParallelExecutor
}
