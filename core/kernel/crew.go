package kernel

// Crew runs tasks side by side. The zero Crew is the caller alone.
type Crew struct {
	Size int                                // how many run at once
	Run  func(tasks int, do func(task int)) // calls do for each of [0, tasks), and returns when all have ended
}

// Each calls do for each of [0, tasks), and returns when all have ended.
func (c Crew) Each(tasks int, do func(task int)) { c.each(tasks, do) }

// each is Each.
func (c Crew) each(tasks int, do func(task int)) {
	if c.Run == nil || c.Size < 2 || tasks < 2 {
		for task := range tasks {
			do(task)
		}
		return
	}
	c.Run(tasks, do)
}

// chunk is the least number of elements that are worth a task.
const chunk = 1 << 15

// parts returns into how many parts to divide n elements.
func (c Crew) parts(n int) int {
	if c.Size < 2 {
		return 1
	}
	return max(1, min(4*c.Size, n/chunk))
}

// over calls do with the bounds of each of so many parts of n elements.
func (c Crew) over(n, parts int, do func(part, lo, hi int)) {
	c.each(parts, func(part int) { do(part, n*part/parts, n*(part+1)/parts) })
}
