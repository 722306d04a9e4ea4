package comm

// The tests of this package have ranks go on that need no other.
func init() { goOnInOneProcess = true }
