// Package dl opens shared libraries that a machine may or may not have, and finds their symbols.
//
// Backends take an Opener, so that every way in which a vendor's library can be missing is a test row on a
// machine that has none: Linker is the dynamic linker, Fake a table of libraries.
package dl

import (
	"strings"
	"unsafe"

	"dtl/core/status"
)

// Opener opens shared libraries.
type Opener interface {
	// Open opens the first of the names that can be opened, with its symbols hidden from other libraries.
	// The error is status.BackendUnavailable and gives, for each name, why not.
	Open(names ...string) (*Library, error)
	// OpenGlobal is Open with the symbols visible to every library that is opened later, as one with
	// plugins needs it.
	OpenGlobal(names ...string) (*Library, error)
	// Loaded returns the library of that name if it is in the process already. It opens nothing.
	Loaded(name string) (*Library, bool)
}

// Library is an open shared library.
type Library struct {
	path   string
	lookup func(name string) unsafe.Pointer
	close  func() error
}

// Path returns the file that was opened.
func (l *Library) Path() string { return l.path }

// Has reports whether the library defines the symbol.
func (l *Library) Has(name string) bool { return l.lookup(name) != nil }

// Symbol returns the address of a function or variable. The error is status.BackendUnavailable and names
// the symbol and the file.
func (l *Library) Symbol(name string) (unsafe.Pointer, error) {
	if p := l.lookup(name); p != nil {
		return p, nil
	}
	return nil, status.New(status.BackendUnavailable, "%s has no symbol %s", l.path, name)
}

// Close gives the library back; addresses found in it are not to be used any more. A library that another
// opener holds stays in the process.
func (l *Library) Close() error { return l.close() }

// first opens the first name that open can, or says of each why it cannot.
func first(names []string, open func(name string) (*Library, error)) (*Library, error) {
	var tried []string
	for _, name := range names {
		l, err := open(name)
		if err == nil {
			return l, nil
		}
		tried = append(tried, err.Error())
	}
	if tried == nil {
		return nil, status.New(status.BackendUnavailable, "no library to open: no name was given")
	}
	return nil, status.New(status.BackendUnavailable, "cannot open %s: %s",
		strings.Join(names, " or "), strings.Join(tried, "; "))
}
