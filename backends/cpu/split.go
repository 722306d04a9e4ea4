package cpu

import (
	"cmp"
	"slices"

	"dtl/core/backend"
)

// Split returns a communicator of the ranks that gave the same color, ordered by key and then by rank; nil
// for a negative color. Collective.
func (c *Comm) Split(color, key int) (backend.ReducingCommunicator, error) {
	var members []int
	mine := call{signature: signature{name: "Split"}, color: color, key: key}
	err := c.collective(mine, func(calls []call) error {
		members = withColor(calls, color)
		if color >= 0 && members[0] == c.rank {
			calls[c.rank].made = newGroup(len(members))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	made := c.group.meeting.calls[members[0]].made
	c.group.meeting.barrier() // before anybody lays down the next call
	if color < 0 {
		return nil, nil
	}
	return &Comm{group: made, rank: slices.Index(members, c.rank)}, nil
}

// withColor returns the ranks that gave color, ordered by key and then by rank.
func withColor(calls []call, color int) []int {
	var members []int
	for rank := range calls {
		if calls[rank].color == color {
			members = append(members, rank)
		}
	}
	slices.SortStableFunc(members, func(a, b int) int { return cmp.Compare(calls[a].key, calls[b].key) })
	return members
}
