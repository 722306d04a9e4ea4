package pydtl

import (
	"fmt"
	"time"

	"dtl/core/progress"
)

// Progress says how far the operation under way is: its name, its phase, the bytes that are done and that there are, and
// the milliseconds since the phase began, with tabulators in between; nothing where none is under way.
func Progress() (text string, err error) {
	defer guard(&err)
	p := progress.Now()
	if p == nil {
		return "", nil
	}
	return fmt.Sprintf("%s\t%s\t%d\t%d\t%d", p.Op, p.Name, p.Done(), p.Total, time.Since(p.Began).Milliseconds()), nil
}
