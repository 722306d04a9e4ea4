package comm

import (
	"time"

	"dtl/core/backend"
	"dtl/core/comm/unexpected"
	"dtl/core/comm/wire"
	"dtl/core/dtype"
	"dtl/core/progress"
	"dtl/core/status"
)

// Notice describes a message that has come and was not received. Type is Invalid for the nobody of ProcNull.
type Notice struct {
	Source, Tag int
	Kind        wire.Kind
	Type        dtype.Type
	Shape       []int64
}

// Probe waits for a message from source with the given tag, either of which may be a wildcard, and describes it. The
// next receive that starts and matches gets it.
func (c *Comm) Probe(source, tag int64) (Notice, error) {
	n, err := c.probe(source, tag)
	return n, status.In("probe", err)
}

func (c *Comm) probe(source, tag int64) (Notice, error) {
	n, there, err := c.iprobe(source, tag)
	if there || err != nil {
		return n, err
	}
	if c.Size() == 1 {
		return Notice{}, nobodySends(source, tag)
	}
	p := &probing{comm: c, source: source, tag: tag}
	_, err = c.await(p, waiting("probe", "source", source, tag))
	return p.notice, err
}

// Iprobe is Probe of a message that is there already. It reports whether one was; if not, it goes on with requests, as Test does.
func (c *Comm) Iprobe(source, tag int64) (Notice, bool, error) {
	n, there, err := c.iprobe(source, tag)
	if !there {
		progress.RunQueue()
	}
	return n, there, status.In("iprobe", err)
}

func (c *Comm) iprobe(source, tag int64) (n Notice, there bool, err error) {
	if err := c.checkSource(source, tag); err != nil {
		return Notice{}, false, err
	}
	if source == backend.ProcNull {
		return Notice{Source: backend.ProcNull, Tag: backend.AnyTag}, true, nil
	}
	look := func(m unexpected.Message) { n, err = notice(m) }
	if there = c.unexpected.Peek(int(source), int(tag), look); there {
		return n, true, err
	}
	b, err := c.scratch.get()
	if err != nil {
		return Notice{}, false, err
	}
	st, there, err := c.main.TryRecv(span(b, eager), int(source), int(tag))
	if !there || err != nil {
		c.scratch.put(b)
		return Notice{}, false, err
	}
	m := unexpected.Message{Buffer: b, Status: st}
	if n, err = notice(m); err != nil {
		c.scratch.put(b)
		return Notice{}, false, err
	}
	c.unexpected.Put(m)
	return n, true, nil
}

func notice(m unexpected.Message) (Notice, error) {
	h, err := wire.ParseHeader(bytesAt(m.Buffer.Addr(), m.Status.Bytes))
	return Notice{Source: m.Status.Source, Tag: m.Status.Tag, Kind: h.Kind, Type: h.Type, Shape: h.Shape}, err
}

// probing is a probe under way, in the manner of a request of the backend. It is no receive that the backend knows, so
// other receives come first.
type probing struct {
	comm        *Comm
	source, tag int64
	notice      Notice
}

var _ backend.Request = (*probing)(nil)

// Wait looks until there is a message.
func (p *probing) Wait() (backend.Status, error) {
	for {
		if st, done, err := p.WaitFor(time.Second); done {
			return st, err
		}
	}
}

// WaitFor looks until there is a message, or d has gone.
func (p *probing) WaitFor(d time.Duration) (backend.Status, bool, error) {
	return pollFor(d, p.Test)
}

// Test looks once.
func (p *probing) Test() (st backend.Status, there bool, err error) {
	p.notice, there, err = p.comm.iprobe(p.source, p.tag)
	return st, there || err != nil, err
}

// Cancel does nothing: there is nothing to take back.
func (p *probing) Cancel() error { return nil }
