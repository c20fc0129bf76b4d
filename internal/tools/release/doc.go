// Package release holds tests alone: the module as it would be released is installed by
// its version, and embedded by a program of somebody else's.
//
//	tracked files ──► module zip ──► a proxy in a folder ──► go install, go get
//
// The tests belong to the long suite: they build the whole program from an empty module
// cache, with what this machine's cache holds before what the module proxy does. They
// never write to that cache, and release nothing.
package release
