package radix

import "dtl/core/dtype"

// Keys is an Order as devices take it. No key is more than Most.
type Keys struct {
	Top                                     uint64
	Flip, Sign, Zero, Turn, Add, Full, Most uint64
}

// KeysOf returns the keys of elements of type t. Of indices, all NaNs have one key, so that they keep their order.
func KeysOf(t dtype.Type, descending, indices bool) Keys {
	o := NewOrder(t, descending)
	keys := Keys{uint64(o.top), o.flip, o.sign, o.zero, o.turn, o.add, o.full, o.full}
	if indices {
		keys.Most = o.greatest()
	}
	return keys
}
