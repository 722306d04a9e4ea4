package transfer

// overlap is what a dimension gives a pair of ranks, in few numbers.
type overlap struct {
	count  int64    // indices
	first  [2]int64 // the local index of the first
	solid  [2]bool  // they lie side by side, ascending
	blocks int64    // about how many stretches lie side by side on both sides; at least 1
}

// overlap looks at what two ranks have in common. Where each has one run it is one step; where one is a range and the
// other's window each index, a question to the other's partition; else a look at each piece.
func (d *dimension) overlap(coordinates [2]int) overlap {
	if d.count == 0 {
		return overlap{}
	}
	for s := range 2 {
		if !single(d.parts[s]) && single(d.parts[1-s]) && d.windows[s].Step == 1 {
			if found, ok := d.within(s, coordinates); ok {
				return found
			}
		}
	}
	return d.walk(coordinates)
}

// within is overlap where side s has many runs and the other a range. Reports false if that is no range.
func (d *dimension) within(s int, coordinates [2]int) (overlap, bool) {
	w, other := d.windows[s], reader{window: d.windows[1-s], part: d.parts[1-s], rank: coordinates[1-s]}
	other.start(0)
	if !other.ok {
		return overlap{}, true
	}
	r := other.now
	if r.step != 1 {
		return overlap{}, false
	}
	part, rank := d.parts[s], coordinates[s]
	begin, end := part.Before(rank, w.at(r.first)), part.Before(rank, w.at(r.last())+1)
	n := end - begin
	if n == 0 {
		return overlap{}, true
	}
	found := overlap{count: n, blocks: n}
	found.first[s], found.solid[s] = begin, true
	index := part.Global(rank, begin) - w.Start
	found.first[1-s] = r.local + (index-r.first)*r.stride
	found.solid[1-s] = n == 1 || r.stride == 1 && n == r.count
	if r.stride == 1 {
		found.blocks = (n-1)/d.stretch(s, rank, w.at(r.first)) + 1
	}
	return found, true
}

// stretch returns about how long a rank's runs are: the longer of two.
func (d *dimension) stretch(s, rank int, from int64) int64 {
	runs := d.parts[s].From(rank, from)
	a, _ := runs.Next()
	b, _ := runs.Next()
	return max(a.Count, b.Count)
}

// walk is overlap that looks at each piece.
func (d *dimension) walk(coordinates [2]int) overlap {
	var found overlap
	var last [2]int64
	m := d.intersection(coordinates)
	for p := (piece{}); m.next(&p); {
		if found.count == 0 {
			found.first = p.local
		}
		found.count += p.count
		if p.step == [2]int64{1, 1} {
			found.blocks++
		} else {
			found.blocks += p.count
		}
		for s := range last {
			last[s] = p.local[s] + (p.count-1)*p.step[s]
		}
	}
	for s := range last {
		found.solid[s] = last[s]-found.first[s] == found.count-1
	}
	return found
}
