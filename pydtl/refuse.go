package pydtl

import (
	"dtl/core/runtime"
	"dtl/core/status"
)

// ContextRefuse joins the agreement of whatever collective call on a container the other ranks make, to say that this
// rank cannot: they all raise. Collective.
func ContextRefuse(ctx, code int64, op, why string) (ok bool, err error) {
	defer guard(&err)
	return on(ctx, func(c *runtime.Context) (bool, error) {
		over, err := c.Comm()
		if err != nil {
			return false, err
		}
		return true, over.Refuse(op, status.New(status.Code(code), "%s", why))
	})
}

// ContextRefuseStart says, in the place of a collective that does not block, that this rank cannot start it.
func ContextRefuseStart(ctx, code int64, op, why string) (ok bool, err error) {
	defer guard(&err)
	return on(ctx, func(c *runtime.Context) (bool, error) {
		over, err := c.Comm()
		if err != nil {
			return false, err
		}
		over.RefuseStart(op, status.New(status.Code(code), "%s", why))
		return true, nil
	})
}
