package pydtl

import (
	"fmt"
	"strings"

	"dtl/core/handle"
	"dtl/core/watchdog"
)

// Live returns the open handles, the oldest first, a line each of four fields with tabs between: kind, when it was made,
// whether only a close lets go what it holds, and the place that made it, if places are kept. A line before them says
// what time it is, in the same seconds.
func Live() (text string, err error) {
	defer guard(&err)
	all := handle.Live()
	var lines strings.Builder
	fmt.Fprintf(&lines, "%.9f\n", handle.Now().Seconds())
	for _, o := range all {
		fmt.Fprintf(&lines, "%s\t%.9f\t%t\t%s\n", o.Kind, o.Born.Seconds(), o.Holding, o.Where)
	}
	return lines.String(), nil
}

// KeepPlaces says whether the place in the program that makes a handle is remembered with it.
func KeepPlaces(yes bool) (ok bool, err error) {
	defer guard(&err)
	if yes {
		handle.KeepPlaces(watchdog.Program.Where)
	} else {
		handle.KeepPlaces(nil)
	}
	return true, nil
}
