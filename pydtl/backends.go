package pydtl

import (
	"fmt"
	"strings"

	"dtl/core/backend"
	"dtl/core/runtime"
	"dtl/core/status"

	// The backends that exist: each registers itself.
	_ "dtl/backends/cpu"
	_ "dtl/backends/cuda"
	_ "dtl/backends/hip"
)

// BackendCount returns how many backends are registered, usable or not.
func BackendCount() (n int64, err error) {
	defer guard(&err)
	return int64(len(backend.Names())), nil
}

// BackendName returns the name of the i-th registered backend.
func BackendName(i int64) (name string, err error) {
	defer guard(&err)
	names := backend.Names()
	if i < 0 || i >= int64(len(names)) {
		return "", status.New(status.OutOfBounds, "backend %d outside [0, %d)", i, len(names))
	}
	return names[i], nil
}

// DeviceNames returns what their vendor calls the GPUs that this process can use, a line each. None is used for it.
func DeviceNames() (names string, err error) {
	defer guard(&err)
	all, err := runtime.DeviceNames()
	return strings.Join(all, "\n"), err
}

// DeviceDriver returns the driver of the GPUs, its version and its file.
func DeviceDriver() (driver string, err error) {
	defer guard(&err)
	return runtime.DeviceDriver()
}

// DeviceIPC returns why processes of a machine cannot reach each other's memory of GPUs; nothing if they can.
func DeviceIPC() (why string, err error) {
	defer guard(&err)
	if refused := runtime.DeviceIPC(); refused != nil {
		why = refused.Error()
	}
	return why, nil
}

// ContextIsAware returns why messages of a context's ranks may not be from and to memory of its GPU; nothing if they may. Local.
func ContextIsAware(ctx int64) (why string, err error) {
	defer guard(&err)
	return on(ctx, func(c *runtime.Context) (string, error) {
		if refused := c.IsAware(); refused != nil {
			why = refused.Error()
		}
		return why, nil
	})
}

// ContextGpu returns which GPU the containers of a context are on: what tells it apart from all others, in 32 digits, its number and
// its name. Local.
func ContextGpu(ctx int64) (text string, err error) {
	defer guard(&err)
	return on(ctx, func(c *runtime.Context) (string, error) {
		q, err := c.Queue()
		if err != nil {
			return "", err
		}
		d := q.Device()
		return fmt.Sprintf("%x %d %s", d.UUID(), d.Number(), d.Name()), nil
	})
}

// BackendWhyNot returns why the named backend cannot be used in this process, or "" if it can.
func BackendWhyNot(name string) (reason string, err error) {
	defer guard(&err)
	if err := backend.Probe(name); err != nil {
		return err.Error(), nil
	}
	return "", nil
}
