package transfer

import "dtl/core/comm"

// DefaultLimit is how many bytes of temporary memory a transfer takes at most where the caller states no limit. A
// higher limit changes nothing: the memory would not stay in the cache.
const DefaultLimit = 4 * chunk

// chunkOf returns the most bytes of a message: the limit is divided among two buffers each way. It is the same on all
// ranks. Less than one element cannot be sent, so a limit of less than four is taken for four.
func (p *Plan) chunkOf(limit int64) int64 {
	most := int64(DefaultLimit)
	if p.onDevices {
		most = 4 * deviceChunk
	}
	return p.pieces(limit, most, 4)
}

// pieces returns how many bytes each of some buffers has, which a limit that is at most so many bytes is divided among.
func (p *Plan) pieces(limit, most, among int64) int64 {
	if limit == 0 || limit > most {
		limit = most
	}
	return max(limit/among/p.item, 1) * p.item
}

// OnDevices says that a side of a plan is on devices, which is so on all ranks or on none: messages are of a size for those. It returns
// the plan.
func (p *Plan) OnDevices(are bool) *Plan {
	p.onDevices = are
	return p
}

// LinkedBy says what exchanges elements of the devices of all ranks, which both sides are on, or nil if nothing does: alike on all ranks. It
// returns the plan.
func (p *Plan) LinkedBy(link comm.Exchanger) *Plan {
	p.link = link
	return p
}

// bare is the most bytes of a message that neither side packs; on a device, all are.
func (p *Plan) bare() int64 {
	if p.onDevices {
		return 0
	}
	return bare
}

// buffers counts what memory the packed messages of one direction need.
type buffers struct {
	chunk    int64
	slot     int64 // the longest message
	messages int64
}

// buffersOf counts what the packed messages of all flows need that there are.
func buffersOf(flows []*flow, chunk int64) buffers {
	r := buffers{chunk: chunk}
	for _, f := range flows {
		if f != nil {
			r.add(f)
		}
	}
	return r
}

func (r *buffers) add(f *flow) {
	if !f.packed {
		return
	}
	r.slot = max(r.slot, min(r.chunk, f.bytes))
	r.messages += (f.bytes-1)/r.chunk + 1
	if f.apart {
		g, _ := f.stretches()
		r.messages += f.blocks(g, [2][]int64{f.dense(0), f.dense(1)})
	}
}

// slots returns how many messages have a buffer at a time: two if they are full, more if they are short.
func (r *buffers) slots() int64 {
	if r.slot == 0 {
		return 0
	}
	return min(r.messages, 2*r.chunk/r.slot)
}

// most returns the bytes that the buffers take at most, even if some of what was added needs none.
func (r *buffers) most() int64 { return min(r.messages*r.slot, 2*r.chunk) }

// Extra returns the most bytes of temporary memory that a transfer with this limit takes on any rank: none where each
// part that moves lies side by side. In one dimension elements are taken to be dense; in several, where parts may be
// padded, whatever is sent may need packing. It looks at every pair of ranks, each as Bytes does.
func (p *Plan) Extra(limit int64) int64 {
	n, chunk := p.ranks(), p.chunkOf(limit)
	send, recv := make([]buffers, n), make([]buffers, n)
	most := int64(0)
	if p.link != nil {
		most = p.extraLinked(limit)
	}
	for from := range n {
		for to := range n {
			q, ok := p.pair(from, to)
			if !ok || from == to {
				continue
			}
			for side, r := range [2]*buffers{&send[from], &recv[to]} {
				r.chunk = chunk
				f := q.newFlow(side, 0, Memory{Strides: q.dense(side)}, chunk)
				f.packed = f.packed || len(p.dims) > 1 || p.onDevices
				r.add(f)
			}
		}
	}
	for rank := range n {
		most = max(most, send[rank].most()+recv[rank].most())
	}
	return most
}
