package memory

import "fmt"

// Place says where memory is, and so who reaches it.
type Place int16

// Host is the memory of this process. Every other place belongs to a device.
const Host Place = 0

// OnDevice is the memory of a device, which the host does not reach.
func OnDevice(n int) Place { return Place(n + 1) }

// ManagedBy is memory that both the host and a device reach: the host, while nothing is queued on the device.
func ManagedBy(n int) Place { return -Place(n + 1) }

// OfHost reports whether the host reaches it.
func (p Place) OfHost() bool { return p <= Host }

// Device returns the device's number; -1 for Host.
func (p Place) Device() int {
	if p < Host {
		p = -p
	}
	return int(p) - 1
}

// String says it for errors.
func (p Place) String() string {
	switch {
	case p > Host:
		return fmt.Sprintf("on GPU %d", p.Device())
	case p < Host:
		return fmt.Sprintf("managed by GPU %d", p.Device())
	}
	return "on the host"
}
