// Package status has the one error type that crosses every layer: a code on which callers branch, the operation that
// failed, and the cause.
package status

import (
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
)

// Code says what kind of failure an error is. Python maps each to one exception class.
type Code int

// The codes. Their numbers are part of the contract between the core and the Python package; hundreds group them.
const (
	OK Code = 0

	Internal Code = 1 // a bug in this library: a recovered panic

	InvalidArgument Code = 100 // a value outside what the call accepts
	InvalidType     Code = 101 // an argument of a type that the call does not accept
	InvalidHandle   Code = 102 // closed, of another kind, or never given out
	OutOfBounds     Code = 103 // an index, rank or root outside its range
	Unsupported     Code = 104 // a combination that does not exist, such as MIN of complex
	Overflow        Code = 105 // a value that its element type cannot hold
	ViewsOut        Code = 106 // a structural change of memory that views look at
	KeyNotFound     Code = 107 // a key that a map does not have
	NoSuchAxis      Code = 108 // a dimension that a container does not have
	FloatingPoint   Code = 109 // an error of floats, where np.errstate raises one
	LinearAlgebra   Code = 110 // a matrix that has no result, such as a singular one that has no inverse

	OutOfMemory Code = 200 // memory could not be allocated

	Communication Code = 300 // a communication call failed
	Mismatch      Code = 301 // ranks made different calls where all must make the same

	Backend            Code = 400 // a backend failed outside communication
	BackendUnavailable Code = 401 // a backend cannot be used in this process

	File        Code = 500 // a file that is damaged, or cannot be read or written
	FileMissing Code = 501 // a file that is not there

	// FileErrno plus a number of the system's, such as ENOSPC, is File with that number: the ranks that hear of it
	// raise an exception with the same errno.
	FileErrno Code = 1000
)

var names = map[Code]string{
	OK:                 "ok",
	Internal:           "internal",
	InvalidArgument:    "invalid argument",
	InvalidType:        "invalid type",
	InvalidHandle:      "invalid handle",
	OutOfBounds:        "out of bounds",
	Unsupported:        "unsupported",
	Overflow:           "overflow",
	ViewsOut:           "views out",
	KeyNotFound:        "key not found",
	NoSuchAxis:         "no such axis",
	FloatingPoint:      "floating point",
	LinearAlgebra:      "linear algebra",
	OutOfMemory:        "out of memory",
	Communication:      "communication",
	Mismatch:           "mismatch",
	Backend:            "backend",
	BackendUnavailable: "backend unavailable",
	File:               "file",
	FileMissing:        "file missing",
}

// Codes returns the codes in ascending order. FileErrno is none: it is what is added to numbers of the system's.
func Codes() []Code { return slices.Sorted(maps.Keys(names)) }

// String returns the code's name in words.
func (c Code) String() string {
	if s, ok := names[c]; ok {
		return s
	}
	if c > FileErrno {
		return fmt.Sprintf("file, errno %d", int(c-FileErrno))
	}
	return fmt.Sprintf("code %d", int(c))
}

// Error makes a Code usable as the target of errors.Is: errors.Is(err, status.OutOfBounds).
func (c Code) Error() string { return c.String() }

// Error is a failure of operation Op. Op is empty where the failing function does not know which
// operation it serves; the first caller that knows fills it in with In.
type Error struct {
	Code Code
	Op   string
	Err  error
}

// New returns an error of the given code with a formatted cause. Op is left for a caller to fill in.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Err: fmt.Errorf(format, args...)}
}

// Error returns "op: cause".
func (e *Error) Error() string {
	if e.Op == "" {
		return e.Err.Error()
	}
	return e.Op + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is this error's code.
func (e *Error) Is(target error) bool {
	c, ok := target.(Code)
	return ok && c == e.Code
}

// In returns err with op as its operation, unless err is nil or names one already.
func In(op string, err error) error {
	if err == nil { // alone here, so that this is compiled into every call
		return nil
	}
	return in(op, err)
}

func in(op string, err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return &Error{Code: Internal, Op: op, Err: err}
	}
	if e.Op != "" {
		return err
	}
	if err == error(e) {
		err = e.Err
	}
	return &Error{Code: e.Code, Op: op, Err: err}
}

// CodeOf returns the code that err carries: OK for nil, Internal for an error that carries none.
func CodeOf(err error) Code {
	if err == nil {
		return OK
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	var c Code
	if errors.As(err, &c) {
		return c
	}
	return Internal
}

// Recovered makes an error of what recover returned: a bug in this library, with the stack that shows where.
func Recovered(p any) *Error {
	return New(Internal, "%v: please report this as a bug\n%s", p, debug.Stack())
}
