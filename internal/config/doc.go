// Package config is the configuration file: one tree of structs that holds every
// default a user may change, read strictly from YAML.
//
// A setting is one field of [Config] or of a struct below it. Only the field's tags describe the
// setting. Reading, checking, the commented sample and doc/config.md all use these tags:
//
//	key      the setting's name in the file. Nested structs give plan.context_window.
//	default  the default, spelled as in the file. Without this tag it is the zero value.
//	range    the smallest and the largest value, "1..100", spelled as in the file
//	of       the allowed words, "host|full"
//	empty    the meaning of the zero value. This value is allowed in addition to range and of.
//	flag     the command line's flag of the same meaning, which overrides the file
//	project  the values that the file in a project's folder may give ([Key.Project]).
//	         On a section, the tag holds for all settings of the section.
//	server   "yes" for a section that only memkernel-server has ([ForServer])
//	doc      the setting's meaning in one or two sentences
//
//	experimental  "yes" for a setting whose value comes from measurements
//
// To add a section, add a struct and a field of Config. To add a kind of value, add a type with
// Set and String, and a line in the table kinds.
//
// The file may hold any part of the tree or nothing. An unknown key, a repeated key, a key
// without a value, a value of another type or out of range, and a second document are errors.
// Each error names the file, the line and a correction. Otherwise a misspelt setting would
// silently do nothing. Every value remembers its origin ([Config.Origin]).
//
// The package reads only the file, not the environment or the network, and it writes nothing. A
// configuration must not hold secrets. For a provider's key, it names an environment variable. An
// error never repeats a text that looks like a key.
package config
