package backend_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"dtl/core/backend"
	"dtl/core/status"
)

// fake is a backend that is usable unless missing, and provides devices unless plain.
type fake struct {
	name    string
	missing error
}

func (f fake) Name() string     { return f.name }
func (f fake) Probe() error     { return f.missing }
func (f fake) DeviceCount() int { return 3 }

func (f fake) DriverVersion() (string, error) { return "fake 1.0", f.missing }

func (f fake) DeviceName(int) (string, error) { return "fake", f.missing }

// HasIPC says that it can.
func (f fake) HasIPC() error { return f.missing }

func (f fake) Device(int) (backend.Device, error) { return nil, f.missing }

type plain struct{ backend.Backend }

func init() {
	backend.Register(fake{"test usable", nil})
	backend.Register(fake{"test absent", status.New(status.BackendUnavailable, "libfake.so.1 is not installed")})
	backend.Register(plain{fake{"test plain", nil}})
}

func TestRegisterPanics(t *testing.T) {
	for name, b := range map[string]backend.Backend{"nil": nil, "twice": fake{"test usable", nil}} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if text, ok := recover().(string); !ok || !strings.Contains(text, name) {
					t.Errorf("panic with %q, want one that says %q", text, name)
				}
			}()
			backend.Register(b)
		})
	}
	if err := backend.Probe("test usable"); err != nil { // the lock is free, and the first one stands
		t.Error(err)
	}
}

func TestAs(t *testing.T) {
	p, err := backend.As[backend.DeviceProvider]("test usable")
	if err != nil || p.DeviceCount() != 3 {
		t.Errorf("usable: %v, %v", p, err)
	}
	for _, row := range []struct{ name, backend, text string }{
		{"unknown", "test unknown", `no backend is called "test unknown"`},
		{"not usable here", "test absent", "libfake.so.1 is not installed"},
		{"cannot provide it", "test plain", "DeviceProvider"},
	} {
		t.Run(row.name, func(t *testing.T) {
			p, err := backend.As[backend.DeviceProvider](row.backend)
			if p != nil || !errors.Is(err, status.BackendUnavailable) || !strings.Contains(err.Error(), row.text) {
				t.Errorf("%v, %v: want an unavailable backend and %q", p, err, row.text)
			}
		})
	}
}

func TestLookupAndProbe(t *testing.T) {
	if b, err := backend.Lookup("test absent"); err != nil || b.Name() != "test absent" {
		t.Errorf("a backend that is not usable is known all the same: %v, %v", b, err)
	}
	for _, name := range []string{"test absent", "test unknown"} {
		if err := backend.Probe(name); !errors.Is(err, status.BackendUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNamesAreSorted(t *testing.T) {
	names := backend.Names()
	if !slices.IsSorted(names) || len(names) < 3 || !slices.Contains(names, "test absent") {
		t.Errorf("%q", names)
	}
}
