package comm

import (
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/status"
)

// Call is one rank's part in a collective call on a container: what it calls, and with which arguments.
type Call struct {
	Op   string
	Same []int64       // what every rank must pass alike
	Text func() string // the arguments in words, for the error of ranks that do not
	On   func() string // what it is called on, or nil
}

// Shared is what a rank tells all others while they agree.
type Shared [4]int64

// Agree is how each collective call on a container starts: it returns nil on every rank, or an error on every rank.
// Nothing is changed before, so nothing is half-changed where a rank made another call, passed something else, or
// cannot go on, which mine says. Collective.
func (c *Comm) Agree(call Call, mine error) error {
	return c.AgreeSharing(call, mine, Shared{}, nil)
}

// AgreeSharing is Agree that also tells every rank what each shares: all, if it is not nil, has an entry a rank.
// Collective.
func (c *Comm) AgreeSharing(call Call, mine error, share Shared, all []Shared) error {
	if c.Size() == 1 {
		if all != nil {
			all[0] = share
		}
		return status.In(call.Op, mine)
	}
	agreed, err := c.compare(&call, mine, share, all)
	if err != nil || agreed {
		return status.In(call.Op, err)
	}
	return status.In(call.Op, c.explain(&call, mine))
}

// Refuse joins the agreement of whatever collective call the other ranks make, to say that this one cannot. They all
// get an error; the caller has its own. Collective.
func (c *Comm) Refuse(op string, why error) error {
	err := c.Agree(Call{Op: op}, why)
	if err == nil || status.CodeOf(err) == status.CodeOf(why) {
		return nil
	}
	return err
}

// vote is what a rank lays down.
type vote struct {
	print uint64 // fingerprint of the call
	code  int64
	share Shared
}

const voteBytes = int(unsafe.Sizeof(vote{}))

// compare reports whether every rank makes the same call and none has failed.
func (c *Comm) compare(call *Call, mine error, share Shared, all []Shared) (agreed bool, err error) {
	b, err := c.shelf(voteBytes)
	if err != nil {
		return false, err
	}
	defer b.drop()
	own := (*vote)(b.own.Addr)
	*own = vote{print: call.fingerprint(), code: int64(status.CodeOf(mine)), share: share}
	print := own.print
	if err := c.main.Allgather(b.own, b.all); err != nil {
		return false, err
	}
	agreed = true
	for rank, v := range unsafe.Slice((*vote)(b.all.Addr), c.Size()) {
		agreed = agreed && v.code == 0 && v.print == print
		if all != nil {
			all[rank] = v.share
		}
	}
	return agreed, nil
}

// fingerprint is FNV-1a, a word at a time, of what ranks must pass alike.
func (call *Call) fingerprint() uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	for _, b := range []byte(call.Op) {
		h = (h ^ uint64(b)) * prime
	}
	for _, v := range call.Same {
		h = (h ^ uint64(v)) * prime
		h ^= h >> 32
	}
	return h
}

// shelf is memory for one entry of this rank and one of each.
type shelf struct {
	c        *Comm
	storage  *memory.Storage
	pooled   bool
	own, all memory.Span
}

func (c *Comm) shelf(entry int) (shelf, error) {
	bytes := entry * (c.Size() + 1)
	s := shelf{c: c, pooled: bytes <= eager}
	var err error
	if s.pooled {
		s.storage, err = c.scratch.get()
	} else {
		s.storage, err = memory.NewStorage(c.memory, bytes, alignment)
	}
	if err != nil {
		return s, err
	}
	whole := memory.Span{Addr: s.storage.Addr(), Count: bytes, Type: dtype.Uint8}
	s.own, s.all = whole.Slice(0, entry), whole.Slice(entry, bytes)
	return s, nil
}

func (s *shelf) drop() {
	if s.pooled {
		s.c.scratch.put(s.storage)
	} else {
		s.storage.Release()
	}
}

// accountBytes is the longest text of a rank's part, with its length and code before it.
const accountBytes = 512

// explain returns the error of ranks that do not agree: each tells the others what it called, or why it cannot.
func (c *Comm) explain(call *Call, mine error) error {
	b, err := c.shelf(accountBytes)
	if err != nil {
		return err
	}
	defer b.drop()
	head := unsafe.Slice((*int32)(b.own.Addr), 2)
	head[0], head[1] = int32(status.CodeOf(mine)), int32(copy(bytesAt(unsafe.Add(b.own.Addr, 8), accountBytes-8), call.account(mine)))
	if err := c.main.Allgather(b.own, b.all); err != nil {
		return err
	}
	if mine != nil {
		return mine
	}
	codes, texts := make([]status.Code, c.Size()), make([]string, c.Size())
	for rank := range c.Size() {
		at := unsafe.Add(b.all.Addr, rank*accountBytes)
		head := unsafe.Slice((*int32)(at), 2)
		codes[rank], texts[rank] = status.Code(head[0]), string(bytesAt(unsafe.Add(at, 8), int(head[1])))
	}
	return verdict(codes, texts)
}

// account says what this rank called, or why it cannot.
func (call *Call) account(mine error) string {
	if mine != nil {
		return mine.Error()
	}
	text := call.Op
	if call.Text != nil {
		text += "(" + call.Text() + ")"
	}
	if call.On != nil {
		text += " on " + call.On()
	}
	return text
}

// verdict is the error of a rank that has not failed: another's, or that they called different things.
func verdict(codes []status.Code, texts []string) error {
	if failed := slices.IndexFunc(codes, func(code status.Code) bool { return code != status.OK }); failed >= 0 {
		return status.New(codes[failed], "rank %d: %s", failed, texts[failed])
	}
	var parts []string
	for rank, text := range texts {
		if slices.Index(texts, text) == rank {
			parts = append(parts, fmt.Sprintf("%s called %s", ranksWith(texts, text), text))
		}
	}
	return status.New(status.Mismatch, "ranks disagree: %s", strings.Join(parts, ", "))
}

// ranksWith names the ranks that gave a text.
func ranksWith(texts []string, text string) string {
	var ranks []string
	for rank, t := range texts {
		if t == text {
			ranks = append(ranks, fmt.Sprint(rank))
		}
	}
	if len(ranks) == 1 {
		return "rank " + ranks[0]
	}
	return "ranks " + strings.Join(ranks, ", ")
}
