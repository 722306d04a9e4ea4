package backend

import (
	"unsafe"

	"dtl/core/dtype"
	"dtl/core/kernel/radix"
	"dtl/core/memory"
)

// DeviceProvider is a Backend with devices of its own.
type DeviceProvider interface {
	Backend
	// DeviceCount returns how many devices this process sees, whether or not the backend can use them.
	DeviceCount() int
	// DriverVersion returns the vendor's driver, its version and its file.
	DriverVersion() (string, error)
	// DeviceName returns what the vendor calls a device, which is not used for it.
	DeviceName(n int) (string, error)
	// HasIPC returns nil if processes of a machine can reach each other's memory of devices, or says why they cannot.
	HasIPC() error
	// Device returns the device of a number in [0, DeviceCount()). The first call begins to use it. The error is
	// status.BackendUnavailable.
	Device(n int) (Device, error)
}

// Trimmer is a Backend that keeps memory for later.
type Trimmer interface {
	Backend
	// Trim gives back what is kept by devices that are in use, and returns how many bytes.
	Trim() (int64, error)
}

// DeviceAware is a Communicator whose messages may be from and to memory of devices.
type DeviceAware interface {
	Communicator
	// IsAware returns nil if its messages may be from and to memory of a device, or says why they may not. From then on, its calls have
	// the device current for their thread.
	IsAware(device Device) error
}

// Current has a device, and the addresses of C functions: int enter(device, int *outer) makes it current for the calling thread, and
// int leave(device, int outer, int rc) what was before.
type Current struct {
	Device       unsafe.Pointer
	Enter, Leave unsafe.Pointer
}

// Device is a GPU that this process uses.
type Device interface {
	// Backend is the name of the one that it belongs to.
	Backend() string
	// Number is the device's, from 0 on.
	Number() int
	// Name is what the vendor calls it.
	Name() string
	// UUID tells it apart from every other one, whichever process asks, and whatever number it has there.
	UUID() [16]byte
	// Memory is the device's own memory, which the host does not reach. Nothing that is queued touches what it returns.
	Memory() DeviceSpace
	// Managed is memory that the host reaches, too, while nothing is queued on the device. The error is
	// status.BackendUnavailable.
	Managed() (DeviceSpace, error)
	// NewQueue returns a queue that nobody else uses, until it is closed.
	NewQueue() (Queue, error)
	// Order makes one of the driver's streams wait: what is queued on after from now on runs when all is done that before has by now.
	Order(before, after uintptr) error
	// Within calls f on a thread of the system to which the device is current, as other libraries of the vendor's expect it.
	Within(f func() error) error
	// Current returns the functions with which C makes the device current, as Within does.
	Current() Current
	// Synchronize returns when all is done that this process has queued on the device, by any library.
	Synchronize() error
	// Locate returns which device the memory at an address belongs to, whoever allocated it, and whether the host reaches it, too.
	Locate(at uintptr) (number int, managed bool, err error)
	// Lend returns what another process of the machine needs to reach a block of this device's Memory, from its first byte on: LentKey
	// bytes. The driver does not get the block back; it is kept for others when it is deallocated. The error is
	// status.InvalidArgument for memory that was not allocated there.
	Lend(at unsafe.Pointer) (key []byte, err error)
	// Borrow returns where this device finds memory that another process lends, for as long as this one lives.
	Borrow(key []byte) (at unsafe.Pointer, err error)
	// Settle returns when the host may touch managed memory, by what is queued now: on the device, and, where that does not share
	// the memory with the host while it works, on all others of this process that do not.
	Settle() error
}

// LentKey is how many bytes the key of memory has that a process lends to others.
const LentKey = 72

// DeviceSpace is memory that a device reaches.
type DeviceSpace interface {
	MeteredSpace
	memory.Reuser
}

// Operand is one of an elementwise operator's: a span on the device, or, where that has no address, the bits of a number for all
// elements. Steps are how many elements it is from one to the next along each dimension of the result, 0 where one is for all; nil
// where the operand's elements lie as the result's.
type Operand struct {
	Span   memory.Span
	Number [2]uint64
	Steps  []int64
}

// Reduction is what a device makes of many elements.
type Reduction struct {
	Name   string     // of the partials: "sum"
	Type   dtype.Type // of the elements
	Merge  string     // how partials are merged: "integers"
	Number float64    // that the partials are made with, such as a mean
}

// LineResult is what a device writes of each line that it folds.
type LineResult int64

// The results, as backends/internal/gpu/kernels/lines.c has them.
const (
	LinePartial  LineResult = iota // for the device itself
	LineNumber                     // what is added up or multiplied, divided by a number: float64 or float32
	LineRoot                       // its square root
	LineCount                      // what is added up or multiplied, of integers: int64 or uint64
	LineNoneZero                   // whether as many were counted as there are
	LineSome                       // whether any was counted
	LineValue                      // an extreme, of the elements' type
	LinePlace                      // where it is in the line: int64
)

// Lines is how a device folds each line of an array in C order, of which the dimensions are outer ones that stay, those of the lines,
// inner ones that stay, and more of the lines. Each of these may have the extent 1.
type Lines struct {
	Name    string // of the partials: "sum"
	Type    dtype.Type
	Merge   string // how partials are merged: "integers"
	Extents [4]int64
	Result  LineResult
	Divisor float64
}

// Scan is how a device combines each element with all before it.
type Scan struct {
	Operator  string     // "sum"
	Type      dtype.Type // of the elements
	Totals    dtype.Type // of what they are combined to
	Exclusive bool       // an element's result is without itself
}

// Scanned is a scan of some elements in pieces, at most a few hundred.
type Scanned interface {
	// Totals returns what the pieces come to, in their order, as two words of what core/kernel/scan has.
	Totals() [][2]int64
	// Write writes each element's result to dst, in the queue's order, where before has for each piece what all elements before
	// it come to.
	Write(dst memory.Span, before [][2]int64) error
	// Close gives up what is not written yet.
	Close()
}

// Places are where elements of Size bytes lie: numbers of int64, which count units of Scale bytes, on the host or on the device. A
// span beside them says where they count from.
type Places struct {
	At          memory.Span
	Size, Scale int
}

// Run is Count units of Unit bytes: where the first one goes to and comes from, and how many bytes further on each next one does.
type Run struct{ To, From, ToStep, FromStep, Unit, Count int64 }

// BoxRuns returns the runs that copy a box of elements between memories of different strides, which are in bytes.
func BoxRuns(shape, to, from []int64, itemSize int) []Run {
	r, last := Run{Unit: int64(itemSize), Count: 1}, len(shape)-1
	for ; last >= 0 && (shape[last] == 1 || to[last] == r.Unit && from[last] == r.Unit); last-- {
		r.Unit *= shape[last]
	}
	if last >= 0 {
		r.Count, r.ToStep, r.FromStep = shape[last], to[last], from[last]
	}
	all := []Run{r}
	for d := last - 1; d >= 0; d-- {
		inner := all
		all = make([]Run, 0, int(shape[d])*len(inner))
		for i := range shape[d] {
			for _, r := range inner {
				r.To, r.From = r.To+i*to[d], r.From+i*from[d]
				all = append(all, r)
			}
		}
	}
	return all
}

// Queue is work of one device that is done in the order in which it is queued.
type Queue interface {
	// Device is the one that does the work.
	Device() Device
	// Memory is the device's own memory for what this queue works on: what it returns may still be touched by what is queued here, and by
	// nothing else. Other queues work on it by InOrder; a block on which anybody else works is given back as memory.Block.Shared.
	Memory() DeviceSpace
	// Copy copies as many bytes as src has to dst. What is on a device is read and written in the queue's order; what is on
	// the host alone has been read or written when Copy returns.
	Copy(dst, src memory.Span) error
	// Fill gives every element a value: that at element.
	Fill(dst memory.Span, element []byte) error
	// Elementwise gives each element of dst, which has the type kernel.Computed, what an operator of NumPy's, by its name, makes of
	// the operands' elements of a type; the third is the condition of kernel.Where. The shape of dst, which is in C order, matters
	// to operands with steps alone. The error is status.Unsupported where there is no such operator, or none for such steps.
	Elementwise(operator string, dst memory.Span, t dtype.Type, shape []int64, operands [3]Operand) error
	// Fold makes partials of a span's elements, or of two spans', as core/kernel/fold has them: at most a few hundred, which the
	// caller merges in their order. Spans of one length give partials of the same elements. The error is status.Unsupported
	// where there is no such reduction of a type.
	Fold(r Reduction, a, b memory.Span) ([][4]int64, error)
	// Lines folds each line of src, which has elements, to one of dst. What is made of distances takes each line's mean, of float64,
	// from a third span. Spans of equal extents give equal bits. The error is status.Unsupported where there is no such fold of a
	// type.
	Lines(how Lines, dst, src, means memory.Span) error
	// Scan combines pieces of a span's elements, which are to stay until what it returns is written. The error is
	// status.Unsupported where there is no such scan.
	Scan(how Scan, src memory.Span) (Scanned, error)
	// Sort sorts a span's elements in place, stably. The device needs as much memory again, and an eighth.
	Sort(s memory.Span, keys radix.Keys) error
	// Argsort writes the indices that sort a span's elements stably, of int64. The device needs twice the memory of the elements
	// and that of the indices.
	Argsort(indices, s memory.Span, keys radix.Keys) error
	// Search counts for each key the elements of a sorted span that are less, at 2i of counts, and those that are not greater, at
	// 2i+1.
	Search(counts []int64, wanted []uint64, sorted memory.Span, keys radix.Keys) error
	// Bins counts a span's elements between ascending edges, of which there is one more than counts, as core/kernel/histogram does.
	Bins(counts []int64, s memory.Span, edges []float64) error
	// Values counts how often each number from 0 on occurs among a span's elements, which are integers, all of them inside.
	Values(counts []int64, s memory.Span) error
	// Take copies the elements at places of src to where they lie side by side, on this device or on the host.
	Take(dst, src memory.Span, p Places) error
	// Put copies elements that lie side by side, on this device or on the host, to places of dst; one alone goes to all of them.
	// Of a place that occurs twice, one element stays, if they have 1, 2, 4 or 8 bytes; else none occurs twice.
	Put(dst, src memory.Span, p Places) error
	// Runs copies runs of units between memories of this device, or of the host, whose bytes are copied as a whole then. What
	// is written does not overlap.
	Runs(dst, src memory.Span, all []Run) error
	// Truths returns the places of the true elements of a mask in ascending order, as elements of int64 on this device, and how many
	// there are. That of the first element is base.
	Truths(mask memory.Span, base int64) (*memory.Storage, int, error)
	// Stream is the driver's number of the queue.
	Stream() uintptr
	// Synchronize returns when all is done that is queued here.
	Synchronize() error
	// Done reports whether all is done that is queued here. It does not wait.
	Done() (bool, error)
	// Close lets others have the queue. What is queued is done.
	Close()
}
