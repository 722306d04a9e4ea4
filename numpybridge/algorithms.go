package numpybridge

import (
	"cmp"
	"strings"

	"dtl/core/algorithm"
	"dtl/core/comm"
	"dtl/core/container"
)

// share is the agreement of an algorithm on a container whose local part Python has computed, and tells every rank what
// each found: the input has the numbers found, and then the call in words, its name first, as bytes, eight in a number.
// The list has the handles of further containers that all ranks pass alike. The result has a row of numbers a rank.
func share(c *Call) error {
	numbers, err := c.integers()
	if err != nil {
		return err
	}
	var found comm.Shared
	numbers = numbers[copy(found[:], numbers):]
	return c.container(func(of container.Container) error {
		if c.Args[0] == 1 { // the elements may be on a device
			of = container.Anywhere(of)
		}
		call, mine := spelled(numbers), error(nil)
		for _, h := range c.Lists[0] {
			call, mine = with(call, h, mine)
		}
		all, err := algorithm.Share(of, call, func(container.Part) (comm.Shared, error) { return found, mine })
		if err != nil {
			return err
		}
		flat := make([]int64, 0, len(all)*len(found))
		for _, each := range all {
			flat = append(flat, each[:]...)
		}
		return c.answer([]int64{int64(len(all)), int64(len(found))}, flat...)
	})
}

// with adds a container to what all ranks pass alike; an earlier error stays.
func with(call comm.Call, h int64, earlier error) (comm.Call, error) {
	err := withContainer(h, func(of container.Container) (err error) {
		call, err = container.Beside(call, of)
		return err
	})
	return call, cmp.Or(earlier, err)
}

// spelled returns the call that numbers say in words: its name, a zero byte, and its arguments.
func spelled(numbers []int64) comm.Call {
	text := make([]byte, 0, 8*len(numbers))
	for _, n := range numbers {
		for shift := 0; shift < 64; shift += 8 {
			text = append(text, byte(n>>shift))
		}
	}
	op, words, _ := strings.Cut(string(text), "\x00")
	words = strings.TrimRight(words, "\x00")
	return comm.Call{Op: op, Same: numbers, Text: func() string { return words }}
}
