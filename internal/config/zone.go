package config

import (
	"fmt"
	"strings"
	"time"

	// Names of zones must work on machines without a zone database.
	_ "time/tzdata"
)

// Zone is a time zone by its IANA name, such as Europe/Berlin, or local for the
// machine's.
type Zone string

// Set checks that the zone is known.
func (z *Zone) Set(s string) error {
	if strings.EqualFold(s, "local") {
		*z = "local"
		return nil
	}
	if _, err := time.LoadLocation(s); err != nil || s == "" {
		return fmt.Errorf("%q is not a time zone such as Europe/Berlin, UTC or local", s)
	}
	*z = Zone(s)
	return nil
}

// Location returns the zone itself, or the machine's zone for local and for a name that Set would
// refuse.
func (z Zone) Location() *time.Location {
	if z == "local" || z == "" {
		return time.Local
	}
	if loc, err := time.LoadLocation(string(z)); err == nil {
		return loc
	}
	return time.Local
}
