// Package sparse has loops over sparse matrices: product.h, split.h and triplets.h, which numpybridge includes. They are in C because
// an element is few instructions, of which checks of bounds would be the most.
package sparse
