package transfer

import (
	"dtl/core/comm"
	"dtl/core/status"
)

// Part is a plan of several that are executed at once, with this rank's memory.
type Part struct {
	Plan     *Plan
	Src, Dst Memory
}

// PrepareAll is Prepare of several plans, whose elements are of one size and on the host. Their transfers are one, so that no rank waits
// while others are busy with a part that it has little to do with. What one part writes, no other reads or writes.
func PrepareAll(c *comm.Comm, parts []Part, limit int64) (*Transfer, error) {
	if len(parts) == 0 {
		return nil, status.New(status.InvalidArgument, "a transfer of no parts")
	}
	all := make([]*Transfer, len(parts))
	for i, p := range parts {
		t, err := p.Plan.prepare(c, p.Src, p.Dst, limit)
		if err != nil {
			return nil, err
		}
		if p.Plan.item != parts[0].Plan.item || p.Plan.onDevices || p.Plan.link != nil {
			return nil, status.New(status.Internal, "parts of a transfer have elements of several sizes, or on devices")
		}
		all[i] = t
	}
	t := all[0]
	t.others = all[1:]
	t.out = joint(all, func(t *Transfer) []*flow { return t.out })
	t.in = joint(all, func(t *Transfer) []*flow { return t.in })
	for _, other := range t.others {
		t.bytes += other.bytes
	}
	return t, t.allocate()
}

// joint returns the flows of all transfers, by steps: those to one rank, or from one, follow each other. Each is a step of its own then.
func joint(all []*Transfer, of func(*Transfer) []*flow) (flows []*flow) {
	for k := range of(all[0]) {
		for _, t := range all {
			flows = append(flows, of(t)[k])
		}
	}
	return flows
}
