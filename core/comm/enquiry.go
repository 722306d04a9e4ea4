package comm

import (
	"errors"
	"sync"
	"time"
	"unsafe"

	"dtl/core/backend"
	"dtl/core/board"
	"dtl/core/memory"
	"dtl/core/status"
)

// Ranks that share no memory ask each other what they are about to start: an enquiry for each collective that does not
// block, on a communicator of their own, and the operation begins where the answers are alike. All ranks see the same
// answers, so either all of them begin it or none does. Operations begin in the order of their enquiries, which is that of
// the calls, whichever the program waits for first.

// enquiries are those of a communicator, in the order of the calls.
type enquiries struct {
	on   backend.AsyncCommunicator // nil: nobody asks
	main backend.ReducingCommunicator
	mu   sync.Mutex
	line []*enquiry // whose operations have not begun
}

// answer is what a rank says of the call that it makes.
type answer struct {
	print, want uint64
	code        int32
	length      int32
	text        [board.MaxPost]byte
}

const answerBytes = int(unsafe.Sizeof(answer{}))

// enquiry is one call's. To the request it is what that waits for first.
type enquiry struct {
	of    *enquiries
	size  int
	room  *memory.Storage // for this rank's answer, and then for everybody's
	asked backend.Request
	act   func() (backend.Request, error) // begins the operation; nil: this rank cannot
	begun bool                            // or it is known that it will not be
	next  backend.Request                 // what act returned
	err   error
}

// openEnquiries has the ranks ask each other from now on, if they want to. Collective.
func (c *Comm) openEnquiries(wanted bool) error {
	if !wanted {
		return nil
	}
	main, err := c.main.Dup()
	if err != nil {
		return err
	}
	c.enquiries.main, c.enquiries.on = main, main.(backend.AsyncCommunicator)
	return nil
}

// mayEnquire reports whether this rank can go on with enquiries also where it waits in the backend.
func (c *Comm) mayEnquire() bool {
	_, ok := c.main.(backend.AsyncCommunicator)
	return ok && callers.limit.Load() == nil
}

// close frees the communicator. What this rank could not start may not have been heard by all: its answers stay.
func (p *enquiries) close() error {
	if p.main == nil {
		return nil
	}
	p.mu.Lock()
	p.advance()
	p.mu.Unlock()
	return p.main.Close()
}

// ask starts the enquiry of a call, which begins by act; nil says that this rank cannot make it.
func (c *Comm) ask(post board.Post, act func() (backend.Request, error)) (*enquiry, error) {
	room, err := memory.NewStorage(c.memory, answerBytes*(c.size+1), alignment)
	if err != nil {
		return nil, err
	}
	p := &enquiry{of: &c.enquiries, size: c.size, room: room, act: act}
	mine := p.answer(-1)
	mine.print, mine.want, mine.code = post.Print, post.Want, post.Code
	mine.length = int32(copy(mine.text[:], post.Bytes))
	c.enquiries.mu.Lock()
	defer c.enquiries.mu.Unlock()
	whole := span(room, answerBytes*(c.size+1))
	if p.asked, err = c.enquiries.on.Iallgather(whole.Slice(0, answerBytes), whole.Slice(answerBytes, whole.Count)); err != nil {
		room.Release()
		return nil, err
	}
	c.enquiries.line = append(c.enquiries.line, p)
	return p, nil
}

// answer returns a rank's; this rank's own as it asks is number -1.
func (p *enquiry) answer(rank int) *answer {
	return (*answer)(unsafe.Add(p.room.Addr(), (rank+1)*answerBytes))
}

// advance begins what can begin. The caller holds the lock.
func (p *enquiries) advance() {
	for len(p.line) > 0 {
		first := p.line[0]
		_, done, err := first.asked.Test()
		if !done {
			return
		}
		p.line = p.line[1:]
		first.settle(err)
	}
}

// settle begins the operation if all ranks have answered alike.
func (p *enquiry) settle(err error) {
	defer p.room.Release()
	p.begun = true
	if p.err = errorOr(err, p.outcome()); p.err == nil && p.act != nil {
		p.next, p.err = p.act()
	}
}

// outcome is nil where the answers are alike.
func (p *enquiry) outcome() error {
	first, want, alike := p.answer(0), uint64(0), true
	for rank := range p.size {
		a := p.answer(rank)
		alike = alike && a.code == 0 && a.print == first.print && (a.want == 0 || want == 0 || a.want == want)
		want |= a.want
	}
	if alike {
		return nil
	}
	codes, texts := make([]status.Code, p.size), make([]string, p.size)
	for rank := range texts {
		a := p.answer(rank)
		codes[rank], texts[rank] = status.Code(a.code), string(a.text[:min(max(int(a.length), 0), len(a.text))])
		if a.code == 0 {
			texts[rank] = formTold(texts[rank]).String()
		}
	}
	return verdict(codes, texts)
}

// Test goes on with the enquiries before this one, and reports whether its operation has begun, or will not.
func (p *enquiry) Test() (backend.Status, bool, error) {
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	p.of.advance()
	return backend.Status{}, p.begun, nil
}

// WaitFor is Test again and again.
func (p *enquiry) WaitFor(d time.Duration) (backend.Status, bool, error) {
	for until := time.Now().Add(d); ; yield() {
		if st, done, err := p.Test(); done || !time.Now().Before(until) {
			return st, done, err
		}
	}
}

// Wait returns when the operation has begun, or will not.
func (p *enquiry) Wait() (backend.Status, error) {
	for {
		if st, done, err := p.WaitFor(patience); done {
			return st, err
		}
	}
}

// Cancel is refused: the other ranks may have begun.
func (p *enquiry) Cancel() error {
	return status.New(status.Unsupported, "a collective cannot be cancelled")
}

// enquired is a task that begins when the ranks have been asked.
type enquired struct {
	task
	comm    *Comm
	post    board.Post
	enquiry *enquiry // until the task has begun
}

// A droppable task holds memory before it begins.
type droppable interface{ drop() }

func (t *enquired) begin() (backend.Request, error) {
	p, err := t.comm.ask(t.post, t.task.begin)
	if err != nil {
		t.drop()
		return nil, err
	}
	t.enquiry = p
	return p, nil
}

func (t *enquired) next(st backend.Status, err error) (backend.Request, error) {
	p := t.enquiry
	if p == nil {
		return t.task.next(st, err)
	}
	t.enquiry = nil
	if err = errorOr(err, p.err); err == nil {
		return p.next, nil
	}
	var early ended
	if errors.As(err, &early) {
		return p.next, early.error
	}
	t.drop()
	return nil, err
}

func (t *enquired) drop() {
	if d, ok := t.task.(droppable); ok {
		d.drop()
	}
}

func (t *enquired) more() bool { return t.enquiry != nil || t.task.more() }
