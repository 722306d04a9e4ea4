package backendtest

import (
	"runtime"
	"time"

	"dtl/core/backend"
	"dtl/core/dtype"
	"dtl/core/memory"
)

func ring(r *rank) {
	for _, t := range dtype.All() {
		for i, n := range sizes {
			in, out := r.room(t, n), r.filled(t, n, uint64(r.c.Rank()))
			req, err := r.c.Irecv(in.Span, r.previous(), i)
			r.ok("irecv", err)
			r.send(out, r.next(), i)
			s, err := req.Wait()
			r.ok("wait", err)
			got(r, "status", s, backend.Status{Source: r.previous(), Tag: i, Bytes: n * t.Size()})
			in.holds(r, "ring", uint64(r.previous()))
		}
	}
}

func ordering(r *rank) {
	const messages = 50
	if r.c.Rank() == 0 {
		for dest := range r.c.Size() {
			for i := range messages {
				defer r.isend(r.filled(dtype.Int32, 1+i%7*300, uint64(i)), dest, 4)()
			}
		}
	}
	for i := range messages {
		r.recv(r.room(dtype.Int32, 1+i%7*300), 0, 4, uint64(i))
	}
}

func tags(r *rank) {
	for tag := range 3 {
		defer r.isend(r.filled(dtype.Int64, 5, uint64(tag)), r.next(), tag)()
	}
	for _, tag := range []int{2, 0, 1} {
		r.recv(r.room(dtype.Int64, 5), r.previous(), tag, uint64(tag))
	}
}

func largestTag(r *rank) {
	tag := r.c.TagBound() - 1
	defer r.isend(r.filled(dtype.Int8, 9, 1), r.next(), tag)()
	r.recv(r.room(dtype.Int8, 9), r.previous(), tag, 1)
}

// wildcards has every rank send rank+1 elements to each, with a tag that says from whom.
func wildcards(r *rank) {
	n := r.c.Size()
	for dest := range n {
		defer r.isend(r.filled(dtype.Float32, r.c.Rank()+1, uint64(r.c.Rank())), dest, 10+r.c.Rank())()
	}
	seen := make([]bool, n)
	for range n {
		in := r.room(dtype.Float32, n)
		s := r.take(in.Span, backend.AnySource, backend.AnyTag)
		if s.Source < 0 || s.Source >= n || seen[s.Source] {
			r.Errorf("rank %d: source %d outside [0, %d) or seen before", r.c.Rank(), s.Source, n)
			return
		}
		seen[s.Source] = true
		got(r, "status", s, backend.Status{Source: s.Source, Tag: 10 + s.Source, Bytes: 4 * (s.Source + 1)})
		front := buffer{in.Slice(0, s.Source+1), in.all[:2*guard+s.Bytes]}
		part := make([]byte, s.Bytes)
		pattern(part, dtype.Float32, uint64(s.Source))
		got(r, "message", string(front.elements()), string(part))
	}
}

// firstOfReceives has messages that several receives match go to the receive that began first.
func firstOfReceives(r *rank) {
	wanted := []struct{ source, tag int }{
		{backend.AnySource, 7}, {r.previous(), 7}, {r.previous(), backend.AnyTag}, {backend.AnySource, backend.AnyTag}, {r.previous(), 7},
	}
	in, reqs := make([]buffer, len(wanted)), make([]backend.Request, len(wanted))
	for i, w := range wanted {
		in[i] = r.room(dtype.Int32, 5)
		req, err := r.c.Irecv(in[i].Span, w.source, w.tag)
		r.ok("irecv", err)
		reqs[i] = req
	}
	r.ok("barrier", r.c.Barrier())
	for i := range wanted {
		defer r.isend(r.filled(dtype.Int32, 5, uint64(i)), r.next(), 7)()
	}
	for i := len(wanted) - 1; i >= 0; i-- { // who waits for the last has the first go on, too
		s, err := reqs[i].Wait()
		r.ok("wait", err)
		got(r, "status", s, backend.Status{Source: r.previous(), Tag: 7, Bytes: 20})
		in[i].holds(r, "message", uint64(i))
	}
}

// tryRecv takes the first of the messages that match, and only what is there.
func tryRecv(r *rank) {
	in := r.room(dtype.Int16, 11)
	if _, there, err := r.c.TryRecv(in.Span, r.previous(), 6); there || err != nil {
		r.Errorf("rank %d: a message that nobody sent: %v, %v", r.c.Rank(), there, err)
	}
	in.untouched(r, "no message")
	r.ok("barrier", r.c.Barrier())
	for i := range 2 {
		defer r.isend(r.filled(dtype.Int16, 11, uint64(i)), r.next(), 6)()
	}
	for i, from := range []int{backend.AnySource, r.previous()} {
		for {
			s, there, err := r.c.TryRecv(in.Span, from, []int{6, backend.AnyTag}[i])
			r.ok("try to receive", err)
			if there || err != nil {
				got(r, "status", s, backend.Status{Source: r.previous(), Tag: 6, Bytes: 22})
				break
			}
			runtime.Gosched()
		}
		in.holds(r, "message", uint64(i))
	}
}

func shorter(r *rank) {
	defer r.isend(r.filled(dtype.Float64, 3, 1), r.next(), 0)()
	in := r.room(dtype.Float64, 10)
	s := r.take(in.Span, r.previous(), 0)
	got(r, "bytes", s.Bytes, 24)
	tail := buffer{in.Slice(3, 10), in.all[24:]}
	for _, v := range tail.all[guard : len(tail.all)-guard] {
		if v != guardByte {
			r.Errorf("rank %d: written beyond the message", r.c.Rank())
			break
		}
	}
	in.guarded(r, "shorter")
}

func empty(r *rank) {
	defer r.isend(buffer{Span: memory.Span{Type: dtype.Float64}}, r.next(), 1)()
	defer r.isend(r.filled(dtype.Float64, 2, 5), r.next(), 1)()
	s := r.take(memory.Span{Type: dtype.Float64}, r.previous(), 1)
	got(r, "status", s, backend.Status{Source: r.previous(), Tag: 1})
	r.recv(r.room(dtype.Float64, 2), r.previous(), 1, 5)
}

func testAndWait(r *rank) {
	in := r.room(dtype.Uint32, 8)
	req, err := r.c.Irecv(in.Span, r.previous(), 2)
	r.ok("irecv", err)
	_, done, err := req.Test()
	r.ok("test", err)
	got(r, "done before anything is sent", done, false)
	r.ok("barrier", r.c.Barrier())
	defer r.isend(r.filled(dtype.Uint32, 8, 4), r.next(), 2)()
	want := backend.Status{Source: r.previous(), Tag: 2, Bytes: 32}
	for {
		s, done, err := req.Test()
		r.ok("test", err)
		if done {
			got(r, "status of test", s, want)
			break
		}
		runtime.Gosched()
	}
	for range 2 {
		s, err := req.Wait()
		r.ok("wait after completion", err)
		got(r, "status of wait", s, want)
	}
	in.holds(r, "message", 4)
}

// postedFirst has receives of one tag wait in the order they were posted, beside one of another tag.
func postedFirst(r *rank) {
	var in [3]buffer
	var reqs [3]backend.Request
	for i, tag := range []int{8, 8, 9} {
		in[i] = r.room(dtype.Int64, 4)
		req, err := r.c.Irecv(in[i].Span, r.previous(), tag)
		r.ok("irecv", err)
		reqs[i] = req
	}
	r.ok("barrier", r.c.Barrier())
	for i, tag := range []int{9, 8, 8} {
		defer r.isend(r.filled(dtype.Int64, 4, uint64(i)), r.next(), tag)()
	}
	for i, seed := range []uint64{1, 2, 0} {
		_, err := reqs[i].Wait()
		r.ok("wait", err)
		in[i].holds(r, "posted receive", seed)
	}
}

func headToHead(r *rank) {
	n := r.c.Size()
	in := make([]buffer, n)
	reqs := make([]backend.Request, n)
	for i := range n {
		in[i] = r.room(dtype.Float64, large)
		req, err := r.c.Irecv(in[i].Span, i, 3)
		r.ok("irecv", err)
		reqs[i] = req
	}
	out := r.filled(dtype.Float64, large, uint64(r.c.Rank()))
	for i := range n {
		defer r.isend(out, i, 3)()
	}
	for i := range n {
		_, err := reqs[i].Wait()
		r.ok("wait", err)
		in[i].holds(r, "large message", uint64(i))
	}
}

// patience runs out before anything is sent, and not after.
func patience(r *rank) {
	in := r.room(dtype.Uint8, 5)
	if r.c.Size() > 1 {
		_, req, err := r.c.RecvFor(in.Span, r.previous(), 2, time.Millisecond)
		r.ok("recv", err)
		_, done, err := req.WaitFor(time.Millisecond)
		r.ok("wait for a millisecond", err)
		got(r, "done before anything is sent", done, false)
		r.ok("barrier", r.c.Barrier())
		defer r.isend(r.filled(dtype.Uint8, 5, 7), r.next(), 2)()
		s, done, err := req.WaitFor(time.Minute)
		r.ok("wait for a minute", err)
		got(r, "done", done, true)
		got(r, "status", s, backend.Status{Source: r.previous(), Tag: 2, Bytes: 5})
		in.holds(r, "message", 7)
		return
	}
	req, err := r.c.Irecv(in.Span, 0, 2)
	r.ok("irecv", err)
	r.isend(r.filled(dtype.Uint8, 5, 7), 0, 2)()
	_, done, err := req.WaitFor(0)
	r.ok("wait for no time", err)
	got(r, "done", done, true)
}

// longSends are under way until they are received, or have been copied.
func longSends(r *rank) {
	out, in := r.filled(dtype.Float64, large, 3), r.room(dtype.Float64, large)
	req, err := r.c.SendFor(out.Span, r.next(), 4, time.Millisecond)
	r.ok("send", err)
	r.recv(in, r.previous(), 4, 3)
	if req != nil {
		_, done, err := req.WaitFor(time.Minute)
		r.ok("wait", err)
		got(r, "done", done, true)
	}
}

// cancel takes one receive of two back: the message goes to the other.
func cancel(r *rank) {
	var in [2]buffer
	var reqs [2]backend.Request
	for i := range in {
		in[i] = r.room(dtype.Int32, 3)
		req, err := r.c.Irecv(in[i].Span, r.previous(), 1)
		r.ok("irecv", err)
		reqs[i] = req
	}
	r.ok("cancel", reqs[0].Cancel())
	s, err := reqs[0].Wait()
	r.ok("wait for what was cancelled", err)
	got(r, "cancelled", s.Cancelled, true)
	r.ok("barrier", r.c.Barrier())
	defer r.isend(r.filled(dtype.Int32, 3, 9), r.next(), 1)()
	s, err = reqs[1].Wait()
	r.ok("wait", err)
	got(r, "status", s, backend.Status{Source: r.previous(), Tag: 1, Bytes: 12})
	r.ok("cancel what is complete", reqs[1].Cancel())
	in[0].untouched(r, "cancelled")
	in[1].holds(r, "message", 9)
}

func nullProcess(r *rank) {
	b := r.room(dtype.Float64, 4)
	nobody := backend.Status{Source: backend.ProcNull, Tag: backend.AnyTag}
	r.send(b, backend.ProcNull, 1)
	r.isend(b, backend.ProcNull, 1)()
	got(r, "recv", r.take(b.Span, backend.ProcNull, 1), nobody)
	req, err := r.c.Irecv(b.Span, backend.ProcNull, 1)
	r.ok("irecv", err)
	s, err := req.Wait()
	r.ok("wait", err)
	got(r, "wait", s, nobody)
	s, there, err := r.c.TryRecv(b.Span, backend.ProcNull, 1)
	r.ok("try to receive", err)
	got(r, "there", there, true)
	got(r, "try to receive", s, nobody)
	b.untouched(r, "null process")
}
