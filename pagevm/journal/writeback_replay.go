package journal

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/memkernel/memkernel/internal/store"
)

// validatedBody is the body of a writeback's validated record.
type validatedBody struct {
	Hash     string   `json:"hash"`
	Accepted []string `json:"accepted"`
}

// openUnit is a writeback whose commit has not been read yet.
type openUnit struct {
	key      string
	staged   *stagedBody
	accepted []string
	rejected []Rejection
}

// learn applies one record of the journal. A record that does not fit the earlier ones is an
// error and changes nothing.
func (s *State) learn(rec store.Record) error {
	switch rec.Op {
	case OpSnapshot:
		return s.restore(rec.Body)
	case OpStaged:
		s.open = nil
		if !IsWriteback(&rec) {
			return nil
		}
		staged, err := readStaged(rec.Body)
		if err != nil {
			return fmt.Errorf("record %q: %w", rec.ID, err)
		}
		s.open = &openUnit{key: rec.ID, staged: staged}
	case OpRejected, opValidated, OpCommitted:
		if s.open == nil || s.open.key != rec.ID {
			return nil // left over by a compaction
		}
		if err := s.advance(rec); err != nil {
			return fmt.Errorf("%s record %q: %w", rec.Op, rec.ID, err)
		}
	}
	return nil
}

// advance reads a line of the open transaction.
func (s *State) advance(rec store.Record) (err error) {
	switch u := s.open; rec.Op {
	case OpRejected:
		var r Rejection
		err = json.Unmarshal(rec.Body, &r)
		r.Body = nil
		u.rejected = append(u.rejected, r)
	case opValidated:
		var v validatedBody
		err = json.Unmarshal(rec.Body, &v)
		u.accepted = v.Accepted
	case OpCommitted:
		var c committedBody
		if err = json.Unmarshal(rec.Body, &c); err == nil {
			err = s.commit(u, rec, c)
		}
		if err == nil {
			s.open = nil
		}
	}
	return err
}

// commit applies all accepted updates of a transaction, or none of them. In a salvage it applies those
// that fit.
func (s *State) commit(u *openUnit, rec store.Record, c committedBody) (err error) {
	var made []*change
	defer func() {
		if err != nil {
			s.undo(made)
		}
	}()
	todo, stand := u.accepted, []string(nil)
	for i := range u.staged.Updates {
		up := &u.staged.Updates[i]
		if len(todo) == 0 || up.ID != todo[0] {
			continue
		}
		todo = todo[1:]
		by := u.staged.By
		ch := s.changeOf(u.key, up, by)
		err := s.replay(ch, up, Version{Seq: c.Seq, Tx: u.key, Update: up.ID, Time: rec.Time, By: by.Name, Session: by.Session, EvidenceRef: up.EvidenceRef})
		switch {
		case err == nil:
			s.apply(ch)
			made, stand = append(made, ch), append(stand, up.ID)
		case s.salvage:
			s.lost = append(s.lost, fmt.Sprintf("update %q of %q: %v", up.ID, u.key, err))
		default:
			return fmt.Errorf("update %q: %w", up.ID, err)
		}
	}
	switch {
	case len(todo) > 0:
		return fmt.Errorf("update %q was validated and not staged", todo[0])
	case s.salvage && len(stand) == 0 && len(u.accepted) > 0:
		return errors.New("nothing of it fits what is left")
	case s.salvage:
		c.Seq, u.accepted = max(c.Seq, s.seq+1), stand
	case c.Seq != s.seq+1:
		return fmt.Errorf("commit %d follows commit %d", c.Seq, s.seq)
	}
	s.seq = c.Seq
	s.txs[u.key] = &transaction{Seq: c.Seq, Key: u.key, Hash: c.Hash, Point: c.Point, Accepted: u.accepted, Rejected: u.rejected}
	return nil
}

// replay fills in the change of an update that was validated when it was written. It does not
// validate the update again.
func (s *State) replay(c *change, u *Update, origin Version) error {
	for kind, op := range writes {
		if c.kind == "" && op == u.Op {
			c.kind = kind
		}
	}
	items, err := u.items()
	switch {
	case err != nil:
		return err
	case writes[c.kind] != u.Op:
		return fmt.Errorf("%s of %s, a %s", u.Op, u.Field, c.kind)
	}
	if why := s.fill(c, u.Op, items, origin); why != "" {
		return errors.New(why)
	}
	return nil
}
