package cpu

import (
	"runtime"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// A helper that the kernel does not let run holds nobody up, and may be let run later.
func TestLateHelpers(t *testing.T) {
	const n = 100_000
	late := new(helper)
	p := &Pool{free: make(chan *helper, 1)}
	p.free <- late
	for range 3 {
		var sum atomic.Int64
		if err := p.ParallelFor(n, func(lo, hi int) { sum.Add(int64(hi - lo)) }); err != nil || sum.Load() != n {
			t.Errorf("%d indices, want %d; %v", sum.Load(), n, err)
		}
		if len(p.free) != 1 || late.loop.Load() != nil || late.state.Load() != idle {
			t.Fatalf("the helper has %v, in state %d", late.loop.Load(), late.state.Load())
		}
	}
	go late.serve()
	for range 100 {
		var here atomic.Int64
		met := make(chan struct{})
		l := &loop{n: 2, chunk: 1, body: func(int, int) {
			if here.Add(1) == 2 {
				close(met)
			}
			<-met // returns if both are at work
		}}
		helpers := p.begin(l, 1)
		l.run()
		for _, h := range helpers {
			h.end()
			p.free <- h
		}
	}
}

func TestHelpersRunElsewhere(t *testing.T) {
	var here, there unix.CPUSet
	if err := unix.SchedGetaffinity(0, &here); err != nil || here.Count() < 2 {
		t.Skipf("%d processors; %v", here.Count(), err)
	}
	if set := elsewhere(); set.Count() != here.Count()-1 {
		t.Errorf("%d processors besides this one, of %d", set.Count(), here.Count())
	}
	h := newHelper()
	for h.thread.Load() == 0 {
		runtime.Gosched()
	}
	for cpu := range 1024 {
		if !here.IsSet(cpu) {
			continue
		}
		where := here
		where.Clear(cpu)
		h.begin(&loop{}, &where)
		if err := unix.SchedGetaffinity(int(h.thread.Load()), &there); err != nil || there != where {
			t.Errorf("without processor %d it runs on %d; %v", cpu, there.Count(), err)
		}
		h.end()
	}
	h.begin(&loop{}, &unix.CPUSet{}) // no processor is no change
	if err := unix.SchedGetaffinity(int(h.thread.Load()), &there); err != nil || there != h.where {
		t.Errorf("it runs on %d; %v", there.Count(), err)
	}
	h.end()
}
