// Package config is the configuration file: one tree of structs that holds every
// default a user may change, read strictly from YAML.
//
// A setting is one field of [Config] or of a struct below it. Its tags are the
// only place where it is described; reading, checking, the commented sample and
// doc/config.md are all made from them:
//
//	key      its name in the file; nested structs give plan.context_window
//	default  its default, spelled as in the file; without it the zero value
//	range    the smallest and the largest value, "1..100", spelled likewise
//	of       the words it may be, "host|full"
//	empty    what the zero value means; it is then allowed beside range and of
//	flag     the command line's flag of the same meaning, which wins
//	project  what the file in a project's folder may make of it ([Key.Project]); of a
//	         section, what it may make of all its settings
//	server   "yes" for a section that memkernel-server alone has ([ForServer])
//	doc      its meaning, one sentence or two
//
//	experimental  "yes" for what measurements have set: a file has it below
//	         [Experiments], or where it would be otherwise
//
// A new section is a struct and a field of Config; a new kind of value is a type
// with Set and String and a line in kindOf.
//
// The file may hold any part of the tree or nothing. A key that is not known, one
// that occurs twice, one without a value, a value of another type or out of
// range, and a second document are errors that name file, line and a way out:
// what is misspelt would else silently do nothing. Every value remembers where it
// came from ([Config.Origin]).
//
// The package reads a file and nothing else: no environment, no network, and it
// writes nothing. No secret is in a configuration; a key of a provider is
// named by its environment variable, and what looks like one is never repeated in
// an error.
package config
