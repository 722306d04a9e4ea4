package topology

import (
	"slices"
	"strconv"
	"strings"

	"dtl/core/status"
)

// most is how many CPUs a list may name: more is a mistake, and memory.
const most = 1 << 20

// ParseList returns the numbers that a list of the kernel's such as "0-3,8" names, ascending and each once.
func ParseList(list string) ([]int, error) {
	numbers := []int{}
	for part := range strings.SplitSeq(strings.TrimSpace(list), ",") {
		if part == "" && !strings.Contains(list, ",") {
			break // nothing is named
		}
		first, last, isRange := strings.Cut(part, "-")
		lo, err := strconv.Atoi(first)
		hi := lo
		if isRange && err == nil {
			hi, err = strconv.Atoi(last)
		}
		if err != nil || lo < 0 || hi < lo || hi >= most {
			return nil, status.New(status.InvalidArgument, "%q is no list of CPUs such as 0-3,8", list)
		}
		for n := lo; n <= hi; n++ {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return slices.Compact(numbers), nil
}

// FormatList is the opposite of ParseList.
func FormatList(numbers []int) string {
	var parts []string
	for i := 0; i < len(numbers); i++ {
		first := i
		for i+1 < len(numbers) && numbers[i+1] == numbers[i]+1 {
			i++
		}
		part := strconv.Itoa(numbers[first])
		if i > first {
			part += "-" + strconv.Itoa(numbers[i])
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ",")
}
