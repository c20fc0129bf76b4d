package foreign

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"
)

// members are the members of a JSON object by name. Numbers are json.Number.
type members map[string]any

// object returns v as a JSON object, or nil if it is not one.
func object(v any) members {
	m, _ := v.(map[string]any)
	return m
}

// list returns v as a JSON list, or nil if it is not one.
func list(v any) []any {
	l, _ := v.([]any)
	return l
}

// has reports whether any of the named members has a value.
func (m members) has(names ...string) bool {
	for _, n := range names {
		if m[n] != nil {
			return true
		}
	}
	return false
}

// text returns the first of the named members that is a string or a number, as text.
func (m members) text(names ...string) string {
	for _, n := range names {
		switch v := m[n].(type) {
		case string:
			return v
		case json.Number:
			return v.String()
		}
	}
	return ""
}

// must returns the first of the named members that is a string. Its error lists these names and the
// members that the object has instead.
func (m members) must(names ...string) (string, error) {
	for _, n := range names {
		if s, ok := m[n].(string); ok {
			return s, nil
		}
	}
	for _, n := range names {
		if m.has(n) {
			return "", fmt.Errorf("%q is no string", n)
		}
	}
	return "", fmt.Errorf("it has no %q", names[0])
}

// number returns a member that is a finite number, or a string with such a number, and otherwise 0.
func (m members) number(name string) float64 {
	v, err := strconv.ParseFloat(m.text(name), 64)
	if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
		return 0
	}
	return v
}

// layouts are the formats of times that these systems use: RFC 3339 with any fraction, Python's
// isoformat without a zone (read as UTC), and a day.
var layouts = []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05", time.DateOnly}

// A number of at least minMillis counts milliseconds, because as seconds it would be in the year
// 5138. maxMillis is the end of the year 9999.
const (
	minMillis = 1e11
	maxMillis = 253402300800e3
)

// time returns the first of the named members that is a time: a text in one of the layouts, or
// seconds or milliseconds since 1970.
func (m members) time(names ...string) time.Time {
	for _, n := range names {
		switch v := m[n].(type) {
		case json.Number:
			at, err := v.Float64()
			if err != nil || at <= 0 || at >= maxMillis {
				continue
			}
			if at < minMillis {
				at *= 1000
			}
			return time.UnixMilli(int64(at)).UTC()
		case string:
			for _, l := range layouts {
				if at, err := time.Parse(l, v); err == nil && at.Year() > 0 && at.Year() < 10000 {
					return at
				}
			}
		}
	}
	return time.Time{}
}
