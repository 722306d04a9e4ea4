package comm

import (
	"fmt"
	"slices"
	"unsafe"

	"dtl/core/board"
	"dtl/core/comm/wire"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/status"
	"dtl/core/watchdog"
)

// Each collective call starts with a meeting: every rank lays down which call it makes, and goes on when all have. So
// ranks that make different calls, or one of which cannot make its own, all get an error before anything is done. Ranks
// of one machine meet on a board, which also carries what little a short call moves; others by messages.

// meet returns nil on every rank if all of them make the call that f describes and none has an error of its own, mine;
// else an error on every rank, its own or what they disagree in. Collective.
func (c *Comm) meet(f wire.Signature, mine error) error { return c.meetWith(f, mine, memory.Span{}) }

// meetWith is meet where each rank lays down elements too, which the others see in part until this rank's next
// meeting: up to the board's payload, or one Shared where there is no board. Collective.
func (c *Comm) meetWith(f wire.Signature, mine error, payload memory.Span) error {
	if c.size == 1 {
		return mine
	}
	there, err := c.lay(f.Fingerprint(), f.Want(), mine, payload)
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

// lay lays down this rank's part of the next meeting, and reports whether all others are there already.
func (c *Comm) lay(print, want uint64, mine error, payload memory.Span) (there bool, err error) {
	code := status.OK
	if mine != nil {
		code, payload = status.CodeOf(mine), memory.Span{}
	}
	if err := c.broken(); err != nil {
		return false, err
	}
	if c.board == nil {
		return c.layByMessages(vote{print: print, want: want, code: int64(code)}, payload)
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

// layByMessages is lay where there is no board.
func (c *Comm) layByMessages(v vote, payload memory.Span) (there bool, err error) {
	at, err := c.gathering.open(voteBytes)
	if err != nil {
		return false, err
	}
	v.number, v.started = c.gathering.number.Load(), c.posts.started()
	copy(bytesAt(unsafe.Pointer(&v.share), shareBytes), bytesAt(payload.Addr, payload.Bytes()))
	*(*vote)(at) = v
	return c.gathering.goOn(begun())
}

// voted returns a rank's vote in a meeting by messages.
func (c *Comm) voted(rank int) *vote { return (*vote)(c.gathering.of(rank)) }

// agreed reports whether all ranks of the meeting make the same call, and none has failed.
func (c *Comm) agreed() bool {
	if c.board == nil {
		agreement := wire.Agreement{Fingerprint: c.voted(0).print}
		for rank := range c.size {
			if v := c.voted(rank); !agreement.Includes(v.print, v.want, int32(v.code)) {
				return false
			}
		}
		return true
	}
	agreement := wire.Agreement{Fingerprint: c.board.Entry(0).Fingerprint}
	for rank := range c.size {
		if e := c.board.Entry(rank); !agreement.Includes(e.Fingerprint, e.Want, e.Code) {
			return false
		}
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
	crossed, first := c.crossing()
	codes, texts, err := c.accounts(accountOf(call, mine), status.CodeOf(mine))
	if err != nil || mine != nil {
		return errorOr(mine, err)
	}
	err = verdict(codes, texts)
	if crossed {
		c.posts.cross(first, err)
	}
	return err
}

// errorOr returns the first of two errors that there is.
func errorOr(first, second error) error {
	if first != nil {
		return first
	}
	return second
}

// accountOf says what this rank called and where, or why it cannot.
func accountOf(call string, mine error) string {
	if mine != nil {
		return mine.Error()
	}
	return call + watchdog.Place()
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

// account is what a rank lays down where there is no board, and the ranks do not agree.
type account struct {
	number uint64 // of the meeting
	code   int32
	length int32
	text   [496]byte
}

const accountBytes = int(unsafe.Sizeof(account{}))

func (c *Comm) accountsByMessages(mine string, code status.Code) ([]status.Code, []string, error) {
	at, err := c.gathering.open(accountBytes)
	if err != nil {
		return nil, nil, err
	}
	a := (*account)(at)
	a.code, a.length = int32(code), int32(copy(a.text[:], mine))
	there, err := c.gathering.goOn(begun())
	if err == nil && !there {
		err = c.linger(mine)
	}
	if err != nil {
		return nil, nil, err
	}
	codes, texts := make([]status.Code, c.size), make([]string, c.size)
	for rank := range c.size {
		a := (*account)(c.gathering.of(rank))
		codes[rank], texts[rank] = status.Code(a.code), string(a.text[:min(max(int(a.length), 0), len(a.text))])
	}
	return codes, texts, nil
}

// verdict is the error of a rank that has not failed: another's, or that they called different things. That is one text
// on all ranks.
func verdict(codes []status.Code, texts []string) error {
	if failed := slices.IndexFunc(codes, func(code status.Code) bool { return code != status.OK }); failed >= 0 {
		return status.New(codes[failed], "rank %d: %s", failed, texts[failed])
	}
	disagree := status.New(status.Mismatch, "ranks disagree: %s", watchdog.ByRanks(texts, "called "))
	disagree.Op = "collective call"
	return disagree
}

// plural is a number of things.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprint(n, " ", thing, "s")
}
