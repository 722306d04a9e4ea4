package pydtl

import (
	"time"

	"dtl/core/comm"
	"dtl/core/runtime"
)

// ContextAgree is the agreement of a collective call that starts above the core: it fails on every rank where a rank
// refuses, or where ranks say something else in words. Collective.
func ContextAgree(ctx int64, op, words string) (ok bool, err error) {
	defer guard(&err)
	return on(ctx, func(c *runtime.Context) (bool, error) {
		over, err := c.Comm()
		if err != nil {
			return false, err
		}
		same := make([]int64, 0, len(words))
		for _, b := range []byte(words) {
			same = append(same, int64(b))
		}
		return true, over.Agree(comm.Call{Op: op, Same: same, Text: func() string { return words }}, nil)
	})
}

// Confirm waits until all ranks have come to the call that this process has gone on from, if there is one, and made the same;
// for so many milliseconds at most, unless that is 0.
func Confirm(milliseconds int64) (ok bool, err error) {
	defer guard(&err)
	return true, comm.Confirm(time.Duration(milliseconds) * time.Millisecond)
}
