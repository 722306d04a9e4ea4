package radix

// Workers run tasks side by side. The zero Workers are the caller alone.
type Workers struct {
	Size int                                // how many run at once
	Run  func(tasks int, do func(task int)) // calls do for each of [0, tasks), and returns when all have ended
}

// Each calls do for each of [0, tasks), and returns when all have ended.
func (w Workers) Each(tasks int, do func(task int)) {
	if w.Run == nil || w.Size < 2 || tasks < 2 {
		for task := range tasks {
			do(task)
		}
		return
	}
	w.Run(tasks, do)
}

// chunk is the least number of elements that are worth a task.
const chunk = 1 << 15

// parts returns into how many parts to divide n elements.
func (w Workers) parts(n int) int {
	if w.Size < 2 {
		return 1
	}
	return max(1, min(4*w.Size, n/chunk))
}

// over calls do with the bounds of each of so many parts of n elements.
func (w Workers) over(n, parts int, do func(part, lo, hi int)) {
	w.Each(parts, func(part int) { do(part, n*part/parts, n*(part+1)/parts) })
}
