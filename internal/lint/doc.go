// Package lint has the rules of the architecture as tests: which layer imports which, where cgo may be, what the
// control plane may export, how long a file may be. It has no code of its own.
//
// Each rule is a function from a tree of files to its problems. One test runs all rules over the repository; others
// plant a violation of each rule and check that it is found.
package lint
