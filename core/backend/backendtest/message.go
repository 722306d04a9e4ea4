package backendtest

import (
	"runtime"

	"dtl/core/backend"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/status"
)

func ring(r *rank) {
	for _, t := range dtype.All() {
		for i, n := range sizes {
			in, out := r.room(t, n), r.filled(t, n, uint64(r.c.Rank()))
			req, err := r.c.Irecv(in.Span, r.previous(), i)
			r.ok("irecv", err)
			r.ok("send", r.c.Send(out.Span, r.next(), i))
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
		s, err := r.c.Recv(in.Span, backend.AnySource, backend.AnyTag)
		r.ok("recv from any", err)
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

func probe(r *rank) {
	if _, there, err := r.c.Iprobe(r.previous(), 6); there || err != nil {
		r.Errorf("rank %d: iprobe finds a message that nobody sent: %v", r.c.Rank(), err)
	}
	r.ok("barrier", r.c.Barrier())
	defer r.isend(r.filled(dtype.Int16, 11, 3), r.next(), 6)()
	want := backend.Status{Source: r.previous(), Tag: 6, Bytes: 22}
	for range 2 { // a probe leaves the message where it is
		s, err := r.c.Probe(backend.AnySource, 6)
		r.ok("probe", err)
		got(r, "probe", s, want)
		s, there, err := r.c.Iprobe(r.previous(), backend.AnyTag)
		r.ok("iprobe", err)
		got(r, "iprobe after probe", there, true)
		got(r, "iprobe", s, want)
	}
	r.recv(r.room(dtype.Int16, 11), r.previous(), 6, 3)
}

func shorter(r *rank) {
	defer r.isend(r.filled(dtype.Float64, 3, 1), r.next(), 0)()
	in := r.room(dtype.Float64, 10)
	s, err := r.c.Recv(in.Span, r.previous(), 0)
	r.ok("recv", err)
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
	s, err := r.c.Recv(memory.Span{Type: dtype.Float64}, r.previous(), 1)
	r.ok("recv of no elements", err)
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

func truncation(r *rank) {
	for _, n := range []int{20, large} {
		wait := r.isend(r.filled(dtype.Int32, n, 1), r.next(), 5)
		in := r.room(dtype.Int32, n-1)
		_, err := r.c.Recv(in.Span, r.previous(), 5)
		r.is("message longer than the buffer", err, status.Communication)
		in.guarded(r, "truncation")
		wait()
		wait = r.isend(r.filled(dtype.Int32, n, 2), r.next(), 5)
		r.recv(r.room(dtype.Int32, n), r.previous(), 5, 2)
		wait()
	}
	r.ok("barrier after truncation", r.c.Barrier())
}

func nullProcess(r *rank) {
	b := r.room(dtype.Float64, 4)
	nobody := backend.Status{Source: backend.ProcNull, Tag: backend.AnyTag}
	r.ok("send", r.c.Send(b.Span, backend.ProcNull, 1))
	r.isend(b, backend.ProcNull, 1)()
	s, err := r.c.Recv(b.Span, backend.ProcNull, 1)
	r.ok("recv", err)
	got(r, "recv", s, nobody)
	req, err := r.c.Irecv(b.Span, backend.ProcNull, 1)
	r.ok("irecv", err)
	s, err = req.Wait()
	r.ok("wait", err)
	got(r, "wait", s, nobody)
	s, err = r.c.Probe(backend.ProcNull, 1)
	r.ok("probe", err)
	got(r, "probe", s, nobody)
	s, there, err := r.c.Iprobe(backend.ProcNull, 1)
	r.ok("iprobe", err)
	got(r, "iprobe", there, true)
	got(r, "iprobe", s, nobody)
	b.untouched(r, "null process")
}
