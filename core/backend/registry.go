package backend

import (
	"sort"
	"sync"

	"dtl/core/status"
)

var (
	mu         sync.RWMutex
	registered = map[string]Backend{}
)

// Register makes a backend known under its name; backends call it in init. It panics on nil and on a
// second backend of the same name.
func Register(b Backend) {
	mu.Lock()
	defer mu.Unlock()
	if b == nil {
		panic("backend: Register of nil")
	}
	if _, dup := registered[b.Name()]; dup {
		panic("backend: Register called twice for " + b.Name())
	}
	registered[b.Name()] = b
}

// Names returns the registered names in order.
func Names() []string {
	mu.RLock()
	defer mu.RUnlock()
	names := make([]string, 0, len(registered))
	for name := range registered {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// Lookup returns the named backend, usable or not.
func Lookup(name string) (Backend, error) {
	mu.RLock()
	defer mu.RUnlock()
	b, ok := registered[name]
	if !ok {
		return nil, status.New(status.BackendUnavailable, "no backend is called %q", name)
	}
	return b, nil
}

// Probe returns nil if the named backend is known and usable here, else why not.
func Probe(name string) error {
	b, err := Lookup(name)
	if err != nil {
		return err
	}
	return b.Probe()
}

// As returns the named backend as a P, or why not: unknown, unusable here, or it cannot provide a P.
func As[P Backend](name string) (P, error) {
	var none P
	b, err := Lookup(name)
	if err != nil {
		return none, err
	}
	if err := b.Probe(); err != nil {
		return none, err
	}
	p, ok := b.(P)
	if !ok {
		return none, status.New(status.BackendUnavailable, "backend %q does not provide %T", name, &none)
	}
	return p, nil
}
