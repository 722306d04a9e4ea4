package fold

// Streams are four ranges of elements of one length that are read side by side: the processor fetches more from memory
// ahead of time than from one range, and most where each turn reads a cache line of each.
type Streams[T any] [4][]T

// InStreams calls f with the chunks of four quarters of x, and then with those of what is left, as one stream and three
// empty ones. It returns at once where there is nothing.
func InStreams[T any](x []T, chunk int, f func(s *Streams[T])) {
	quarter, each := len(x)/4, chunk/4
	var s Streams[T]
	if quarter >= 4*each {
		for at := 0; at < quarter; at += each {
			end := min(at+each, quarter)
			for k := range s {
				s[k] = x[k*quarter+at : k*quarter+end]
			}
			f(&s)
		}
		x = x[4*quarter:]
	}
	for len(x) > 0 {
		n := min(len(x), chunk)
		s = Streams[T]{x[:n]}
		f(&s)
		x = x[n:]
	}
}
