package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/memkernel/memkernel/internal/store"
)

// Outcome is the result of a commit.
type Outcome string

const (
	// Committed: the transaction is in the journal, durably.
	Committed Outcome = "committed"
	// Duplicate: the same content was committed under this key before.
	// Nothing was written.
	Duplicate Outcome = "duplicate"
	// Conflict: other content was committed under this key before. Nothing
	// was written.
	Conflict Outcome = "conflict"
	// Refused: the check rejected the transaction as a whole. The journal
	// holds it with the reason.
	Refused Outcome = "rejected"
)

// Tx is one atomic writeback.
type Tx struct {
	// Key is the idempotency key; it must not be empty.
	Key  string
	Time time.Time
	// Body is the content to commit. Two bodies that differ only in white space between tokens
	// are equal.
	Body json.RawMessage
	// Rejected are updates of the transaction that failed validation. They
	// are recorded with their reason and not committed.
	Rejected []Rejection
	// Check validates the whole body. If it returns a *RejectionError, the transaction is refused
	// with the error's code. Any other error aborts the commit. A nil Check accepts every body.
	Check func(body json.RawMessage) error
}

// Rejection is an update that validation refused.
type Rejection struct {
	// ID names the update.
	ID string `json:"id"`
	// Code is a rejection code such as "DESTRUCTIVE_OP".
	Code string `json:"code"`
	// Detail describes the fault.
	Detail string          `json:"detail,omitempty"`
	Body   json.RawMessage `json:"body,omitempty"`
}

// RejectionError is returned by a check that refuses a transaction.
type RejectionError struct {
	Code   string
	Detail string
}

func (e *RejectionError) Error() string { return e.Code + ": " + e.Detail }

type committedBody struct {
	// Hash is the sha256 of the compacted body, in hex.
	Hash string `json:"hash"`
	// Point and Seq belong to a writeback.
	Point CommitPoint `json:"point,omitempty"`
	Seq   int         `json:"seq,omitempty"`
}

// Commit writes a transaction as one unit of three records: staged with the body, validated (or
// rejected with the reason), and committed. It writes the unit in one write and one fsync. A unit
// without its committed record does not count, so that a crash leaves the whole unit or nothing.
// Commit takes the commits of other processes into account.
func (j *Journal) Commit(tx Tx) (Outcome, error) {
	if tx.Key == "" {
		return "", errors.New("commit: transaction without a key")
	}
	body, hash, err := compactBody(tx.Body)
	if err != nil {
		return "", fmt.Errorf("commit %q: %w", tx.Key, err)
	}
	if bytes.HasPrefix(body, writebackMark) {
		return "", fmt.Errorf("commit %q: the body is a writeback's; use Writeback", tx.Key)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	var out Outcome
	_, err = j.append(true, func() (recs []store.Record, err error) {
		if old, ok := j.commits[tx.Key]; ok {
			if out = Conflict; old == hash {
				out = Duplicate
			}
			return nil, nil
		}
		recs, out, err = tx.records(body, hash)
		return recs, err
	})
	if err != nil {
		return "", fmt.Errorf("commit %q: %w", tx.Key, err)
	}
	return out, nil
}

// records lays out the lines of the transaction.
func (tx *Tx) records(body json.RawMessage, hash string) ([]store.Record, Outcome, error) {
	rec := func(op string, v any) store.Record {
		raw, _ := v.(json.RawMessage)
		if raw == nil {
			raw, _ = json.Marshal(v)
		}
		return store.Record{Op: op, ID: tx.Key, Time: tx.Time, Body: raw}
	}
	recs := []store.Record{rec(OpStaged, body)}
	for _, r := range tx.Rejected {
		if _, err := json.Marshal(r); err != nil {
			return nil, "", fmt.Errorf("rejected update %q: %w", r.ID, err)
		}
		recs = append(recs, rec(OpRejected, r))
	}
	if tx.Check != nil {
		if err := tx.Check(body); err != nil {
			var no *RejectionError
			if !errors.As(err, &no) {
				return nil, "", err
			}
			return append(recs, rec(OpRejected, Rejection{ID: tx.Key, Code: no.Code, Detail: no.Detail})), Refused, nil
		}
	}
	sum := committedBody{Hash: hash}
	return append(recs, rec(opValidated, sum), rec(OpCommitted, sum)), Committed, nil
}

func compactBody(body json.RawMessage) (json.RawMessage, string, error) {
	if len(body) == 0 {
		body = json.RawMessage("null")
	}
	var b bytes.Buffer
	if err := json.Compact(&b, body); err != nil {
		return nil, "", fmt.Errorf("body is not JSON: %w", err)
	}
	return b.Bytes(), hashBytes(b.Bytes()), nil
}

func hashBytes(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// IsCommitted reports whether a transaction was committed under the key, and returns the hash of
// its body.
func (j *Journal) IsCommitted(key string) (hash string, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	hash, ok = j.commits[key]
	return hash, ok
}

// Transactions yields the transactions that [Journal.Commit] committed, in the order of the
// commits: the key, the time and the body of each. It leaves out refused units and units whose
// commit a crash cut off. It also leaves out writebacks, whose result is in [Journal.Store].
func (j *Journal) Transactions() iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		staged := make(map[string]store.Record)
		for rec, err := range j.Records() {
			if err != nil {
				yield(store.Record{}, err)
				return
			}
			switch rec.Op {
			case OpStaged:
				delete(staged, rec.ID)
				if !IsWriteback(&rec) {
					staged[rec.ID] = rec
				}
			case OpCommitted:
				tx, ok := staged[rec.ID]
				delete(staged, rec.ID)
				tx.Op = OpCommitted
				if ok && !yield(tx, nil) {
					return
				}
			}
		}
	}
}
