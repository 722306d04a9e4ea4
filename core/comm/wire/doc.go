// Package wire is what ranks write for each other to read: the header of an array that travels, the signature of a
// collective call, and fingerprints of calls and of elements.
//
// The code outside Go that makes short calls by itself reads and writes the same (numpybridge/fastpath_meeting.c, header.c). A change
// here is a change there.
package wire
