// Package hip is the backend of AMD's GPUs: memory there, and work in queues.
package hip

import (
	"dtl/backends/internal/dl"
	"dtl/backends/internal/gpu"
	"dtl/core/backend"
)

// api is that of the runtime, which stands for a driver here: what is under it has no interface that is kept.
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
