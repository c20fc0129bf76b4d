package imports

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// hash returns the sha256 of a text in hex.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// errValue ends the reading of a list with a value that is too long.
var errValue = fmt.Errorf("a value has more than %d bytes, which is the most that is read of one; what stands before it was read", maxValue)

// bounded is a reader that fails if a single value exceeds a limit.
type bounded struct {
	io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errValue
	}
	n, err := b.Reader.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// elements reads the elements of a JSON list one at a time, however long the list is. f gets the
// number of each, from 1. If f returns an error, elements passes it to lost.
func (r *reader) elements(c *candidate, f func(n int, raw json.RawMessage) error) error {
	in := &bounded{Reader: c, left: maxValue}
	d := json.NewDecoder(in)
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return fmt.Errorf("it is no list: %w", orEnd(err))
	}
	n := 0
	for d.More() {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		n++
		in.left = maxValue
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			r.lost(c.format, fmt.Errorf("%s: element %d, at byte %d: %w", c.place, n, d.InputOffset(), orEnd(err)))
			return nil
		}
		if err := f(n, raw); err != nil {
			if s := (stop{}); errors.As(err, &s) {
				return err
			}
			r.lost(c.format, fmt.Errorf("%s: element %d: %w", c.place, n, err))
		}
	}
	if _, err := d.Token(); err != nil {
		r.lost(c.format, fmt.Errorf("%s: behind element %d, at byte %d: %w", c.place, n, d.InputOffset(), orEnd(err)))
	}
	return nil
}

// orEnd returns a readable error. A nil err stands for a wrong beginning of the file, and io.EOF
// for an early end.
func orEnd(err error) error {
	if err == nil {
		return errors.New("it begins with something else")
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it is cut off")
	}
	return err
}

// seconds converts seconds since 1970, with a fraction.
func seconds(s *float64) time.Time {
	if s == nil || *s <= 0 || *s > 1e11 {
		return time.Time{}
	}
	return time.UnixMilli(int64(*s * 1000)).UTC()
}

// millis converts milliseconds since 1970.
func millis(ms int64) time.Time {
	if ms <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// parseTime reads a time in the form of a store. It returns the zero time for other texts.
func parseTime(s string) time.Time {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t
		}
	}
	return time.Time{}
}
