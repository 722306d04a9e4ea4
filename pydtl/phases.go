package pydtl

import (
	"fmt"
	"strings"

	"dtl/core/clock"
	"dtl/core/phase"
)

// Progress says how far the operation under way is: its name, its phase, the bytes that are done and that there are, and
// the milliseconds since the phase began, with tabulators in between; nothing where none is under way.
func Progress() (text string, err error) {
	defer guard(&err)
	p := phase.Now()
	if p == nil {
		return "", nil
	}
	return fmt.Sprintf("%s\t%s\t%d\t%d\t%d", p.Op, p.Name, p.Done(), p.Total, (clock.Now()-p.Began)/1e6), nil
}

// Phases says which phases have ended that began at a time of the clock or later: a line each with the operation's name,
// the phase, when it began and ended, and its bytes, with tabulators in between.
func Phases(began int64) (text string, err error) {
	defer guard(&err)
	var lines strings.Builder
	for _, p := range phase.Since(began) {
		fmt.Fprintf(&lines, "%s\t%s\t%d\t%d\t%d\n", p.Op, p.Name, p.Began, p.Ended, p.Total)
	}
	return lines.String(), nil
}
