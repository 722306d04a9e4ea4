package agreement

import (
	"time"
	"unsafe"

	"dtl/core/backend"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/status"
)

// explanations are what ranks that share no memory tell each other where they do not agree. Every rank gets what every rank
// says, in as many rounds as the number of ranks has binary digits, in each of which it has twice as many texts as before
// (Bruck et al., 1997).
type explanations struct {
	link       Link
	rank, size int
	number     uint64
	room       *memory.Storage // for what each rank says, from this one on; nil between
	distance   int             // of the round under way; from the number of ranks on, all texts are here
	begun      bool            // the round has
	recv       backend.Request
	sends      []backend.Request
}

// explanation is the text of one rank.
type explanation struct {
	number uint64 // of the meeting
	code   int32
	length int32
	text   [496]byte
}

const explanationBytes = int(unsafe.Sizeof(explanation{}))

// begin begins a meeting with what this rank says.
func (x *explanations) begin(number uint64, text string, code status.Code) error {
	if x.room == nil {
		storage, err := memory.NewStorage(x.link.Memory, explanationBytes*x.size, memory.Alignment)
		if err != nil {
			return err
		}
		x.room = storage
	}
	x.number, x.distance, x.begun = number, 1, false
	mine := x.at(0)
	mine.number, mine.code, mine.length = number, int32(code), int32(copy(mine.text[:], text))
	return nil
}

// at returns what the n-th rank from this one on says.
func (x *explanations) at(n int) *explanation {
	return (*explanation)(unsafe.Add(x.room.Addr(), n*explanationBytes))
}

// goOn goes on with the rounds for about so long, and reports whether they are over.
func (x *explanations) goOn(d time.Duration) (bool, error) {
	for x.distance < x.size {
		if here, err := x.round(d); !here {
			return false, err
		}
		x.distance *= 2
		x.begun = false
	}
	for len(x.sends) > 0 {
		if _, done, err := x.sends[0].WaitFor(d); !done || err != nil {
			return false, err
		}
		x.sends = x.sends[1:]
	}
	return true, nil
}

// round sends the texts that are here to the rank as far below as there are texts, and receives as many from above.
func (x *explanations) round(d time.Duration) (here bool, err error) {
	n := min(x.distance, x.size-x.distance)
	from, to := (x.rank+x.distance)%x.size, (x.rank-x.distance+x.size)%x.size
	into := memory.Span{Addr: unsafe.Pointer(x.at(x.distance)), Count: n * explanationBytes, Type: dtype.Uint8}
	if !x.begun {
		first := memory.Span{Addr: x.room.Addr(), Count: into.Count, Type: dtype.Uint8}
		r, err := x.link.On.SendFor(first, to, x.link.ExplainTag, 0)
		if err != nil {
			return false, err
		}
		if r != nil {
			x.sends = append(x.sends, r)
		}
		x.begun = true
	}
	for {
		if x.recv == nil {
			_, x.recv, err = x.link.On.RecvFor(into, from, x.link.ExplainTag, d)
		} else {
			var done bool
			if _, done, err = x.recv.WaitFor(d); done {
				x.recv = nil
			}
		}
		if err != nil || x.recv != nil {
			return false, err
		}
		if x.at(x.distance).number == x.number { // else it is of a meeting that was given up
			return true, nil
		}
	}
}

// read returns what each rank says.
func (x *explanations) read() ([]status.Code, []string) {
	codes, texts := make([]status.Code, x.size), make([]string, x.size)
	for rank := range x.size {
		e := x.at((rank - x.rank + x.size) % x.size)
		codes[rank], texts[rank] = status.Code(e.code), string(e.text[:min(max(int(e.length), 0), len(e.text))])
	}
	return codes, texts
}

// leave takes back what is under way. What cannot be had back keeps the memory.
func (x *explanations) leave() {
	if x.recv != nil {
		if _, over := backend.TakeBack(x.recv); !over {
			x.room = nil
		}
	}
	for _, r := range x.sends {
		if _, done, _ := r.WaitFor(backend.TakeBackWithin); !done {
			x.room = nil
		}
	}
	x.recv, x.sends, x.distance = nil, nil, x.size
}

// close gives the memory back.
func (x *explanations) close() {
	if x.room != nil {
		x.room.Release()
	}
	x.room = nil
}
