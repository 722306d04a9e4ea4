package wire

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/core/dtype"
)

// TestSignaturesThatDiffer changes one field at a time: each makes another fingerprint, but for what a signature whose elements are optional
// leaves open, which makes another want.
func TestSignaturesThatDiffer(t *testing.T) {
	strict := Signature{Op: "reduce", Operator: "SUM", Type: dtype.Float64, Count: 8, Root: Rooted(0)}
	optional := strict
	optional.ElementsOptional = true
	for name, change := range map[string]struct {
		f    func(s *Signature)
		open bool // a signature whose elements are optional leaves it open
	}{
		"operation": {f: func(s *Signature) { s.Op = "allreduce" }},
		"operator":  {f: func(s *Signature) { s.Operator = "MAX" }},
		"root":      {f: func(s *Signature) { s.Root = Rooted(1) }},
		"extra":     {f: func(s *Signature) { s.Extra = 1 }},
		"type":      {f: func(s *Signature) { s.Type = dtype.Int64 }, open: true},
		"count":     {f: func(s *Signature) { s.Count = 9 }, open: true},
	} {
		t.Run(name, func(t *testing.T) {
			other := strict
			change.f(&other)
			assert.NotEqual(t, strict.Fingerprint(), other.Fingerprint())
			assert.Zero(t, other.ElementsHash(), "it is not optional")
			other = optional
			change.f(&other)
			assert.Equal(t, change.open, optional.Fingerprint() == other.Fingerprint())
			assert.Equal(t, change.open, optional.ElementsHash() != other.ElementsHash())
		})
	}
}

func TestSignatureEncodes(t *testing.T) {
	for _, s := range []Signature{
		{Op: "barrier"},
		{Op: "reduce", Operator: "SUM", Type: dtype.Complex128, Count: 1 << 40, Root: Rooted(3)},
		{Op: "ialltoallv", Type: dtype.Bool, Extra: -7},
	} {
		assert.Equal(t, s, DecodeSignature(string(s.Encode(nil))))
	}
	assert.Equal(t, Signature{Op: "rank 1 has no room"}, DecodeSignature("rank 1 has no room"))
}

func TestAgreement(t *testing.T) {
	for name, row := range map[string]struct {
		ranks  []Statement
		agreed bool
	}{
		"alike":                  {[]Statement{{1, 0, 0}, {1, 0, 0}}, true},
		"another call":           {[]Statement{{1, 0, 0}, {2, 0, 0}}, false},
		"failed here":            {[]Statement{{1, 0, 5}, {1, 0, 0}}, false},
		"failed there":           {[]Statement{{1, 0, 0}, {1, 0, 5}}, false},
		"stated by some":         {[]Statement{{1, 0, 0}, {1, 3, 0}, {1, 0, 0}, {1, 3, 0}}, true},
		"stated, and others not": {[]Statement{{1, 3, 0}, {1, 0, 0}, {1, 5, 0}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			agreement, agreed := Agreement{Fingerprint: row.ranks[0].Fingerprint}, true
			for _, r := range row.ranks {
				agreed = agreed && agreement.Includes(r)
			}
			assert.Equal(t, row.agreed, agreed)
		})
	}
}
