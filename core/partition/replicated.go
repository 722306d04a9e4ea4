package partition

// Replicated gives every rank every element.
type Replicated struct {
	size  int64
	ranks int
}

var _ Partition = Replicated{}

// NewReplicated gives size elements to each of the ranks.
func NewReplicated(size int64, ranks int) (Replicated, error) {
	if err := check(size, ranks); err != nil {
		return Replicated{}, err
	}
	return Replicated{size: size, ranks: ranks}, nil
}

// Kind returns KindReplicated.
func (r Replicated) Kind() Kind { return KindReplicated }

// GlobalSize returns the number of elements, which each rank has.
func (r Replicated) GlobalSize() int64 { return r.size }

// Ranks returns the number of ranks.
func (r Replicated) Ranks() int { return r.ranks }

// LocalSize returns the number of elements.
func (r Replicated) LocalSize(rank int) int64 { return r.size }

// Owner returns 0.
func (r Replicated) Owner(global int64) int { return 0 }

// Holds returns true.
func (r Replicated) Holds(rank int, global int64) bool { return true }

// Before returns global.
func (r Replicated) Before(rank int, global int64) int64 { return global }

// Global returns local.
func (r Replicated) Global(rank int, local int64) int64 { return local }

// From returns the elements whose index is global or more: one run.
func (r Replicated) From(rank int, global int64) Runs { return rangeFrom(0, r.size, global) }

// Locate sets locals[i] to globals[i].
func (r Replicated) Locate(rank int, globals, locals []int64) {
	copy(locals[:len(globals)], globals)
}

// Owners sets every owner to 0.
func (r Replicated) Owners(globals []int64, owners []int32) { clear(owners[:len(globals)]) }
