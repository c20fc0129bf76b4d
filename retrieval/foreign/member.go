package foreign

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"
)

// members are those of a JSON object that no field has taken yet.
type members map[string]json.RawMessage

// object reads a JSON object, nil if it is not one.
func object(raw json.RawMessage) members {
	var m members
	if kindOf(raw) != '{' || json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m
}

// list reads a JSON list, nil if it is not one.
func list(raw json.RawMessage) []json.RawMessage {
	out := []json.RawMessage{}
	if kindOf(raw) != '[' || json.Unmarshal(raw, &out) != nil {
		return nil
	}
	return out
}

// kindOf returns the first character of a value, which determines its kind; 0
// for nothing and for null.
func kindOf(raw json.RawMessage) byte {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] == 'n' {
		return 0
	}
	return raw[0]
}

// has reports whether any of the members is there with a value.
func (m members) has(names ...string) bool {
	for _, n := range names {
		if kindOf(m[n]) != 0 {
			return true
		}
	}
	return false
}

// text takes the first of the members that is a string or a number. One that is
// null or of another shape stays.
func (m members) text(names ...string) string {
	for _, n := range names {
		var s string
		switch k := kindOf(m[n]); {
		case k == '"' && json.Unmarshal(m[n], &s) == nil:
		case k == '-' || k >= '0' && k <= '9':
			s = string(m[n])
		default:
			continue
		}
		delete(m, n)
		return s
	}
	return ""
}

// must takes the first of the members that is a string. The error names the members that it
// looked for and those that it found instead.
func (m members) must(names ...string) (string, error) {
	for _, n := range names {
		var s string
		if kindOf(m[n]) == '"' && json.Unmarshal(m[n], &s) == nil {
			delete(m, n)
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

// number takes the first of the members that is a finite number, or a string that
// holds one.
func (m members) number(names ...string) (float64, bool) {
	for _, n := range names {
		var s json.Number
		if json.Unmarshal(m[n], &s) != nil || s == "" {
			continue
		}
		if v, err := s.Float64(); err == nil && !math.IsInf(v, 0) && !math.IsNaN(v) {
			delete(m, n)
			return v, true
		}
	}
	return 0, false
}

// score takes a score.
func (m members) score(r *Record, names ...string) {
	r.Score, r.Scored = m.number(names...)
}

// layouts are the spellings of times that these systems use: RFC 3339 with any
// fraction, Python's isoformat without a zone (UTC), and a day.
var layouts = []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05", time.DateOnly}

// time takes the first of the members that is a time: a text of one of the
// layouts, or seconds or milliseconds since 1970.
func (m members) time(names ...string) time.Time {
	for _, n := range names {
		if at, ok := timeOf(m[n]); ok {
			delete(m, n)
			return at
		}
	}
	return time.Time{}
}

func timeOf(raw json.RawMessage) (time.Time, bool) {
	if kindOf(raw) != '"' {
		v, err := strconv.ParseFloat(string(bytes.TrimSpace(raw)), 64)
		return epoch(v), err == nil && v > 0 && v < maxMillis
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return time.Time{}, false
	}
	for _, l := range layouts {
		if at, err := time.Parse(l, s); err == nil && at.Year() > 0 && at.Year() < 10000 {
			return at, true
		}
	}
	return time.Time{}, false
}

// From minMillis on a number counts milliseconds: as seconds it would be a day of
// the year 5138. maxMillis is the end of the year 9999.
const (
	minMillis = 1e11
	maxMillis = 253402300800e3
)

func epoch(v float64) time.Time {
	if v < minMillis {
		v *= 1000
	}
	return time.UnixMilli(int64(v)).UTC()
}

// rest returns the members that are left, without those that are null. It returns nil if none is
// left.
func (m members) rest() map[string]json.RawMessage {
	for n, raw := range m {
		if kindOf(raw) == 0 {
			delete(m, n)
		}
	}
	if len(m) == 0 {
		return nil
	}
	return m
}
