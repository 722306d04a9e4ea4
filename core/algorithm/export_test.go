package algorithm

// SetFewBytes sets of how many bytes each rank merges all, and returns what sets it back.
func SetFewBytes(n int64) func() {
	before := fewBytes
	fewBytes = n
	return func() { fewBytes = before }
}
