package scale

import "math/bits"

// Link is a connection of two ranks in the LogGP model (Alexandrov et al., 1995), in nanoseconds.
type Link struct {
	Latency  float64 // of the wire
	Overhead float64 // of the processor, for each message, on both sides
	Gap      float64 // between two messages of one sender
	PerByte  float64 // between two bytes of one message
}

// Network is nodes of equally many ranks, which lie side by side.
type Network struct {
	Within, Between Link
	PerNode         int
}

// link returns what connects two of the world's ranks. The ranks of a node share its link to the others, and all use it at
// once: each has its part of the bandwidth.
func (n Network) link(a, b int) Link {
	if a/n.PerNode == b/n.PerNode {
		return n.Within
	}
	l := n.Between
	l.PerByte *= float64(n.PerNode)
	return l
}

// cost is what a collective of the library costs the rank that has most to do.
type cost struct {
	messages, bytes, steps int64
	time                   float64
}

// step adds a message of so many bytes, which the next waits for.
func (c *cost) step(l Link, bytes int64) {
	c.messages++
	c.bytes += bytes
	c.steps++
	c.time += l.Latency + 2*l.Overhead + float64(bytes)*l.PerByte
}

// rounds returns the cost of as many steps as the number of ranks has binary digits: with the rank at distance 1, 2, 4 and so on, of as many
// bytes as bytes says.
func (n Network) rounds(ranks []int, bytes func(distance int) int64) (c cost) {
	for i := range bits.Len(uint(len(ranks) - 1)) {
		distance := 1 << i
		c.step(n.link(ranks[0], ranks[min(distance, len(ranks)-1)]), bytes(distance))
	}
	return c
}

// and returns the cost of one collective after the other.
func (c cost) and(o cost) cost {
	return cost{c.messages + o.messages, c.bytes + o.bytes, c.steps + o.steps, c.time + o.time}
}

// The library's collectives are the textbook's (Thakur, Rabenseifner and Gropp, 2005).

func (n Network) barrier(ranks []int) cost { return n.same(ranks, 0) }

// same returns the cost of rounds of as many bytes each: a binomial tree, or recursive doubling.
func (n Network) same(ranks []int, bytes int64) cost {
	return n.rounds(ranks, func(int) int64 { return bytes })
}

// shares is rounds of a vector of which each rank gets, or has, its share: half as much in each round.
func (n Network) shares(ranks []int, bytes int64) cost {
	return n.rounds(ranks, func(distance int) int64 { return bytes * int64(distance) / int64(len(ranks)) })
}

// longVector is from how many bytes on a broadcast, or a reduction, divides the vector.
const longVector = 12 << 10

// toAll is a broadcast, or a reduction, of so many bytes.
func (n Network) toAll(ranks []int, bytes int64) cost {
	if bytes < longVector {
		return n.same(ranks, bytes)
	}
	return n.shares(ranks, bytes).and(n.shares(ranks, bytes))
}

// gather is so many bytes of each rank in one place: doubling.
func (n Network) gather(ranks []int, bytes int64) cost {
	left := int64(len(ranks) - 1)
	return n.rounds(ranks, func(distance int) int64 {
		some := min(int64(distance), left)
		left -= some
		return some * bytes
	})
}

// longPart is from how many bytes on an alltoall sends each rank its part by itself.
const longPart = 256

// alltoall is so many bytes from each rank to each.
func (n Network) alltoall(ranks []int, bytes int64) (c cost) {
	if bytes <= longPart {
		return n.same(ranks, bytes*int64(len(ranks)/2))
	}
	for i := 1; i < len(ranks); i++ {
		c.step(n.link(ranks[0], ranks[i]), bytes)
	}
	return c
}
