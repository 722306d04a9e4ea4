package algorithm

// SetFewBytes sets of how many bytes each rank merges all, and returns what sets it back.
func SetFewBytes(n int64) func() {
	before := fewBytes
	fewBytes = n
	return func() { fewBytes = before }
}

// SetFewRanks sets of how many ranks each makes proposals for every splitter, and returns what sets it back.
func SetFewRanks(n int) func() {
	before := fewRanks
	fewRanks = n
	return func() { fewRanks = before }
}
