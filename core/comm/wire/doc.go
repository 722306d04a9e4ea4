// Package wire is what ranks write for each other: the header of an array, the signature of a collective call, and
// fingerprints of calls and of elements.
//
// The code outside Go that makes short calls itself reads and writes the same (numpybridge/protocol.h). A test there
// runs both on the same cases.
package wire
