package runtime

import (
	"dtl/core/backend"
	"dtl/core/comm"
	"dtl/core/status"
)

// linker is the backend that connects the devices of ranks.
const linker = "nccl"

// WithLink is Dup with a GPU, which the library connects with those of the other ranks. Collective.
func (c *Context) WithLink(device int) (*Context, error) {
	return linkedTo("with_nccl", device, c.Dup)
}

// SplitLinked is Split with what WithLink does in each part; nil for comm.Undefined. Collective.
func (c *Context) SplitLinked(color, key, device int) (*Context, error) {
	return linkedTo("split_nccl", device, func() (*Context, error) { return c.Split(color, key) })
}

func linkedTo(op string, device int, derive func() (*Context, error)) (*Context, error) {
	d, err := derive()
	if err != nil || d == nil {
		return nil, err
	}
	by, queue, mine := ofLink(device)
	if mine == nil {
		d.device = queue.Device().Number()
	}
	d.linked, err = comm.LinkDevices(op, d.comm, by, queue, mine)
	if err != nil {
		d.linked = nil
		_ = d.Close() // the first error is the one to report
		return nil, status.In(op, err)
	}
	return d, nil
}

// ofLink returns the backend that connects devices, and a queue of the device for it.
func ofLink(device int) (backend.DeviceLinker, backend.Queue, error) {
	if device < 0 && device != UsualDevice {
		return nil, nil, status.New(status.OutOfBounds, "device %d is negative", device)
	}
	by, err := backend.As[backend.DeviceLinker](linker)
	if err != nil {
		return nil, nil, err
	}
	on, err := useDevice(device)
	if err != nil {
		return nil, nil, err
	}
	queue, err := on.NewQueue()
	return by, queue, err
}

// Linked returns what connects the ranks' devices; nil where nothing does.
func (c *Context) Linked() *comm.Devices { return c.linked }

// Exchanger returns what has the ranks' devices exchange elements without the host; nil where nothing does, on all ranks.
func (c *Context) Exchanger() comm.Exchanger {
	if c.linked != nil {
		return c.linked
	}
	w := &c.work
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.asked {
		w.asked, w.ipc, w.aware = true, comm.NewIPCExchanger(c.comm, c.Queue), comm.NewAwareExchanger(c.comm, c.Queue)
	}
	switch {
	case w.ipc != nil:
		return w.ipc
	case w.aware != nil:
		return w.aware
	}
	return nil
}

// LinkerVersion returns the version of the library that connects devices, and its file. Local.
func LinkerVersion() (string, error) {
	by, err := backend.As[backend.DeviceLinker](linker)
	if err != nil {
		return "", err
	}
	return by.Version()
}
