package histogram

import (
	"dtl/core/dtype"
	"dtl/core/status"
)

// Edges returns the edges of the bins, which the caller does not change.
func (b *Bins) Edges() []float64 { return b.edges }

// Room returns the table of numbers that a device counts, from 0 on to the greatest of them, or what Add says of the least, the greatest
// or the type.
func (t *Tally) Room(of dtype.Type, least, greatest int64) ([]int64, error) {
	if tallies[of] == nil {
		return nil, status.New(status.InvalidType,
			"Cannot cast array data from dtype('%s') to dtype('int64') according to the rule 'safe'", of)
	}
	for _, number := range []int64{least, greatest} {
		if number < 0 || number >= int64(len(t.Counts)) {
			if err := t.fit(number); err != nil {
				return nil, err
			}
		}
	}
	return t.Counts[:greatest+1], nil
}
