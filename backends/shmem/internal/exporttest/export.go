// Package exporttest lets a test program export the end of its data, as Python does. Open MPI's OpenSHMEM needs it.
package exporttest

// #cgo LDFLAGS: -rdynamic
import "C"
