package static

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
)

// scored is a piece and its score.
type scored struct {
	piece string
	score float64
}

// scores are a vocabulary of scored pieces: [["piece", -3.2], …]. They are read by
// hand: there may be half a million, for which reflection takes seconds.
type scores []scored

var errScored = errors.New("vocab: an entry is no piece with its score")

// UnmarshalJSON implements json.Unmarshaler; b is valid JSON.
func (s *scores) UnmarshalJSON(b []byte) error {
	*s = make(scores, 0, bytes.Count(b, []byte("[")))
	c := &cursor{b, 0}
	if !c.skip('[') {
		return errScored
	}
	for !c.skip(']') {
		if len(*s) > 0 && !c.skip(',') {
			return errScored
		}
		e, ok := c.entry()
		if !ok {
			return errScored
		}
		*s = append(*s, e)
	}
	return nil
}

// cursor is a place in JSON that is valid.
type cursor struct {
	b  []byte
	at int
}

// skip goes past white space, and past a character if it comes next.
func (c *cursor) skip(want byte) bool {
	for c.at < len(c.b) && (c.b[c.at] == ' ' || c.b[c.at] == '\n' || c.b[c.at] == '\t' || c.b[c.at] == '\r') {
		c.at++
	}
	if c.at == len(c.b) || c.b[c.at] != want {
		return false
	}
	c.at++
	return true
}

func (c *cursor) entry() (e scored, ok bool) {
	if !c.skip('[') || !c.skip('"') {
		return e, false
	}
	if e.piece, ok = c.text(); !ok || !c.skip(',') {
		return e, false
	}
	c.skip(0) // white space
	from := c.at
	for c.at < len(c.b) && bytes.IndexByte([]byte("+-.0123456789eE"), c.b[c.at]) >= 0 {
		c.at++
	}
	var err error
	e.score, err = strconv.ParseFloat(string(c.b[from:c.at]), 64)
	return e, err == nil && c.skip(']')
}

// text reads on to the end of a string.
func (c *cursor) text() (string, bool) {
	from, escaped := c.at, false
	for ; c.at < len(c.b) && c.b[c.at] != '"'; c.at++ {
		if c.b[c.at] == '\\' {
			escaped = true
			c.at++
		}
	}
	if c.at >= len(c.b) {
		return "", false
	}
	c.at++
	if !escaped {
		return string(c.b[from : c.at-1]), true
	}
	var s string
	err := json.Unmarshal(c.b[from-1:c.at], &s)
	return s, err == nil
}
