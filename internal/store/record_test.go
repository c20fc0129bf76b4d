package store

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A record is read as encoding/json reads it, however it is written.
func TestRecordsAreReadAsJSON(t *testing.T) {
	for _, rec := range []string{
		`{"op":"a","id":"1","body":{"x":[1,"}"]}}`, `{"op":"a","id":"1","time":"2026-11-30T09:00:00Z","body":"b"}`, `{"op":"a","id":"1"}`,
		`{"op":",\"body\":","id":"\\","body":7}`, `{"op":"a","id":"1","more":{"n":1,"body":2},"body":3}`, `{"op":"a","id":"1","body":{"x": 1}}`,
		`{"op":"a","id":"1","body":1,"more":2}`, `{"op":"a","body":{"body":1},"id":"1"}`, ` {"op":"a","id":"1" ,"body":null} `,
		`{"op":"a","id":"1","body":}`, `{"op":"a","id":"1","body":{"x":1}`, `{"op":"a","id":1,"body":1}`, `{"op":"a","body":1}}`, `,"body":1}`, "",
	} {
		var want Record
		wantErr := json.Unmarshal([]byte(rec), &want)
		line := []byte(rec)
		got, err := decodeRecord(line)
		copy(line, bytes.Repeat([]byte{'#'}, len(line)))
		if (err == nil) != (wantErr == nil) {
			t.Errorf("%s: %v, want %v", rec, err, wantErr)
		} else if diff := cmp.Diff(want, got); err == nil && diff != "" {
			t.Errorf("%s:\n%s", rec, diff)
		}
	}
}
