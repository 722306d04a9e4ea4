package pydtl

import (
	"dtl/core/comm"
	"dtl/core/progress"
)

// SetSharing says whether ranks of one machine meet in shared memory.
func SetSharing(yes bool) (ok bool, err error) {
	defer guard(&err)
	comm.SetSharing(yes)
	return true, nil
}

// PretendNodes has each so many ranks pretend to be on a node of their own; 0: none.
func PretendNodes(ranks int64) (ok bool, err error) {
	defer guard(&err)
	comm.PretendNodes(ranks)
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
