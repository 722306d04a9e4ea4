package kernel

// Integer are the Go types of whole numbers. Truth values are uint8.
type Integer interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

// Ordered are the Go types whose elements have an order.
type Ordered interface {
	Integer | float32 | float64
}

// Complex are the Go types of complex numbers.
type Complex interface{ complex64 | complex128 }

// Number are the Go types of all elements.
type Number interface {
	Ordered | Complex
}
