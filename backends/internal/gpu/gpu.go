// Package gpu is what the CUDA and HIP backends share: both have the same functions under other names.
package gpu

import (
	"fmt"
	"sync"

	"dtl/backends/internal/dl"
	"dtl/core/backend"
	"dtl/core/status"
)

// API says what one vendor calls the functions that the backend uses. Each symbol is of C linkage.
type API struct {
	Name      string   // the backend's
	Driver    string   // what a user installs, as in "no NVIDIA driver"
	Libraries []string // file names, the preferred first
	Init      string   // int (unsigned int flags)
	Count     string   // int (int *count)
	ErrorText string   // int (int error, const char **text)
}

// noDevice is the error that both vendors give it: CUDA_ERROR_NO_DEVICE, hipErrorNoDevice.
const noDevice = 100

// Backend is a vendor's GPUs, as far as this process sees them. It neither holds memory there nor computes.
type Backend struct {
	api  API
	look func() (seen, error)
}

// seen is what was found out about a vendor's GPUs.
type seen struct {
	library string
	devices int
}

var _ backend.DeviceProvider = (*Backend)(nil)

// New returns a backend that opens the vendor's library when it is first asked about it, and asks it once.
func New(api API, opener dl.Opener) *Backend {
	return &Backend{api, sync.OnceValues(func() (seen, error) { return count(api, opener) })}
}

// Name returns the backend's name.
func (b *Backend) Name() string { return b.api.Name }

// Probe returns why no device can be used: there is none, or DTL can do nothing with it so far, as nothing placed there
// would work. The first call starts the driver, which has no other way to tell: from then on it ignores changes of
// variables like CUDA_VISIBLE_DEVICES. No device is touched.
func (b *Backend) Probe() error {
	s, err := b.look()
	if err != nil {
		return err
	}
	see := "sees 1 device"
	if s.devices > 1 {
		see = fmt.Sprintf("sees %d devices", s.devices)
	}
	return status.New(status.BackendUnavailable,
		"%s found (%s), which %s, but this version of DTL neither holds memory on GPUs nor computes there",
		b.api.Driver, s.library, see)
}

// DeviceCount returns how many devices this process sees: 0 where there is no driver that works.
func (b *Backend) DeviceCount() int {
	s, _ := b.look()
	return s.devices
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
	return seen{library.Path(), n}, nil
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
