package pydtl

import (
	"time"

	"dtl/backends/local"
	"dtl/core/progress"
	"dtl/core/watchdog"
)

// SetWaitLimits says after how many seconds in one call a report shows where the ranks are, and after how many the call
// fails; 0 is never.
func SetWaitLimits(report, giveUp float64) (ok bool, err error) {
	defer guard(&err)
	watchdog.SetLimits(seconds(report), seconds(giveUp))
	return true, nil
}

// seconds is a duration; what is longer than one can be is never.
func seconds(n float64) time.Duration {
	if n >= float64(1<<63)/1e9 {
		return 0
	}
	return time.Duration(n * 1e9)
}

// Asked reports whether another rank wants to know where this process is.
func Asked() (asked bool, err error) {
	defer guard(&err)
	return watchdog.Asked(), nil
}

// Answer tells who asked where this process is.
func Answer(place string) (ok bool, err error) {
	defer guard(&err)
	watchdog.Answer(place)
	return true, nil
}

// Leave tells the other ranks that this process makes no more calls, and why.
func Leave(why string) (ok bool, err error) {
	defer guard(&err)
	progress.Stop()
	watchdog.Leave(why)
	local.Leave()
	return true, nil
}
