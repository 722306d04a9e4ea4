package comm

import (
	"errors"
	"time"
	"unsafe"

	"dtl/core/backend"
	"dtl/core/board"
	"dtl/core/comm/wire"
	"dtl/core/memory"
	"dtl/core/progress"
	"dtl/core/status"
)

// A collective that does not block may have to wait before it begins: ranks that share no memory ask each other what they
// are about to start, on a communicator of their own, and a rank of a board that is far ahead of the others waits for them.
// Operations begin in the order of the calls, whichever the program waits for first.

// enquiries are where ranks that share no memory ask each other. All see the same answers, so either all of them begin an
// operation or none does.
type enquiries struct {
	on   backend.AsyncCommunicator // nil: nobody asks
	main backend.ReducingCommunicator
}

// enquiry is one call's place in the line. To the request it is what that waits for first.
type enquiry struct {
	of     *posts
	answer answer
	ready  bool                            // act is known, or there is none
	act    func() (backend.Request, error) // begins the operation; nil: this rank cannot
	begun  bool                            // or it is known that it will not be
	next   backend.Request                 // what act returned
	err    error
}

// answer is what an enquiry waits for.
type answer interface {
	// there reports whether it is known if the operation begins; an error says that it must not.
	there() (bool, error)
}

// queue puts an enquiry at the end of the line. The caller holds the lock.
func (p *posts) queue(a answer) *enquiry {
	e := &enquiry{of: p, answer: a}
	p.line = append(p.line, e)
	return e
}

// advance begins what can begin. The caller holds the lock.
func (p *posts) advance() {
	for len(p.line) > 0 && p.line[0].ready {
		first := p.line[0]
		there, err := first.answer.there()
		if !there {
			return
		}
		p.line = p.line[1:]
		first.begun = true
		if first.err = err; err == nil && first.act != nil {
			first.next, first.err = first.act()
		}
	}
}

// goOn begins what can begin.
func (p *posts) goOn() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.advance()
}

// Test goes on with the enquiries before this one, and reports whether its operation has begun, or will not.
func (e *enquiry) Test() (backend.Status, bool, error) {
	e.of.mu.Lock()
	defer e.of.mu.Unlock()
	e.of.advance()
	return backend.Status{}, e.begun, nil
}

// WaitFor is Test again and again.
func (e *enquiry) WaitFor(d time.Duration) (backend.Status, bool, error) {
	if e.of.comm.board != nil { // of which the backend knows nothing
		return e.of.comm.watch(d, e.Test)
	}
	for until := time.Now().Add(d); ; board.Yield() {
		if st, done, err := e.Test(); done || !time.Now().Before(until) {
			return st, done, err
		}
	}
}

// Wait returns when the operation has begun, or will not.
func (e *enquiry) Wait() (backend.Status, error) {
	for {
		if st, done, err := e.WaitFor(patience); done {
			return st, err
		}
	}
}

// Cancel is refused: the other ranks may have begun.
func (e *enquiry) Cancel() error {
	return status.New(status.Unsupported, "a collective cannot be cancelled")
}

// postponed is the wait of a call until this rank may post it.
type postponed struct {
	posted
	post board.Post
	mine error
}

func (t *postponed) there() (bool, error) {
	if err := t.outOfStep(); err != nil {
		return true, err
	}
	if !t.mayPost() {
		return false, nil
	}
	err := t.publish(t.post, t.mine)
	if err != nil && t.mine == nil && t.post.Want == deferredWant {
		t.lose(err) // it was to be an error of a call that has returned
	}
	return true, err
}

// saying is what a rank says of the call that it makes.
type saying struct {
	print, want uint64
	code        int32
	length      int32
	text        [board.MaxPost]byte
}

const sayingBytes = int(unsafe.Sizeof(saying{}))

// asked is what the ranks say of one call.
type asked struct {
	size    int
	room    *memory.Storage // for what this rank says, and then for what everybody does
	request backend.Request
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
	return ok && !progress.Limited()
}

// answered reports whether this rank knows the answers to all that it asked. The communicator is closed, so nobody waits
// for what begins only now, or cannot begin here any more.
func (p *posts) answered() bool {
	if p.comm.enquiries.main == nil {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.line) > 0 {
		first := p.line[0]
		first.ready = true
		if p.advance(); !first.begun {
			return false
		}
		if first.err == nil {
			p.comm.halfway.Store(true)
		}
	}
	return true
}

// closePosts frees what the ranks asked each other on.
func (c *Comm) closePosts() error {
	if c.enquiries.main == nil {
		return nil
	}
	return c.enquiries.main.Close()
}

// ask starts to ask the other ranks about a call.
func (c *Comm) ask(post board.Post) (*asked, error) {
	room, err := memory.NewStorage(c.memory, sayingBytes*(c.size+1), alignment)
	if err != nil {
		return nil, err
	}
	a := &asked{size: c.size, room: room}
	mine := a.of(-1)
	mine.print, mine.want, mine.code = post.Print, post.Want, post.Code
	mine.length = int32(copy(mine.text[:], post.Bytes))
	whole := span(room, sayingBytes*(c.size+1))
	if a.request, err = c.enquiries.on.Iallgather(whole.Slice(0, sayingBytes), whole.Slice(sayingBytes, whole.Count)); err != nil {
		room.Release()
		return nil, err
	}
	return a, nil
}

// of returns what a rank says; this rank's own as it asks is number -1.
func (a *asked) of(rank int) *saying {
	return (*saying)(unsafe.Add(a.room.Addr(), (rank+1)*sayingBytes))
}

func (a *asked) there() (bool, error) {
	_, done, err := a.request.Test()
	if !done {
		return false, nil
	}
	defer a.room.Release()
	return true, errorOr(err, a.outcome())
}

// outcome is nil where the answers are alike.
func (a *asked) outcome() error {
	agreement, agreed := wire.Agreement{Fingerprint: a.of(0).print}, true
	for rank := range a.size {
		s := a.of(rank)
		agreed = agreed && agreement.Includes(s.print, s.want, s.code)
	}
	if agreed {
		return nil
	}
	codes, texts := make([]status.Code, a.size), make([]string, a.size)
	for rank := range texts {
		s := a.of(rank)
		codes[rank], texts[rank] = status.Code(s.code), string(s.text[:min(max(int(s.length), 0), len(s.text))])
		if s.code == 0 {
			texts[rank] = wire.DecodeSignature(texts[rank]).String()
		}
	}
	return verdict(codes, texts)
}

// enquired is a task that begins when its enquiry says so.
type enquired struct {
	task
	enquiry *enquiry // until the task has begun
}

// A droppable task holds memory before it begins.
type droppable interface{ drop() }

func (t *enquired) begin() (backend.Request, error) {
	t.enquiry.of.mu.Lock()
	defer t.enquiry.of.mu.Unlock()
	t.enquiry.act, t.enquiry.ready = t.task.begin, true
	return t.enquiry, nil
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
