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
//	empty    the meaning of the zero value, which is then allowed besides range and of
//	flag     the command line's flag of the same meaning, which wins
//	project  the values that the file in a project's folder may give ([Key.Project]);
//	         on a section it holds for all its settings
//	server   "yes" for a section that memkernel-server alone has ([ForServer])
//	doc      its meaning, one sentence or two
//
//	experimental  "yes" for a setting whose value comes from measurements: a file has it
//	         below [Experiments], or at its usual place
//
// A new section is a struct and a field of Config; a new kind of value is a type
// with Set and String and a line in kindOf.
//
// The file may hold any part of the tree or nothing. An unknown key, a repeated key, a
// key without a value, a value of another type or out of range, and a second document
// are errors that name file, line and a way out. Otherwise a misspelt setting would
// silently do nothing. Every value remembers its origin ([Config.Origin]).
//
// The package reads a file and nothing else: no environment, no network, and it
// writes nothing. A configuration must not hold secrets: it names the environment
// variable of a provider's key. An error never repeats a text that looks like a key.
package config
