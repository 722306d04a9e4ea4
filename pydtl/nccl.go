package pydtl

import (
	"dtl/backends/nccl"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/runtime"
)

// ContextWithNccl returns a context of the same ranks, of which NCCL connects the GPUs. Collective.
func ContextWithNccl(ctx, device int64) (h int64, err error) {
	defer guard(&err)
	return on(ctx, func(c *runtime.Context) (int64, error) { return context(c.WithLink(int(device))) })
}

// ContextSplitNccl returns a context of the ranks that gave the same color, of which NCCL connects the GPUs; 0 for color -1.
// device is -1 for the one that this process usually takes. Collective.
func ContextSplitNccl(ctx, color, key, device int64) (h int64, err error) {
	defer guard(&err)
	return on(ctx, func(c *runtime.Context) (int64, error) {
		return context(c.SplitLinked(int(color), int(key), int(device)))
	})
}

// ContextNcclCombines reports whether the GPUs of a context combine elements of a type by an operator without the host.
func ContextNcclCombines(ctx, typ, op int64) (yes bool, err error) {
	defer guard(&err)
	return on(ctx, func(c *runtime.Context) (bool, error) {
		o, err := kernel.ParseOp(op)
		linked := c.Linked()
		return err == nil && linked != nil && linked.Combining(dtype.Type(typ), o) > 0, nil
	})
}

// NcclVersion returns the library's version and file.
func NcclVersion() (version string, err error) {
	defer guard(&err)
	return runtime.LinkerVersion()
}

// NcclSearchIn says in which folder NCCL may be that is installed beside this package.
func NcclSearchIn(folder string) (ok bool, err error) {
	defer guard(&err)
	nccl.LookInto(folder)
	return true, nil
}
