package pydtl

import (
	"dtl/core/handle"
	"dtl/core/runtime"
)

// EnvironmentOpen returns a new environment's handle.
func EnvironmentOpen() (h int64, err error) {
	defer guard(&err)
	return int64(runtime.Environments.Put(runtime.Open())), nil
}

// EnvironmentClose closes an environment. Its handle is invalid from then on.
func EnvironmentClose(environment int64) (ok bool, err error) {
	defer guard(&err)
	return true, runtime.Environments.Close(handle.Handle(environment))
}

// EnvironmentCount returns how many environments are open.
func EnvironmentCount() (n int64, err error) {
	defer guard(&err)
	return runtime.References(), nil
}

// EnvironmentSince returns since when there has been an open environment without a gap, in the seconds of Live.
func EnvironmentSince() (seconds float64, err error) {
	defer guard(&err)
	return runtime.Since().Seconds(), nil
}
