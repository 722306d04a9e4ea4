package group

import (
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
)

// minimum returns the loop of the least values, of a type. Before a group's first value, its least is start.
func minimum[V kernel.Ordered](of dtype.Type, start V) loop {
	run := func(out memory.Span, _ []float64, codes []int64, c Column, first int) {
		found := memory.As[V](out)
		c.between(first, first+len(codes), func(a Array, row int) {
			codes, there := codes[row-first:][:a.Rows], a.bits()
			for i, v := range values[V](a)[:len(codes)] {
				if there == nil || valid(there, a.Offset+i) {
					if at := &found[codes[i]]; v < *at || *at != *at {
						*at = v
					}
				}
			}
		})
	}
	return loop{of, started(start), run, func(out, more memory.Span) {
		found, others := memory.Pair[V](out, more)
		for i, v := range others {
			if v < found[i] || found[i] != found[i] {
				found[i] = v
			}
		}
	}}
}

// maximum returns the loop of the greatest values.
func maximum[V kernel.Ordered](of dtype.Type, start V) loop {
	run := func(out memory.Span, _ []float64, codes []int64, c Column, first int) {
		found := memory.As[V](out)
		c.between(first, first+len(codes), func(a Array, row int) {
			codes, there := codes[row-first:][:a.Rows], a.bits()
			for i, v := range values[V](a)[:len(codes)] {
				if there == nil || valid(there, a.Offset+i) {
					if at := &found[codes[i]]; v > *at || *at != *at {
						*at = v
					}
				}
			}
		})
	}
	return loop{of, started(start), run, func(out, more memory.Span) {
		found, others := memory.Pair[V](out, more)
		for i, v := range others {
			if v > found[i] || found[i] != found[i] {
				found[i] = v
			}
		}
	}}
}

// started returns what fills memory with an element.
func started[V any](start V) func(out memory.Span) {
	return func(out memory.Span) {
		found := memory.As[V](out)
		for i := range found {
			found[i] = start
		}
	}
}
