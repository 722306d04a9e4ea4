package wire

import (
	"encoding/binary"
	"math"
	"math/bits"
	"unsafe"

	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/status"
)

// Kind says what a caller passed, so that the receiver gets back the like.
type Kind uint8

// The kinds. Their numbers travel in headers and over the bridge.
const (
	NDArray      Kind = iota // an array, of any number of dimensions
	NumPyScalar              // a NumPy scalar
	PythonScalar             // a float, int, bool or complex
	Object                   // bytes that stand for an object, which only those who ask for one receive
)

// Header describes an array that travels. Encoded, it is
//
//	kind u8 | dtype u8 | ndim u8 | way u8 | number u32 | shape ndim × i64
//
// little-endian and a multiple of 8 bytes long. The elements follow it (way 0), or travel in a message of their own
// (way 1), or are offered in shared memory (way 2). Where the type is a named one, its number is 255, and behind the shape are
//
//	bytes of an element u32 | bytes of the name u32 | name, filled up to a multiple of 8
type Header struct {
	Kind   Kind
	Type   dtype.Type
	Apart  bool   // the elements do not follow
	Offer  bool   // but are offered, under Number
	Number uint32 // else that of the message of their own
	Shape  []int64
}

const (
	// FixedBytes is how many bytes of an encoded header precede the shape.
	FixedBytes = 8
	// MaxDims is the most dimensions that an array may have: NumPy's limit from 2.0 on.
	MaxDims = 64
	// MaxHeaderBytes is the length of the longest header of the element types.
	MaxHeaderBytes = FixedBytes + 8*MaxDims
	// LongestHeader is how many bytes the header of any type has at most.
	LongestHeader = 4096

	wayApart, wayOffer = 1, 2
	namedType          = 255
)

// headerBytes returns how many bytes precede what comes behind the shape of so many dimensions.
func headerBytes(dims int) int { return FixedBytes + 8*dims }

// nameBytes returns how many bytes a name of so many bytes takes, with what precedes it.
func nameBytes(name int) int { return 8 + (name+7)/8*8 }

// Size returns how many bytes the encoded header has.
func (h Header) Size() int {
	n := headerBytes(len(h.Shape))
	if h.Type.Named() {
		n += nameBytes(len(h.Type.String()))
	}
	return n
}

// Count returns the number of elements.
func (h Header) Count() int {
	n := 1
	for _, d := range h.Shape {
		n *= int(d)
	}
	return n
}

// Bytes returns how many bytes the elements have.
func (h Header) Bytes() int { return h.Count() * h.Type.Size() }

// Put encodes the header at the front of b, which has room for it.
func (h Header) Put(b []byte) {
	b[0], b[1], b[2], b[3] = byte(h.Kind), byte(h.Type), byte(len(h.Shape)), 0
	if h.Type.Named() {
		b[1] = namedType
		name, behind := h.Type.String(), b[headerBytes(len(h.Shape)):]
		binary.LittleEndian.PutUint32(behind, uint32(h.Type.Size()))
		binary.LittleEndian.PutUint32(behind[4:], uint32(len(name)))
		copy(behind[8:], name)
	}
	switch {
	case h.Offer:
		b[3] = wayOffer
	case h.Apart:
		b[3] = wayApart
	}
	binary.LittleEndian.PutUint32(b[4:], h.Number)
	for i, d := range h.Shape {
		binary.LittleEndian.PutUint64(b[headerBytes(i):], uint64(d))
	}
}

// Fits returns nil where out can take what h describes, the same type and number of elements, else an error that names
// both.
func (h Header) Fits(out memory.Span) error {
	if out.Type == h.Type && out.Count == h.Count() {
		return nil
	}
	return status.New(status.InvalidArgument, "out holds %d elements of %s, but the message has %d of %s",
		out.Count, out.Type, h.Count(), h.Type)
}

// ParseHeader decodes the header at the front of b. What does not parse was not sent by this protocol: that is an error.
func ParseHeader(b []byte) (Header, error) {
	h, dims, err := ParseFixed(b)
	if err != nil {
		return Header{}, err
	}
	h.Shape = make([]int64, dims)
	for i := range h.Shape {
		h.Shape[i] = extent(b, i)
	}
	return h, nil
}

// ParseFixed is ParseHeader without the shape, which it checks and whose length it returns. It allocates nothing.
func ParseFixed(b []byte) (h Header, dims int, err error) {
	if len(b) < FixedBytes || len(b) < headerBytes(int(b[2])) {
		return Header{}, 0, status.New(status.Communication, "message of %d bytes is shorter than its header", len(b))
	}
	h = Header{
		Kind: Kind(b[0]), Type: typeIn(b), Apart: b[3] != 0, Offer: b[3] == wayOffer,
		Number: binary.LittleEndian.Uint32(b[4:]),
	}
	dims = int(b[2])
	if h.Kind > Object || !h.Type.Sent() || dims > MaxDims {
		return Header{}, 0, status.New(status.Communication, "message does not start with a header")
	}
	total := uint64(h.Type.Size())
	for i := range dims {
		over, product := bits.Mul64(total, max(uint64(extent(b, i)), 1))
		if over != 0 || product > math.MaxInt64 {
			return Header{}, 0, status.New(status.Communication, "message announces an impossible shape")
		}
		total = product
	}
	return h, dims, nil
}

// typeIn returns the type of the header at the front of b, which has room for the shape; Invalid where it has none.
func typeIn(b []byte) dtype.Type {
	if b[1] != namedType {
		return dtype.Type(b[1])
	}
	behind := b[headerBytes(int(b[2])):]
	if len(behind) < 8 {
		return dtype.Invalid
	}
	size, n := binary.LittleEndian.Uint32(behind), binary.LittleEndian.Uint32(behind[4:])
	if n == 0 || n > dtype.MaxName || len(behind) < nameBytes(int(n)) {
		return dtype.Invalid
	}
	return dtype.Named(unsafe.String(&behind[8], int(n)), int(size))
}

// SizeIn returns how many bytes the header at the front of b has, which ParseFixed has accepted.
func SizeIn(b []byte) int {
	n := headerBytes(int(b[2]))
	if b[1] == namedType {
		n += nameBytes(int(binary.LittleEndian.Uint32(b[n+4:])))
	}
	return n
}

// CountIn returns the number of elements that the header at the front of b states, which ParseFixed has accepted.
func CountIn(b []byte) int {
	n := 1
	for i := range int(b[2]) {
		n *= int(extent(b, i))
	}
	return n
}

// extent returns the i-th extent of the header at the front of b.
func extent(b []byte, i int) int64 { return int64(binary.LittleEndian.Uint64(b[headerBytes(i):])) }
