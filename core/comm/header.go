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
//	kind u8 | dtype u8 | ndim u8 | way u8 | seq u32 | shape ndim × i64
//
// little-endian and a multiple of 8 bytes long. The elements follow it, or travel by themselves, or are
// offered on the board.
type header struct {
	kind  Kind
	typ   dtype.Type
	apart bool   // the elements do not follow
	offer bool   // but are offered, under the number seq
	seq   uint32 // else of the payload that travels by itself
	shape []int64

	numbers []byte // of the offers to each rank, behind the header of a broadcast
}

const (
	headerFixed = 8
	// MaxDims is the most dimensions that an array may have: NumPy's limit from 2.0 on.
	MaxDims   = 64
	maxHeader = headerFixed + 8*MaxDims

	wayApart, wayOffer = 1, 2
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

// put encodes the header at the front of b.
func (h header) put(b []byte) {
	b[0], b[1], b[2], b[3] = byte(h.kind), byte(h.typ), byte(len(h.shape)), 0
	switch {
	case h.offer:
		b[3] = wayOffer
	case h.apart:
		b[3] = wayApart
	}
	binary.LittleEndian.PutUint32(b[4:], h.seq)
	for i, d := range h.shape {
		binary.LittleEndian.PutUint64(b[headerFixed+8*i:], uint64(d))
	}
}

// parseHeader decodes the header at the front of b. What does not parse came from somebody who does not
// speak this protocol on this communicator.
func parseHeader(b []byte) (header, error) {
	h, n, err := glance(b)
	if err != nil {
		return header{}, err
	}
	h.shape = make([]int64, n)
	for i := range h.shape {
		h.shape[i] = extent(b, i)
	}
	return h, nil
}

// extent returns the i-th extent of the header at the front of b.
func extent(b []byte, i int) int64 { return int64(binary.LittleEndian.Uint64(b[headerFixed+8*i:])) }

// glance is parseHeader without the shape, whose length it returns.
func glance(b []byte) (h header, ndim int, err error) {
	if len(b) < headerFixed || len(b) < headerFixed+8*int(b[2]) {
		return header{}, 0, status.New(status.Communication, "message of %d bytes is shorter than its header", len(b))
	}
	h = header{kind: Kind(b[0]), typ: dtype.Type(b[1]), apart: b[3] != 0, offer: b[3] == wayOffer, seq: binary.LittleEndian.Uint32(b[4:])}
	ndim = int(b[2])
	if h.kind > Object || !h.typ.Valid() || ndim > MaxDims {
		return header{}, 0, status.New(status.Communication, "message does not start with a header")
	}
	total := uint64(h.typ.Size())
	for i := range ndim {
		over, product := bits.Mul64(total, max(uint64(extent(b, i)), 1))
		if over != 0 || product > math.MaxInt64 {
			return header{}, 0, status.New(status.Communication, "message announces an impossible shape")
		}
		total = product
	}
	return h, ndim, nil
}

// announced returns the number of elements of the header at the front of b, which glance has accepted.
func announced(b []byte) int {
	n := 1
	for i := range int(b[2]) {
		n *= int(extent(b, i))
	}
	return n
}

// fits says whether out can take what h describes: the same type and number of elements.
func (h header) fits(out memory.Span) error {
	if out.Type == h.typ && out.Count == h.count() {
		return nil
	}
	return status.New(status.InvalidArgument, "out holds %d elements of %s, but the message has %d of %s",
		out.Count, out.Type, h.count(), h.typ)
}
