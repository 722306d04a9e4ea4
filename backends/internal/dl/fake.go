package dl

import (
	"errors"
	"unsafe"
)

// Fake is an Opener over a table, for tests: name → library. Names that are not in it cannot be opened.
type Fake map[string]FakeLibrary

// FakeLibrary describes a library of a Fake.
type FakeLibrary struct {
	Broken  string                    // why it cannot be opened although it is there; empty if it can
	Loaded  bool                      // it is in the process already
	Path    string                    // the file; the name if empty
	Symbols map[string]unsafe.Pointer // what it defines
}

// Open implements Opener.
func (f Fake) Open(names ...string) (*Library, error) { return first(names, f.open) }

// OpenGlobal implements Opener.
func (f Fake) OpenGlobal(names ...string) (*Library, error) { return f.Open(names...) }

// Loaded implements Opener.
func (f Fake) Loaded(name string) (*Library, bool) {
	if !f[name].Loaded {
		return nil, false
	}
	l, err := f.open(name)
	return l, err == nil
}

func (f Fake) open(name string) (*Library, error) {
	found, ok := f[name]
	if !ok {
		return nil, errors.New(name + ": cannot open shared object file: No such file or directory")
	}
	if found.Broken != "" {
		return nil, errors.New(name + ": " + found.Broken)
	}
	path := found.Path
	if path == "" {
		path = name
	}
	return &Library{
		path:   path,
		lookup: func(symbol string) unsafe.Pointer { return found.Symbols[symbol] },
		close:  func() error { return nil },
	}, nil
}
