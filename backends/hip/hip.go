// Package hip is the backend of AMD's GPUs: memory there, and work in queues.
package hip

import (
	"dtl/backends/internal/dl"
	"dtl/backends/internal/gpu"
	"dtl/core/backend"
)

// api describes the runtime's interface. Below the runtime there is no interface that stays the same between versions, so it takes the driver's place.
var api = gpu.API{
	Name:      "hip",
	Driver:    "ROCm runtime",
	Libraries: []string{"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"},
	Init:      "hipInit",
	Count:     "hipGetDeviceCount",
	ErrorText: "hipDrvGetErrorString",
	Version:   gpu.Version{Name: "HIP", Major: 10_000_000, Minor: 100_000},
}

func init() { backend.Register(gpu.New(api, dl.Linker)) }
