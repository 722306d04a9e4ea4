package algorithm

import (
	"dtl/core/comm"
	"dtl/core/container"
	"dtl/core/dtype"
	"dtl/core/kernel/radix"
	"dtl/core/memory"
	"dtl/core/status"
)

// MergesByHost reports whether a sort takes elements that a device alone reaches by way of the host: between ranks.
func MergesByHost(c container.Container) bool {
	p, err := container.OnItsDevice(c).Use()
	if err != nil {
		return false
	}
	defer p.Done()
	return p.Placement() == container.OnDevice && p.Layout().Ranks() > 1 && !p.Layout().Replicated()
}

// checkOnDevice refuses what a device does not sort, of a part that it alone reaches.
func (s *sorting) checkOnDevice(p container.Part) error {
	if err := s.check(p); err != nil {
		return err
	}
	if p.Layout().Dims() != 1 || !s.alone(p) && !ranged(p.Layout()) {
		return status.New(status.Unsupported, "GPUs sort neither lines nor parts that are not one range of indices; sort a copy "+
			"on the host")
	}
	return nil
}

// prepareOnDevice checks the call, and allocates what it takes to merge on the host.
func (s *sorting) prepareOnDevice(c container.Container, p container.Part) (err error) {
	if err = s.checkOnDevice(p); err == nil && !s.alone(p) {
		s.tmp, err = memory.NewScratch(c.Context().Memory(), int(held(p)), memory.Alignment)
	}
	return err
}

// sortOnDevice has a device sort this rank's part. Those of several ranks are merged on the host. Collective.
func (s *sorting) sortOnDevice(over *comm.Comm, p container.Part) error {
	told, err := false, p.Sort(radix.KeysOf(p.Type(), s.how.Descending, false))
	if err == nil && !s.alone(p) {
		err = p.ThroughHost(over.Memory(), func(copied container.Part) error {
			if err := over.Agree(comm.Call{Op: "sort"}, nil); err != nil {
				told = true
				return err
			}
			mine := s.whole(copied)
			tmp := memory.Span{Addr: s.tmp.Addr(), Count: mine.Count, Type: mine.Type}
			m := merging{op: "sort", over: over, order: s.order, workers: s.workers, mine: mine, tmp: tmp}
			return m.run(sizes(p.Layout()))
		})
	}
	if told {
		return err
	}
	return over.Agree(comm.Call{Op: "sort"}, err) // a device may have had no room, or not have taken the elements back
}

// prepareOnDevice checks the call, and makes the result.
func (s *argsorting) prepareOnDevice(c container.Container, p container.Part) (err error) {
	if err = s.checkOnDevice(p); err == nil && !s.alone(p) {
		err = status.New(status.Unsupported, "the elements of several ranks' GPUs have no common indices; sort a copy on the host")
	}
	if err == nil {
		s.result, err = container.Blank(c, dtype.Int64)
	}
	return err
}

// argsortOnDevice has a device write the indices that sort this rank's part, which is the whole. Collective.
func (s *argsorting) argsortOnDevice(over *comm.Comm, p container.Part) error {
	q, err := container.OnItsDevice(s.result).Use()
	if err == nil {
		defer q.Done()
		err = q.Argsort(p, radix.KeysOf(p.Type(), s.how.Descending, true))
	}
	return over.Agree(comm.Call{Op: "argsort"}, err)
}
