// Package wire is what ranks write for each other to read: the header of an array that travels, the signature of a
// collective call, and fingerprints of calls and of elements.
//
// The code outside Go that makes short calls by itself reads and writes the same (numpybridge/protocol.h). A test there runs both
// on the same cases.
package wire
