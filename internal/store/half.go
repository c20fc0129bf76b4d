package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// MoveMark is a document in the target of a move of state until the move is complete. No kernel
// opens such a store.
const MoveMark = "moving.json"

// moveMarkFormat is the version of the mark.
//
//	1: first version
const moveMarkFormat = 1

type moveMark struct {
	Format int       `json:"format"`
	From   string    `json:"from"`
	Begun  time.Time `json:"begun"`
}

// NewMoveMark returns the mark of a move from a place.
func NewMoveMark(from string, now time.Time) ([]byte, error) {
	data, err := json.Marshal(moveMark{moveMarkFormat, from, now.UTC()})
	return append(data, '\n'), err
}

// HalfMoved returns an error if a store is the target of an interrupted move, and the source of the
// move. The source is "" if the mark can't be read.
func HalfMoved(s Store) (from string, err error) {
	data, err := s.Get(MoveMark)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var m moveMark
	if err := json.Unmarshal(data, &m); err != nil {
		return "", fmt.Errorf("read %s: %w; 'memkernel-server migrate --state' writes it anew", s.Where(MoveMark), err)
	}
	return m.From, fmt.Errorf("%s has a part of what %s has: a move was cut short; run 'memkernel-server migrate --state' again, which goes on there", s.Where(""), m.From)
}
