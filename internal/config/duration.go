package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Duration is a span of time, spelled 30d, 12h, 1d12h or 500ms. A day is always 24 hours. It is
// never negative.
type Duration time.Duration

const day = 24 * time.Hour

// Set reads days, followed by a span in the form of time.ParseDuration.
func (d *Duration) Set(s string) error {
	days, rest, hasDays := strings.Cut(s, "d")
	if !hasDays {
		days, rest = "0", s
	}
	// 16 bits of days are 179 years, which nanoseconds can hold.
	n, err := strconv.ParseUint(days, 10, 16)
	var span time.Duration
	if err == nil && (rest != "" || !hasDays) {
		span, err = time.ParseDuration(rest)
	}
	total := time.Duration(n)*day + span
	if err != nil || span < 0 || total < 0 {
		return fmt.Errorf("%q is not a duration such as 30d, 12h, 1d12h or 500ms", s)
	}
	*d = Duration(total)
	return nil
}

// String returns the spelling without parts that are zero at its end.
func (d Duration) String() string {
	days, rest := time.Duration(d)/day, time.Duration(d)%day
	s := rest.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(s, zero) {
			s = s[:len(s)-2]
		}
	}
	switch {
	case days <= 0:
		return s
	case rest == 0:
		return fmt.Sprintf("%dd", days)
	}
	return fmt.Sprintf("%dd%s", days, s)
}
