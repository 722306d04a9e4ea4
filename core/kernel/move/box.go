package move

import (
	"math"
	"slices"
	"unsafe"

	"dtl/core/memory"
)

// CopyBox copies a box of units of size bytes between memories of any strides, which are in bytes. What is read and what is written do not
// overlap. Where neighbours in memory are those along one dimension in the destination and along another one in the source, as for a
// transpose, it goes by tiles of both.
func CopyBox(dst unsafe.Pointer, dstStrides []int64, src unsafe.Pointer, srcStrides, shape []int64, size int) {
	if slices.Contains(shape, 0) {
		return
	}
	var axes []axis
	for d, n := range shape {
		if n > 1 {
			axes = append(axes, axis{int(n), int(dstStrides[d]), int(srcStrides[d])})
		}
	}
	if len(axes) == 0 {
		memory.Move(dst, src, size)
		return
	}
	// The last one has the neighbours in the destination, which is written in the order of memory; the one before it those in the source.
	slices.SortStableFunc(axes, func(a, b axis) int { return abs(b.dst) - abs(a.dst) })
	last, nearest := len(axes)-1, 0
	for i, a := range axes {
		if abs(a.src) <= abs(axes[nearest].src) {
			nearest = i
		}
	}
	if nearest < last {
		near := axes[nearest]
		axes = slices.Insert(slices.Delete(axes, nearest, nearest+1), last-1, near)
	}
	copyAxes(dst, src, axes, size, nearest < last)
}

// axis is a dimension of a box, with its strides.
type axis struct{ n, dst, src int }

func abs(n int) int { return max(n, -n) }

func copyAxes(dst, src unsafe.Pointer, axes []axis, size int, tiled bool) {
	switch {
	case len(axes) == 1:
		CopyStrided(dst, axes[0].dst, src, axes[0].src, axes[0].n, size)
	case len(axes) == 2 && tiled:
		copyMatrix(dst, src, axes[0], axes[1], size)
	default:
		memory.InPieces(axes[0].n, reach(axes[0].dst, axes[0].src), func(from, to int) {
			for i := from; i < to; i++ {
				copyAxes(unsafe.Add(dst, i*axes[0].dst), unsafe.Add(src, i*axes[0].src), axes[1:], size, tiled)
			}
		})
	}
}

const (
	// share is the part of the limit of memory that the tiles of a matrix take, two at a time, and least how many bytes at least.
	share, least = 32, 1 << 20
	// apart is how many bytes lie between the rows of a tile: of a power of two, all would be in the same lines of the cache.
	apart = 64
)

// copyMatrix copies a matrix. Where the files of both cannot be resident as a whole, it goes by tiles that are copied to memory before they are
// transposed, and from there: so each page is read once and written once, but for those at the ends of rows of a tile.
func copyMatrix(dst, src unsafe.Pointer, read, written axis, size int) {
	if read.n*written.n*size <= memory.Piece || memory.Fits(dst, src) {
		copyTiles(dst, src, read, written, size)
		return
	}
	high, wide := tileOf(read.n, written.n, size)
	row, column := high*size+apart, wide*size+apart // of what is read, and of what is written
	room, done := memory.Room(wide*row + high*column)
	if room == nil {
		copyAxes(dst, src, []axis{read, written}, size, false)
		return
	}
	defer done()
	turned := unsafe.Add(room, wide*row)
	for i := 0; i < read.n; i += high {
		n := min(high, read.n-i)
		for k := 0; k < written.n; k += wide {
			m := min(wide, written.n-k)
			to, from := unsafe.Add(dst, i*read.dst+k*written.dst), unsafe.Add(src, i*read.src+k*written.src)
			copyRows(room, from, axis{m, row, written.src}, axis{n, size, read.src}, size)
			copyTiles(turned, room, axis{n, column, size}, axis{m, size, row}, size)
			copyRows(to, turned, axis{n, read.dst, column}, axis{m, written.dst, size}, size)
		}
	}
}

// tileOf returns how many rows of the destination a tile has, and how many columns.
func tileOf(rows, columns, size int) (high, wide int) {
	units := int(max(memory.Limit()/share, least)) / size
	fit := func(n, most int) int { return min(max(n/tileWide*tileWide, tileWide), most) }
	high = fit(int(math.Sqrt(float64(units))), rows)
	wide = fit(units/high, columns)
	return fit(units/wide, rows), wide
}

// copyRows copies rows of units, and gives pages back after each few of them.
func copyRows(dst, src unsafe.Pointer, rows, units axis, size int) {
	const mapped = 128 << 10 // about how many bytes the system maps where a page of a file is touched
	some := max(memory.Piece/(units.n*max(abs(units.dst), abs(units.src))+mapped), 1)
	for i := range rows.n {
		to, from, done := unsafe.Add(dst, i*rows.dst), unsafe.Add(src, i*rows.src), 0
		if units.dst == size && units.src == size {
			done = memory.ByCalls(to, from, units.n*size) / size
		}
		CopyStrided(unsafe.Add(to, done*units.dst), units.dst, unsafe.Add(from, done*units.src), units.src, units.n-done, size)
		if i%some == some-1 {
			memory.Ease()
		}
	}
}

const (
	// tileHigh is how many units of a row of the source are read at a time, and tileWide how many are written at a time to a row of the
	// destination: of eight bytes, those of a line of the cache.
	tileHigh, tileWide = 1024, 8
	cacheLine          = 64
	// streamed is from how many bytes on the destination is written past the caches.
	streamed = 4 << 20
	// mostPeriod is the most rows that begin at different places of a line of the cache, each of which reads the source again.
	mostPeriod = 4
)

// copyTiles copies a matrix. The rows of the source are along its first axis, and those of the destination along the other one.
func copyTiles(dst, src unsafe.Pointer, read, written axis, size int) {
	dense, copyLines := read.src == size && written.dst == size, linesOf(size)
	if dense && size == 8 && read.n*written.n*size >= streamed && uintptr(dst)%8 == 0 && mostPeriod*read.dst%cacheLine == 0 {
		streamTiles(dst, src, read, written)
		return
	}
	for i := 0; i < read.n; i += tileHigh {
		high := min(tileHigh, read.n-i)
		for k := 0; k < written.n; k += tileWide {
			wide := min(tileWide, written.n-k)
			to, from := unsafe.Add(dst, i*read.dst+k*written.dst), unsafe.Add(src, i*read.src+k*written.src)
			if dense && wide == tileWide && copyLines != nil {
				copyLines(to, read.dst, from, written.src, high)
				continue
			}
			for j := range high {
				CopyStrided(unsafe.Add(to, j*read.dst), written.dst, unsafe.Add(from, j*read.src), written.src, wide, size)
			}
		}
	}
}

// streamTiles is copyTiles of words of eight bytes that lie side by side in the rows, and writes whole lines of the cache past the caches. Where
// the rows of the destination begin at different places of a line, those that begin at the same place are written one after the other.
func streamTiles(dst, src unsafe.Pointer, read, written axis) {
	period := 1 // of rows that begin at the same place
	for period*read.dst%cacheLine != 0 {
		period++
	}
	for i := 0; i < read.n; i += tileHigh {
		high := min(tileHigh, read.n-i)
		for k := -tileWide; k < written.n; k += tileWide {
			for phase := range min(period, high) {
				to, from := unsafe.Add(dst, (i+phase)*read.dst), unsafe.Add(src, (i+phase)*8)
				first := k + int(-uintptr(to)%cacheLine/8)
				begin, end := max(first, 0), min(first+tileWide, written.n)
				rows := axis{(high - phase + period - 1) / period, period * read.dst, period * 8}
				streamTile(unsafe.Add(to, begin*8), unsafe.Add(from, begin*written.src), rows, axis{end - begin, 8, written.src})
			}
		}
	}
}

// streamTile copies at most a line of the cache of each row, and less at their ends.
func streamTile(dst, src unsafe.Pointer, rows, written axis) {
	if written.n == tileWide {
		streamLines8(dst, rows.dst, src, written.src, rows.src, rows.n)
		return
	}
	for j := range rows.n {
		CopyStrided(unsafe.Add(dst, j*rows.dst), 8, unsafe.Add(src, j*rows.src), written.src, max(written.n, 0), 8)
	}
}

// linesOf returns what copies n rows of tileWide units that lie side by side in the destination, and a stride apart in the source, where the
// rows lie side by side; nil where there is no word of the size.
func linesOf(size int) func(dst unsafe.Pointer, dstStride int, src unsafe.Pointer, srcStride, n int) {
	switch size {
	case 1:
		return lines[word1]
	case 2:
		return lines[word2]
	case 4:
		return lines[word4]
	case 8:
		return lines8
	case 16:
		return lines[word16]
	}
	return nil
}

func lines[T any](dst unsafe.Pointer, dstStride int, src unsafe.Pointer, stride, n int) {
	size := int(unsafe.Sizeof(*new(T)))
	for range n {
		to := (*[tileWide]T)(dst)
		to[0] = *(*T)(src)
		to[1] = *(*T)(unsafe.Add(src, stride))
		to[2] = *(*T)(unsafe.Add(src, 2*stride))
		to[3] = *(*T)(unsafe.Add(src, 3*stride))
		to[4] = *(*T)(unsafe.Add(src, 4*stride))
		to[5] = *(*T)(unsafe.Add(src, 5*stride))
		to[6] = *(*T)(unsafe.Add(src, 6*stride))
		to[7] = *(*T)(unsafe.Add(src, 7*stride))
		dst, src = unsafe.Add(dst, dstStride), unsafe.Add(src, size)
	}
}
