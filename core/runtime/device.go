package runtime

import (
	"strings"
	"sync"
	"sync/atomic"

	"dtl/core/backend"
	"dtl/core/comm"
	"dtl/core/memory"
	"dtl/core/status"
	"dtl/core/topology"
)

// gpus returns the first backend with devices that can be used here, or says of each why it cannot.
func gpus() (backend.DeviceProvider, error) {
	var why []string
	for _, name := range backend.Names() {
		b, err := backend.Lookup(name)
		if err != nil {
			return nil, err
		}
		p, ok := b.(backend.DeviceProvider)
		if !ok {
			continue
		}
		if err := p.Probe(); err != nil {
			why = append(why, err.Error())
			continue
		}
		return p, nil
	}
	return nil, status.New(status.BackendUnavailable, "no GPU can be used: %s", strings.Join(why, "; "))
}

// checkDevice refuses a device that there is not.
func checkDevice(device int) error {
	if device == NoDevice || device == UsualDevice {
		return nil
	}
	p, err := gpus()
	if err != nil {
		return err
	}
	if device < 0 || device >= p.DeviceCount() {
		return status.New(status.OutOfBounds, "device %d outside [0, %d)", device, p.DeviceCount())
	}
	return nil
}

// choice is an answer of usualDevice, and of what it is.
type choice struct {
	of            *[]topology.Place
	count, device int
}

// usual is the last one: to find out where this process is takes longer than a kernel.
var usual atomic.Pointer[choice]

// usualDevice returns the device of this process where its program chooses none: the processes of a machine take those that
// they see in turn, as topology.Place.GPU has it.
func usualDevice(count int) int {
	known := first.places.Load()
	if last := usual.Load(); last != nil && last.of == known && last.count == count {
		return last.device
	}
	places, rank := WorldPlaces(), int(first.rank.Load())
	place := places[rank]
	place.GPUs = count
	device := place.GPU(topology.Locals(topology.Nodes(places))[rank]) % count
	usual.Store(&choice{known, count, device})
	return device
}

// DeviceNames returns what their vendor calls the GPUs that this process can use. None is used for it. Local.
func DeviceNames() (names []string, err error) {
	p, err := gpus()
	if err != nil {
		return nil, err
	}
	for n := range p.DeviceCount() {
		name, err := p.DeviceName(n)
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

// DeviceDriver returns the driver of the GPUs, its version and its file. Local.
func DeviceDriver() (string, error) {
	p, err := gpus()
	if err != nil {
		return "", err
	}
	return p.DriverVersion()
}

// DeviceIPC returns why processes of a machine cannot reach each other's memory of GPUs; nil if they can. Local.
func DeviceIPC() error {
	p, err := gpus()
	if err != nil {
		return err
	}
	return p.HasIPC()
}

// useDevice begins to use a device, or the one that UsualDevice stands for.
func useDevice(n int) (backend.Device, error) {
	p, err := gpus()
	if err != nil {
		return nil, err
	}
	if n == UsualDevice {
		n = usualDevice(p.DeviceCount())
	}
	return p.Device(n)
}

// CheckPlacement says why the usual device has no memory, or none that host and device both reach; nil if it has. It begins to use the device. Local.
func CheckPlacement(unified bool) error {
	d, err := useDevice(UsualDevice)
	if err == nil && unified {
		_, err = d.Managed()
	}
	return err
}

// work is what a context does on a device.
type work struct {
	mu    sync.Mutex
	queue backend.Queue // nil before the first need, and once the context is closed

	asked bool                 // for the first need of these
	ipc   *comm.IPCExchanger   // nil where ranks lend each other nothing
	aware *comm.AwareExchanger // nil where the ranks' messages are none of devices
}

// Queue returns the queue of the context's containers on its device. The first call begins to use the device. Local.
func (c *Context) Queue() (backend.Queue, error) {
	c.work.mu.Lock()
	defer c.work.mu.Unlock()
	if c.work.queue != nil {
		return c.work.queue, nil
	}
	if c.device == NoDevice {
		return nil, status.New(status.BackendUnavailable, "the context is for the CPU alone; with_cuda(device_id) makes one with a GPU")
	}
	d, err := useDevice(c.device)
	if err != nil {
		return nil, err
	}
	c.work.queue, err = d.NewQueue()
	return c.work.queue, err
}

// IsAware returns why messages of the context's ranks may not be from and to memory of its device; nil if they may. Local.
func (c *Context) IsAware() error {
	q, err := c.Queue()
	if err != nil {
		return err
	}
	return c.comm.IsAware(q.Device())
}

// end lets others have the queue. Containers that stay go on with it.
func (w *work) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ipc != nil {
		w.ipc.Close()
	}
	if w.queue != nil {
		w.queue.Close()
		w.queue = nil
	}
}

// Trim gives memory of devices that is kept for later back to their drivers, and returns how many bytes. A device that was
// not used is left alone. Local.
func Trim() (freed int64, err error) {
	for _, name := range backend.Names() {
		b, err := backend.Lookup(name)
		if err != nil {
			return freed, err
		}
		if t, ok := b.(backend.Trimmer); ok {
			n, err := t.Trim()
			freed += n
			if err != nil {
				return freed, status.In("trim", err)
			}
		}
	}
	return freed, nil
}

// others are the queues of what is done with memory that other libraries of the process hold: one a device, for good.
var others struct {
	mu     sync.Mutex
	queues map[int]backend.Queue
}

// OthersQueue returns the queue of what is done on a device with memory of other libraries. Local.
func OthersQueue(device int) (backend.Queue, error) {
	if err := checkDevice(device); err != nil {
		return nil, err
	}
	others.mu.Lock()
	defer others.mu.Unlock()
	if q := others.queues[device]; q != nil {
		return q, nil
	}
	d, err := useDevice(device)
	if err != nil {
		return nil, err
	}
	q, err := d.NewQueue()
	if err != nil {
		return nil, err
	}
	if others.queues == nil {
		others.queues = map[int]backend.Queue{}
	}
	others.queues[device] = q
	return q, nil
}

// Located returns the place of memory that another library holds, by its address; of none at 0, that of the device which this process
// usually takes. Local.
func Located(at uintptr) (memory.Place, error) {
	d, err := useDevice(UsualDevice)
	if err != nil {
		return memory.Host, err
	}
	if at == 0 {
		return memory.OnDevice(d.Number()), nil
	}
	n, managed, err := d.Locate(at)
	if managed {
		return memory.ManagedBy(n), err
	}
	return memory.OnDevice(n), err
}
