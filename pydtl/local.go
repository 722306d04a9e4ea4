package pydtl

import "dtl/backends/local"

// LocalActive reports whether dtl run started this process as a rank that the backend local connects.
func LocalActive() (active bool, err error) {
	defer guard(&err)
	return local.Active(), nil
}

// LocalJoined reports whether the backend local connects this process with others.
func LocalJoined() (joined bool, err error) {
	defer guard(&err)
	return local.Joined(), nil
}

// LocalProgram returns which of the programs of dtl run's command this process runs, from 0, or -1 where that does not say.
func LocalProgram() (number int64, err error) {
	defer guard(&err)
	return int64(local.Program()), nil
}
