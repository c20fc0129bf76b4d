package config

import (
	"fmt"
	"strings"
)

// Origin is the source of a value. The zero Origin is the default.
type Origin struct {
	// File and Line (from 1, 0 if unknown) are the place in a file.
	File string
	Line int
	// Flag is the flag of the command line, with its dashes.
	Flag string
}

// String returns "default", "config.yaml:3" or "--color".
func (o Origin) String() string {
	switch {
	case o.Flag != "":
		return o.Flag
	case o.File == "":
		return "default"
	case o.Line == 0:
		return o.File
	}
	return fmt.Sprintf("%s:%d", o.File, o.Line)
}

// Error is a mistake in a configuration.
type Error struct {
	Origin Origin
	// Key is the full name of the setting, "" if the mistake is not in a setting.
	Key string
	Err error
	// Hint says how to correct the mistake, "" if Err needs no hint.
	Hint string
}

func (e *Error) Error() string {
	var parts []string
	if e.Origin != (Origin{}) {
		parts = append(parts, e.Origin.String())
	}
	if e.Key != "" {
		parts = append(parts, e.Key)
	}
	return strings.Join(append(parts, e.Err.Error()), ": ")
}

// Unwrap returns the error without its place.
func (e *Error) Unwrap() error { return e.Err }

// errorAt returns a mistake in the first of keys. The mistake has the place of the first key
// whose value is not its default.
func (c *Config) errorAt(err error, hint string, keys ...string) error {
	e := &Error{Key: keys[0], Err: err, Hint: hint}
	for _, k := range keys {
		if e.Origin == (Origin{}) {
			e.Origin = c.origin[k]
		}
	}
	return e
}
