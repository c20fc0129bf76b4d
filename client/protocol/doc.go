// Package protocol has the parameters and the results of the methods of memkernel serve. It is
// data, made from doc/schema.json.
package protocol
