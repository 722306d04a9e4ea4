// Package cuda is the backend of NVIDIA's GPUs: memory there, and work in queues.
package cuda

import (
	"dtl/backends/internal/dl"
	"dtl/backends/internal/gpu"
	"dtl/core/backend"
)

// api describes the driver's interface. The driver alone knows the devices; the CUDA runtime is not needed.
var api = gpu.API{
	Name:      "cuda",
	Driver:    "NVIDIA driver",
	Libraries: []string{"libcuda.so.1"},
	Init:      "cuInit",
	Count:     "cuDeviceGetCount",
	ErrorText: "cuGetErrorString",
	Version:   gpu.Version{Name: "CUDA", Major: 1000, Minor: 10},
}

func init() { backend.Register(gpu.New(api, dl.Linker)) }
