// Package exporttest has a test program export where its data end, as Python does: Open MPI's OpenSHMEM wants to know.
package exporttest

// #cgo LDFLAGS: -rdynamic
import "C"
