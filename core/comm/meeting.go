package comm

import (
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"dtl/core/board"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/status"
)

// Each collective call starts with a meeting: every rank lays down which call it makes, and goes on when all have. So
// ranks that make different calls, or one of which cannot make its own, all get an error before anything is done. Ranks
// of one machine meet on a board, which also carries what little a short call moves; others by messages.

// meet returns nil on every rank if all of them make the call that f describes and none has an error of its own, mine;
// else an error on every rank, its own or what they disagree in. Collective.
func (c *Comm) meet(f form, mine error) error { return c.meetWith(f, mine, memory.Span{}) }

// meetWith is meet where each rank lays down elements too, which the others see in part until this rank's next
// meeting: up to the board's payload, or one Shared where there is no board. Collective.
func (c *Comm) meetWith(f form, mine error, payload memory.Span) error {
	if c.size == 1 {
		return mine
	}
	there, err := c.lay(f.print(), f.want(), mine, payload)
	if err != nil {
		return err
	}
	if !there {
		if err := c.linger(f.String()); err != nil {
			return err
		}
	}
	if c.agreed() {
		return nil
	}
	return c.explain(f.String(), mine)
}

// vote is what a rank lays down where there is no board.
type vote struct {
	print, want uint64
	code        int64
	share       Shared
}

const voteBytes = int(unsafe.Sizeof(vote{}))

// lay lays down this rank's part of the next meeting, and reports whether all others are there already.
func (c *Comm) lay(print, want uint64, mine error, payload memory.Span) (there bool, err error) {
	code := status.OK
	if mine != nil {
		code, payload = status.CodeOf(mine), memory.Span{}
	}
	if c.board == nil {
		return true, c.layByMessages(vote{print: print, want: want, code: int64(code)}, payload)
	}
	if !c.board.Whole() {
		return false, c.broken()
	}
	c.board.Lay(print, want, int32(code), payload.Addr, payload.Bytes())
	for rank := range c.size {
		for spins := c.spins; !c.board.Arrived(rank); spins-- {
			if spins <= 0 {
				return false, nil
			}
			board.Pause()
		}
	}
	return true, nil
}

// layByMessages gathers every rank's vote.
func (c *Comm) layByMessages(v vote, payload memory.Span) error {
	if c.votes == nil {
		storage, err := memory.NewStorage(c.memory, voteBytes*(c.size+1), alignment)
		if err != nil {
			return err
		}
		c.votes = storage
	}
	copy(bytesAt(unsafe.Pointer(&v.share), int(unsafe.Sizeof(v.share))), bytesAt(payload.Addr, payload.Bytes()))
	whole := memory.Span{Addr: c.votes.Addr(), Count: voteBytes * (c.size + 1), Type: dtype.Uint8}
	*(*vote)(whole.Addr) = v
	return c.allgatherInside(whole, voteBytes)
}

// allgatherInside gathers the first bytes of whole, from every rank, in what follows them.
func (c *Comm) allgatherInside(whole memory.Span, bytes int) error {
	s := stay{comm: c, op: c.op}
	return s.inside(func() error {
		return c.main.Allgather(whole.Slice(0, bytes), whole.Slice(bytes, whole.Count))
	})
}

// voted returns a rank's vote in a meeting by messages.
func (c *Comm) voted(rank int) *vote { return (*vote)(unsafe.Add(c.votes.Addr(), voteBytes*(rank+1))) }

// agreed reports whether all ranks of the meeting make the same call, and none has failed.
func (c *Comm) agreed() bool {
	var print, want uint64
	for rank := range c.size {
		var p, w uint64
		var code int64
		if c.board != nil {
			e := c.board.Entry(rank)
			p, w, code = e.Print, e.Want, int64(e.Code)
		} else {
			v := c.voted(rank)
			p, w, code = v.print, v.want, v.code
		}
		if code != 0 || rank > 0 && p != print || w != 0 && want != 0 && w != want {
			return false
		}
		print, want = p, want|w
	}
	return true
}

// part returns so many elements of what a rank laid down in the meeting, from one of them on.
func (c *Comm) part(rank int, t dtype.Type, from, count int) memory.Span {
	return memory.Span{Addr: unsafe.Add(c.laid(rank), from*t.Size()), Count: count, Type: t}
}

// laid returns the address of what a rank laid down.
func (c *Comm) laid(rank int) unsafe.Pointer {
	if c.size == 1 {
		return c.single
	}
	if c.board == nil {
		return unsafe.Pointer(&c.voted(rank).share)
	}
	at, _ := c.board.Payload(rank)
	return at
}

// explaining is the fingerprint of the meeting in which ranks that do not agree tell each other what they called.
const explaining = 1

// explain returns the error of ranks that do not agree. call is what this rank called, mine why it cannot.
func (c *Comm) explain(call string, mine error) error {
	codes, texts, err := c.accounts(account(call, mine), status.CodeOf(mine))
	if err != nil || mine != nil {
		return errorOr(mine, err)
	}
	return verdict(codes, texts)
}

// errorOr returns the first of two errors that there is.
func errorOr(first, second error) error {
	if first != nil {
		return first
	}
	return second
}

// account says what this rank called and where, or why it cannot.
func account(call string, mine error) string {
	if mine != nil {
		return mine.Error()
	}
	return call + place()
}

// accounts tells every rank what each called.
func (c *Comm) accounts(mine string, code status.Code) ([]status.Code, []string, error) {
	if c.board == nil {
		return c.accountsByMessages(mine, code)
	}
	c.board.Account(mine)
	there, err := c.lay(explaining, 0, codeError(code), memory.Span{})
	if err == nil && !there {
		err = c.linger(mine)
	}
	if err != nil {
		return nil, nil, err
	}
	codes, texts := make([]status.Code, c.size), make([]string, c.size)
	for rank := range c.size {
		codes[rank], texts[rank] = status.Code(c.board.Entry(rank).Code), c.board.AccountOf(rank)
	}
	return codes, texts, nil
}

// codeError is an error of a code; nil for OK.
func codeError(code status.Code) error {
	if code == status.OK {
		return nil
	}
	return code
}

// accountBytes is the longest text of a rank's part, with its length and code before it.
const accountBytes = 512

func (c *Comm) accountsByMessages(mine string, code status.Code) ([]status.Code, []string, error) {
	storage, err := memory.NewStorage(c.memory, accountBytes*(c.size+1), alignment)
	if err != nil {
		return nil, nil, err
	}
	defer storage.Release()
	whole := memory.Span{Addr: storage.Addr(), Count: accountBytes * (c.size + 1), Type: dtype.Uint8}
	head := unsafe.Slice((*int32)(whole.Addr), 2)
	head[0], head[1] = int32(code), int32(copy(bytesAt(unsafe.Add(whole.Addr, 8), accountBytes-8), mine))
	if err := c.allgatherInside(whole, accountBytes); err != nil {
		return nil, nil, err
	}
	codes, texts := make([]status.Code, c.size), make([]string, c.size)
	for rank := range c.size {
		at := unsafe.Add(whole.Addr, (rank+1)*accountBytes)
		head := unsafe.Slice((*int32)(at), 2)
		codes[rank], texts[rank] = status.Code(head[0]), string(bytesAt(unsafe.Add(at, 8), int(head[1])))
	}
	return codes, texts, nil
}

// verdict is the error of a rank that has not failed: another's, or that they called different things. That is one text
// on all ranks.
func verdict(codes []status.Code, texts []string) error {
	if failed := slices.IndexFunc(codes, func(code status.Code) bool { return code != status.OK }); failed >= 0 {
		return status.New(codes[failed], "rank %d: %s", failed, texts[failed])
	}
	disagree := status.New(status.Mismatch, "ranks disagree: %s", eachOnce(texts, "called "))
	disagree.Op = "collective call"
	return disagree
}

// eachOnce names each text once, with the ranks that gave it before a verb.
func eachOnce(texts []string, verb string) string {
	var parts []string
	for rank, text := range texts {
		if slices.Index(texts, text) == rank {
			parts = append(parts, fmt.Sprintf("%s %s%s", ranksWith(texts, text), verb, text))
		}
	}
	return strings.Join(parts, "; ")
}

// ranksWith names the ranks that gave a text: "rank 3", "ranks 0-2, 5".
func ranksWith(texts []string, text string) string {
	var runs []string
	n := 0
	for rank := 0; rank < len(texts); rank++ {
		if texts[rank] != text {
			continue
		}
		first := rank
		for n++; rank+1 < len(texts) && texts[rank+1] == text; n++ {
			rank++
		}
		if first == rank {
			runs = append(runs, fmt.Sprint(first))
		} else {
			runs = append(runs, fmt.Sprint(first, "-", rank))
		}
	}
	if n == 1 {
		return "rank " + runs[0]
	}
	return "ranks " + strings.Join(runs, ", ")
}
