package memory_test

import (
	"strings"
	"testing"

	"dtl/core/memory"
)

func TestAgreedLimits(t *testing.T) {
	for _, row := range []struct {
		name string
		all  []memory.Limits
		want int64
		err  string
	}{
		{"none", []memory.Limits{{}, {}}, 0, ""},
		{"what all have set, whatever their shares", []memory.Limits{{700, 100}, {700, 0}}, 700, ""},
		{"the smallest share", []memory.Limits{{0, 0}, {0, 900}, {0, 800}}, 800, ""},
		{"others than rank 0", []memory.Limits{{700, 0}, {700, 0}, {600, 0}}, 0, "700 bytes on rank 0 and 600 bytes on rank 2"},
		{"on one rank alone", []memory.Limits{{0, 900}, {600, 900}}, 0, "not set on rank 0 and 600 bytes on rank 1"},
	} {
		got, err := memory.Agreed(row.all)
		if got != row.want || (err == nil) != (row.err == "") || err != nil && !strings.Contains(err.Error(), row.err) {
			t.Errorf("%s: %d, %v; want %d, %q", row.name, got, err, row.want, row.err)
		}
	}
}

func TestTheShareHoldsOnceElementsAreInFiles(t *testing.T) {
	memory.SetShare(func() int64 { return 1000 })
	if got := memory.Limit(); got != 0 {
		t.Errorf("%d before", got)
	}
	memory.HoldShare(300)
	if got := memory.Limit(); got != 1000 {
		t.Errorf("%d, want the share", got)
	}
	memory.SetLimit(500)
	defer memory.SetLimit(0)
	if got := memory.Limit(); got != 500 {
		t.Errorf("%d, want what was set", got)
	}
}

// counted is a pager that counts how often pages might be given back.
type counted struct {
	memory.Pager
	eased int
}

func (*counted) Limited()      {}
func (*counted) Crowded() bool { return false }
func (c *counted) Ease()       { c.eased++ }

func TestPagesMayBeGivenBackOnceAPiece(t *testing.T) {
	var pages counted
	memory.SetPager(&pages)
	memory.SetLimit(1 << 30)
	defer memory.SetLimit(0)
	var pace memory.Pace
	for range 3 * memory.Piece / 512 {
		pace.Passed(512)
	}
	if pages.eased != 3 {
		t.Errorf("%d times in three pieces of short lines", pages.eased)
	}
	pace.Passed(2 * memory.Piece)
	pace.Passed(1)
	if pages.eased != 4 {
		t.Errorf("%d times with a long line", pages.eased)
	}
}
