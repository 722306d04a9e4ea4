package comm

import (
	"dtl/core/comm/wire"
	"dtl/core/dtype"
	"dtl/core/status"
)

// Want is what a receiver states of the message: its type, unless Invalid, its number of elements, unless zero, and
// whether it is an object.
type Want struct {
	Type   dtype.Type
	Count  int64
	Object bool
}

// check says whether the message that h describes is what was stated.
func (w Want) check(h wire.Header, out *Array) error {
	if err := w.checkKind(h); err != nil {
		return err
	}
	if out != nil {
		if err := h.Fits(out.Span); err != nil {
			return err
		}
	}
	if w.Type.Valid() && w.Type != h.Type {
		return status.New(status.InvalidArgument, "dtype %s was asked for, but the message has %d elements of %s",
			w.Type, h.Count(), h.Type)
	}
	if w.Count != 0 && w.Count != int64(h.Count()) {
		return status.New(status.InvalidArgument, "%d elements were asked for, but the message has %d of %s",
			w.Count, h.Count(), h.Type)
	}
	return nil
}

// checkKind says whether the message is an object where one is wanted, and only there.
func (w Want) checkKind(h wire.Header) error {
	if h.Kind == wire.Object && !w.Object {
		return status.New(status.InvalidArgument, "the message is a pickled object; recv_object receives it")
	}
	if h.Kind != wire.Object && w.Object {
		return status.New(status.InvalidArgument, "the message is no pickled object, but %d elements of %s; recv receives it",
			h.Count(), h.Type)
	}
	return nil
}
