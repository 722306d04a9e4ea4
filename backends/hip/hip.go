// Package hip is the backend of AMD's GPUs: so far, it knows whether this process sees any.
package hip

import (
	"dtl/backends/internal/dl"
	"dtl/backends/internal/gpu"
	"dtl/core/backend"
)

var api = gpu.API{
	Name:      "hip",
	Driver:    "ROCm runtime",
	Libraries: []string{"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"},
	Init:      "hipInit",
	Count:     "hipGetDeviceCount",
	ErrorText: "hipDrvGetErrorString",
}

func init() { backend.Register(gpu.New(api, dl.Linker)) }
