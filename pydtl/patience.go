package pydtl

import (
	"time"

	"dtl/core/comm"
	"dtl/core/progress"
	"dtl/core/watchdog"
)

// SetPatience says after how many seconds in one call a report shows where the ranks are, and after how many the call
// fails; 0 is never.
func SetPatience(report, giveUp float64) (ok bool, err error) {
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

// SetSharing says whether ranks of one machine meet in shared memory.
func SetSharing(yes bool) (ok bool, err error) {
	defer guard(&err)
	comm.SetSharing(yes)
	return true, nil
}

// SetChecking says whether ranks that share no memory compare their collective calls, too.
func SetChecking(everywhere bool) (ok bool, err error) {
	defer guard(&err)
	comm.SetChecking(everywhere)
	return true, nil
}

// SetProgress says who goes on with what is under way while a program does something else: core/progress numbers them.
func SetProgress(number int64) (ok bool, err error) {
	defer guard(&err)
	return true, progress.SetMode(number)
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
	return true, nil
}
