package comm

import (
	"encoding/binary"
	"math"
	"math/bits"

	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/status"
)

// header describes an array that travels. Encoded, it is
//
//	kind u8 | dtype u8 | ndim u8 | apart u8 | seq u32 | shape ndim × i64
//
// little-endian and a multiple of 8 bytes long. The elements follow it, or, where apart is set, travel
// by themselves.
type header struct {
	kind  Kind
	typ   dtype.Type
	apart bool
	seq   uint32 // of a payload that travels by itself
	shape []int64
}

const (
	headerFixed = 8
	// MaxDims is the most dimensions that an array may have: NumPy's limit from 2.0 on.
	MaxDims   = 64
	maxHeader = headerFixed + 8*MaxDims
)

func headerOf(a Array) header { return header{kind: a.Kind, typ: a.Type, shape: a.Shape} }

// size returns the bytes of the encoded header.
func (h header) size() int { return headerFixed + 8*len(h.shape) }

// count returns the number of elements.
func (h header) count() int {
	n := 1
	for _, d := range h.shape {
		n *= int(d)
	}
	return n
}

func (h header) bytes() int { return h.count() * h.typ.Size() }

// refused stands in place of a kind where root had nothing fit to send; the reason follows the fixed part, and
// its length stands in place of the dtype. So the other ranks learn of it rather than wait.
const refused = 0xff

// putRefusal encodes why root sends nothing, in at most limit bytes.
func putRefusal(b []byte, why error, limit int) {
	text := why.Error()
	text = text[:min(len(text), limit-headerFixed, 0xff)]
	clear(b[:headerFixed])
	b[0], b[1] = refused, byte(len(text))
	copy(b[headerFixed:], text)
}

// put encodes the header at the front of b.
func (h header) put(b []byte) {
	b[0], b[1], b[2], b[3] = byte(h.kind), byte(h.typ), byte(len(h.shape)), 0
	if h.apart {
		b[3] = 1
	}
	binary.LittleEndian.PutUint32(b[4:], h.seq)
	for i, d := range h.shape {
		binary.LittleEndian.PutUint64(b[headerFixed+8*i:], uint64(d))
	}
}

// parseHeader decodes the header at the front of b. What does not parse came from somebody who does not
// speak this protocol on this communicator.
func parseHeader(b []byte) (header, error) {
	if len(b) < headerFixed || len(b) < headerFixed+8*int(b[2]) {
		return header{}, status.New(status.Communication, "message of %d bytes is shorter than its header", len(b))
	}
	if b[0] == refused {
		return header{}, status.New(status.InvalidArgument, "root's value was refused there: %s", b[headerFixed:min(len(b), headerFixed+int(b[1]))])
	}
	h := header{kind: Kind(b[0]), typ: dtype.Type(b[1]), apart: b[3] != 0, seq: binary.LittleEndian.Uint32(b[4:])}
	if h.kind > Object || !h.typ.Valid() || int(b[2]) > MaxDims {
		return header{}, status.New(status.Communication, "message does not start with a header")
	}
	h.shape = make([]int64, b[2])
	total := uint64(h.typ.Size())
	for i := range h.shape {
		d := binary.LittleEndian.Uint64(b[headerFixed+8*i:])
		over, product := bits.Mul64(total, max(d, 1))
		if over != 0 || product > math.MaxInt64 {
			return header{}, status.New(status.Communication, "message announces an impossible shape")
		}
		total, h.shape[i] = product, int64(d)
	}
	return h, nil
}

// fits says whether out can take what h describes: the same type and number of elements.
func (h header) fits(out memory.Span) error {
	if out.Type == h.typ && out.Count == h.count() {
		return nil
	}
	return status.New(status.InvalidArgument, "out holds %d elements of %s, but the message has %d of %s",
		out.Count, out.Type, h.count(), h.typ)
}
