package symmetric

import (
	"cmp"
	"hash/fnv"
	"math"
	"os"
	"slices"

	"dtl/core/backend"
	"dtl/core/dtype"
	"dtl/core/memory"
)

// asked is what a rank says in a split: the color, the key, and the least number that is free there.
type asked struct{ color, key, free int64 }

// ask gathers what all ranks say.
func (c *Comm) ask(color, key int) ([]asked, error) {
	w, free := c.world, int64(0)
	w.engine.Guard(func() { free = int64(w.nextComm) })
	mine := []int64{int64(color), int64(key), free}
	of := make([]int64, 3*c.Size())
	if err := c.Allgather(memory.Of(dtype.Int64, mine), memory.Of(dtype.Int64, of)); err != nil {
		return nil, err
	}
	said := make([]asked, c.Size())
	for rank := range said {
		said[rank] = asked{of[3*rank], of[3*rank+1], of[3*rank+2]}
	}
	return said, nil
}

// Split returns a communicator of the ranks that gave the same color, ordered by key and then by rank; nil
// for a negative color. Its number is the least that is free at all ranks, also those of other colors, so no process
// has two communicators of one number. Collective.
func (c *Comm) Split(color, key int) (backend.ReducingCommunicator, error) {
	said, err := c.ask(max(color, -1), key)
	if err != nil {
		return nil, err
	}
	w := c.world
	number := slices.MaxFunc(said, func(a, b asked) int { return cmp.Compare(a.free, b.free) }).free
	w.engine.Guard(func() { w.nextComm = max(w.nextComm, uint32(number)+1) }) // another thread may have split meanwhile
	if color < 0 {
		return nil, nil
	}
	var members []int
	for rank := range said {
		if said[rank].color == int64(color) {
			members = append(members, rank)
		}
	}
	slices.SortStableFunc(members, func(a, b int) int { return cmp.Compare(said[a].key, said[b].key) })
	for i, rank := range members {
		members[i] = c.members[rank]
	}
	return newComm(w, members, uint32(number)), nil
}

// Dup returns a communicator of the same ranks whose traffic never meets this one's. Collective.
func (c *Comm) Dup() (backend.ReducingCommunicator, error) { return c.Split(0, c.rank) }

// SplitByNode returns a communicator of the ranks that share memory with this one, in their order. Collective.
func (c *Comm) SplitByNode() (backend.ReducingCommunicator, error) { return c.Split(node(), c.rank) }

// node returns a number that processes of one machine have in common, from its name and what tells its runs apart.
func node() int {
	name, _ := os.Hostname()
	run, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // never fails
	_, _ = h.Write(run)
	return int(h.Sum64() & math.MaxInt64)
}
