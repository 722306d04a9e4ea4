// Package rows has loops over rows of Arrow's columns: rows.h, which numpybridge includes. They are in C because an element
// is one load at an address that is known long before, so prefetches and unaligned words of 16 bytes matter.
package rows
