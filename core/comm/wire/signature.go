package wire

import (
	"fmt"
	"strconv"
	"strings"

	"dtl/core/dtype"
	"dtl/core/mix"
)

// Signature is what every rank of a collective call must pass alike. What an operation does not have stays zero.
type Signature struct {
	Op               string     // as users know it
	Operator         string     // of a reduction
	Type             dtype.Type // of the elements
	Count            int        // of one rank's elements
	ElementsOptional bool       // Type and Count must be alike only among the ranks that state them
	Root             int64      // as Rooted returns it
	Extra            int64      // whatever else must be alike
}

// Rooted returns the Root of a signature: one more than the root's rank, so that 0 is none.
func Rooted(root int64) int64 { return root + 1 }

// String describes the call for an error: "reduce(8 elements of float64, SUM, root 0)".
func (s Signature) String() string {
	var parts []string
	if s.Type.Sent() {
		parts = append(parts, elements(s.Count)+" of "+s.Type.String())
	}
	if s.Operator != "" {
		parts = append(parts, s.Operator)
	}
	if s.Root != 0 {
		parts = append(parts, fmt.Sprint("root ", s.Root-1))
	}
	if s.Extra != 0 {
		parts = append(parts, fmt.Sprint(s.Extra))
	}
	return s.Op + "(" + strings.Join(parts, ", ") + ")"
}

func elements(n int) string {
	if n == 1 {
		return "1 element"
	}
	return fmt.Sprint(n, " elements")
}

// Fingerprint returns a number that differs, in all likelihood, where signatures do.
func (s *Signature) Fingerprint() uint64 {
	h := mix.Step(mix.Step(Hash(s.Op), uint64(s.Root)), uint64(s.Extra))
	if !s.ElementsOptional {
		h = mix.Step(mix.Step(h, uint64(s.Type)), uint64(s.Count))
	}
	if s.Operator != "" {
		h = mix.Step(h, Hash(s.Operator))
	}
	return h
}

// ElementsHash returns a number for the elements that a rank of a signature whose elements are optional states; 0: it states none.
func (s *Signature) ElementsHash() uint64 {
	if !s.ElementsOptional || !s.Type.Sent() {
		return 0
	}
	return mix.Step(uint64(s.Type), uint64(s.Count)) | 1
}

// Encode appends the signature to b in a form that DecodeSignature reads. String takes longer, and is seldom needed.
func (s *Signature) Encode(b []byte) []byte {
	b = append(append(append(b, s.Op...), '|'), s.Operator...)
	for _, n := range [...]int64{int64(s.Type), int64(s.Count), s.Root, s.Extra} {
		b = strconv.AppendInt(append(b, '|'), n, 10)
	}
	return b
}

// DecodeSignature returns the signature that Encode wrote; of any other text, one whose Op is that text.
func DecodeSignature(text string) Signature {
	parts := strings.Split(text, "|")
	if len(parts) != 6 {
		return Signature{Op: text}
	}
	var n [4]int64
	for i := range n {
		n[i], _ = strconv.ParseInt(parts[2+i], 10, 64) // written by Encode
	}
	return Signature{Op: parts[0], Operator: parts[1], Type: dtype.Type(n[0]), Count: int(n[1]), Root: n[2], Extra: n[3]}
}

// Statement is what a rank states of a call.
type Statement struct {
	Fingerprint  uint64
	ElementsHash uint64
	Code         int32 // why the rank cannot make the call; 0: it can
}

// Agreement compares what ranks state of one call. It starts with the fingerprint that all of them must state.
type Agreement struct {
	Fingerprint  uint64
	ElementsHash uint64 // of the ranks that have stated elements so far; 0: none has
}

// Includes reports whether one more rank agrees: it can make the call, states the same fingerprint, and the same elements
// as those that state any.
func (a *Agreement) Includes(s Statement) bool {
	if s.Code != 0 || s.Fingerprint != a.Fingerprint || s.ElementsHash != 0 && a.ElementsHash != 0 && s.ElementsHash != a.ElementsHash {
		return false
	}
	a.ElementsHash |= s.ElementsHash
	return true
}

// Hash returns the FNV-1a hash of a text, taken with mix.Step.
func Hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = mix.Step(h, uint64(s[i]))
	}
	return h
}
