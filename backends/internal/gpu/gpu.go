// Package gpu is what the CUDA and HIP backends share: both have the same functions under other names.
package gpu

import (
	"fmt"
	"slices"
	"sync"

	"dtl/backends/internal/dl"
	"dtl/core/backend"
	"dtl/core/status"
)

// API says what one vendor calls the functions that the backend uses. Each symbol is of C linkage.
type API struct {
	Name      string   // the backend's, by which driver.h knows the driver
	Driver    string   // what a user installs, as in "no NVIDIA driver"
	Libraries []string // file names, the preferred first
	Init      string   // int (unsigned int flags)
	Count     string   // int (int *count)
	ErrorText string   // int (int error, const char **text)
	Version   Version
}

// Version is how a vendor writes the version of its driver as one number.
type Version struct {
	Name         string // of what it is the version of
	Major, Minor int    // what one of each counts
}

// Backend is a vendor's GPUs.
type Backend struct {
	api     API
	look    func() (seen, error)
	mu      sync.Mutex
	devices []*device // by number; nil before the first use
}

// seen is what was found out about a vendor's GPUs.
type seen struct {
	library *dl.Library
	devices int
	table   *table // nil unless they can be used
	why     error  // why not
}

var (
	_ backend.DeviceProvider = (*Backend)(nil)
	_ backend.Trimmer        = (*Backend)(nil)
)

// New returns a backend that opens the vendor's library when it is first asked about it, and asks it once.
func New(api API, opener dl.Opener) *Backend {
	return &Backend{api: api, look: sync.OnceValues(func() (seen, error) { return find(api, opener) })}
}

// Name returns the backend's name.
func (b *Backend) Name() string { return b.api.Name }

// Probe returns why no device can be used. The first call starts the driver, which has no other way to tell: from then on it
// ignores changes of variables like CUDA_VISIBLE_DEVICES. No device is touched.
func (b *Backend) Probe() error {
	s, err := b.look()
	if err != nil {
		return err
	}
	return s.why
}

// DriverVersion returns the driver's, and its file.
func (b *Backend) DriverVersion() (string, error) {
	s, err := b.usable(0)
	if err != nil {
		return "", err
	}
	return s.table.version(), nil
}

// DeviceCount returns how many devices this process sees: 0 where there is no driver that works.
func (b *Backend) DeviceCount() int {
	s, _ := b.look()
	return s.devices
}

// usable returns what was found, if device n can be asked about.
func (b *Backend) usable(n int) (seen, error) {
	if err := b.Probe(); err != nil {
		return seen{}, err
	}
	s, err := b.look()
	if n < 0 || n >= s.devices {
		err = status.New(status.OutOfBounds, "device %d outside [0, %d)", n, s.devices)
	}
	return s, err
}

// DeviceName returns what the vendor calls a device, which is not used for it.
func (b *Backend) DeviceName(n int) (string, error) {
	s, err := b.usable(n)
	if err != nil {
		return "", err
	}
	return s.table.nameOf(n)
}

// HasIPC returns nil if the driver lets processes of a machine reach each other's memory of devices.
func (b *Backend) HasIPC() error {
	s, err := b.usable(0)
	if err != nil {
		return err
	}
	return s.table.lends()
}

// Device returns a device, and begins to use it if nobody has.
func (b *Backend) Device(n int) (backend.Device, error) {
	s, err := b.usable(n)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.devices == nil {
		b.devices = make([]*device, s.devices)
	}
	if b.devices[n] == nil {
		d, err := s.table.open(n)
		if err != nil {
			return nil, err
		}
		b.devices[n] = newDevice(n, d, b.inUse)
	}
	return b.devices[n], nil
}

// inUse returns the devices that this process uses.
func (b *Backend) inUse() []*device {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(b.devices), func(d *device) bool { return d == nil })
}

// Trim gives memory that is kept for later back to the driver.
func (b *Backend) Trim() (freed int64, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, d := range b.devices {
		if d != nil {
			n, failed := d.trim()
			freed += n
			if err == nil {
				err = failed
			}
		}
	}
	return freed, err
}

// find looks for devices, and for what it takes to use them.
func find(api API, opener dl.Opener) (seen, error) {
	s, err := count(api, opener)
	if err != nil {
		return s, err
	}
	s.table, s.why = newTable(api, s.library)
	return s, nil
}

// count finds at least one device, or says why there is none.
func count(api API, opener dl.Opener) (seen, error) {
	library, err := opener.Open(api.Libraries...)
	if err != nil {
		return seen{}, status.New(status.BackendUnavailable, "no %s: %w", api.Driver, err)
	}
	start, err := library.Symbol(api.Init)
	if err != nil {
		return seen{}, err
	}
	devices, err := library.Symbol(api.Count)
	if err != nil {
		return seen{}, err
	}
	if result := initialize(start); result != 0 {
		return seen{}, failed(api, library, api.Init, result)
	}
	n, result := Integer(devices)
	if result != 0 {
		return seen{}, failed(api, library, api.Count, result)
	}
	if n < 1 {
		return seen{}, blind(api, library)
	}
	return seen{library: library, devices: n}, nil
}

// blind says that there is a driver but nothing to drive.
func blind(api API, library *dl.Library) error {
	return status.New(status.BackendUnavailable, "%s found (%s), but it sees no device", api.Driver, library.Path())
}

// failed says what a call returned, in the library's words where it has them.
func failed(api API, library *dl.Library, call string, result int) error {
	if result == noDevice {
		return blind(api, library)
	}
	reason := fmt.Sprintf("error %d", result)
	if explain, err := library.Symbol(api.ErrorText); err == nil {
		reason = fmt.Sprintf("%s (%s)", reason, text(explain, result))
	}
	return status.New(status.BackendUnavailable, "%s found (%s), but %s failed: %s",
		api.Driver, library.Path(), call, reason)
}
