package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/pagevm"
)

// Validated writeback makes state durable by typed updates and not by rewriting a text. The
// updates are staged, validated and committed in one unit of the journal (ClawVM, section 3 and
// appendix A):
//
//	staged      {"writeback":1,"point":…,"by":…,"updates":[…]}   the requested updates
//	rejected    {"id":…,"code":…,"detail":…,"body":{the update}}  one per refusal
//	validated   {"hash":…,"accepted":["u1",…]}                    the accepted updates
//	committed   {"hash":…,"point":"flush","seq":7}                the commit point
//
// A replay applies the updates that "validated" names. It does not check them again, since the
// rules may have changed meanwhile. The live state is made by the same code from the same bytes.

// writebackVersion is the format version of a staged body and of a snapshot.
const writebackVersion = 1

// writebackMark is the beginning of the body of a writeback's staged record.
var writebackMark = []byte(`{"writeback":`)

// Rejection codes, in the order in which an update is checked.
const (
	// CodeSchema: the update has an unknown type or field, or a wrong operation, value or size.
	CodeSchema = "SCHEMA_INVALID"
	// CodeProvenance: the evidence names nothing that exists.
	CodeProvenance = "PROVENANCE_DANGLING"
	// CodeScope: the principal must not write there.
	CodeScope = "SCOPE_DENIED"
	// CodeDestructive: a committed entry would be lost, or the version that the
	// update was made from is not the last one.
	CodeDestructive = "DESTRUCTIVE_OP"
	// CodePolicy: a hard-pinned page would be weakened, or a policy of the host
	// refused.
	CodePolicy = "POLICY_VIOLATION"
)

// UpdateOp is how an update changes a field.
type UpdateOp string

const (
	// OpAppend adds entries to a list. Value: [{"id":…,"value":…}, …]. An entry that exists
	// already is skipped.
	OpAppend UpdateOp = "append"
	// OpMerge sets members of a map. Value: [{"id":…,"version":…,"value":…}, …]. The version is
	// the last committed version of the member, 0 for a new member. A member that holds the value
	// already is skipped.
	OpMerge UpdateOp = "merge"
	// OpSetWithVersion replaces a scalar. Value is the new value. The update's Version must be
	// the last committed version, 0 for the first value.
	OpSetWithVersion UpdateOp = "set_with_version"
)

// CommitPoint is the boundary at which a transaction was committed.
type CommitPoint string

// The boundaries at which state becomes durable.
const (
	PointTurn       CommitPoint = "turn" // the end of a turn; ours, the paper has the others
	PointEviction   CommitPoint = "eviction"
	PointDowngrade  CommitPoint = "downgrade"
	PointFlush      CommitPoint = "flush"
	PointCompaction CommitPoint = "compaction"
	PointReset      CommitPoint = "reset"
	PointSessionEnd CommitPoint = "session_end"
	pointClose      CommitPoint = "close"
)

func (p CommitPoint) known() bool {
	switch p {
	case PointTurn, PointEviction, PointDowngrade, PointFlush, PointCompaction, PointReset, PointSessionEnd, pointClose:
		return true
	}
	return false
}

// Principal is the party on whose behalf a transaction is staged.
type Principal struct {
	Name string `json:"name,omitempty"`
	// Session is the session whose private state may be written. If it is "", no private state
	// may be written.
	Session string `json:"session,omitempty"`
	// Project allows writing pages that all sessions of the workspace share.
	Project bool `json:"project,omitempty"`
}

// Update is one staged change of one field.
type Update struct {
	// ID names the update in its transaction. An empty ID becomes "u1", "u2", ... by position.
	ID string `json:"id"`
	// Key names the page.
	Key string `json:"key" rpc:"required"`
	// Type is the type of the page, which never changes. It may be "" for an existing page.
	Type  pagevm.Type     `json:"type,omitempty"`
	Field string          `json:"field" rpc:"required"`
	Op    UpdateOp        `json:"op" rpc:"required"`
	Value json.RawMessage `json:"value,omitempty"`
	// Version is the version of the field on which a set_with_version is based.
	Version int `json:"version,omitempty"`
	// Scope is the scope that the page belongs to.
	Scope memkernel.Scope `json:"scope" rpc:"required"`
	// Session is the session that owns a private page, "" for the principal's own session. It has
	// no meaning in the project's scope.
	Session string `json:"session,omitempty"`
	// EvidenceRef names the source of the update: a reference that [Rules.Resolves] knows, or a
	// committed update in the form update:TX#UPDATE.
	EvidenceRef string `json:"evidence_ref" rpc:"required"`
}

// updateRef names a committed update as evidence for another. Within a transaction an update may
// cite the earlier updates.
func updateRef(tx, update string) string { return updateRefMark + tx + "#" + update }

const updateRefMark = "update:"

// Transaction is a set of updates that is staged, validated and committed as one unit of the
// journal. Updates are validated in their order. Each is checked against the state that the
// accepted earlier updates leave.
type Transaction struct {
	// Key is the idempotency key; it must not be empty.
	Key   string
	Time  time.Time
	Point CommitPoint
	By    Principal
	// AllOrNothing commits nothing if any update is rejected. Without it the
	// valid updates are committed.
	AllOrNothing bool
	Updates      []Update
}

// Receipt describes the outcome of a transaction.
type Receipt struct {
	// Outcome is "rejected" if nothing was accepted, or if not all updates of an all-or-nothing
	// transaction were.
	Outcome Outcome `json:"outcome"`
	// Seq is the number of this writeback among the journal's committed ones, counted from 1. It
	// is 0 if the writeback was not committed.
	Seq   int         `json:"seq,omitempty"`
	Point CommitPoint `json:"point,omitempty"`
	// Accepted are the updates that were committed. For a duplicate they are the ones of the
	// first delivery.
	Accepted []string `json:"accepted,omitempty"`
	// Rejected are all other updates with their codes. For a duplicate they are the ones of the
	// first delivery.
	Rejected []Rejection `json:"rejected,omitempty"`
	// Stats are the costs.
	Stats store.Stats `json:"-"`
}

// stagedBody is the body of the staged record of a writeback.
type stagedBody struct {
	Writeback    int         `json:"writeback"`
	Point        CommitPoint `json:"point,omitempty"`
	By           Principal   `json:"by"`
	AllOrNothing bool        `json:"all_or_nothing,omitempty"`
	Updates      []Update    `json:"updates"`
	// Malformed are the values that are not valid JSON. They are kept so that the journal holds
	// the refused input.
	Malformed []malformedValue `json:"malformed,omitempty"`
}

type malformedValue struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// IsWriteback reports whether a record is a writeback's staged record.
func IsWriteback(r *store.Record) bool {
	return r.Op == OpStaged && bytes.HasPrefix(r.Body, writebackMark)
}

// Writeback stages, validates and commits a transaction as one unit, in one write and one fsync. A
// crash leaves the whole unit or nothing. Writeback takes the commits of other processes into
// account. It is idempotent per key: the same updates again are a Duplicate, even at another commit
// point. Other updates under the same key are a Conflict. A caller may try a refused transaction
// again. An error means that nothing was written. A rejected update is not an error.
func (j *Journal) Writeback(t Transaction, r *Rules) (Receipt, error) {
	t.Time = t.Time.UTC().Round(0) // as it is read back
	body, staged, err := t.stage()
	if err != nil {
		return Receipt{}, fmt.Errorf("writeback %q: %w", t.Key, err)
	}
	hash, out := staged.hash(), Receipt{}
	st, err := j.append(true, func() ([]store.Record, error) {
		if old := j.store.txs[t.Key]; old != nil {
			if out = (Receipt{Outcome: Conflict}); old.Hash == hash {
				out = old.receipt(Duplicate)
			}
			return nil, nil
		}
		recs := []store.Record{{Op: OpStaged, ID: t.Key, Time: t.Time, Body: body}}
		var errs []error
		add := func(op string, v any) {
			b, err := textutil.JSON(v)
			errs = append(errs, err)
			recs = append(recs, store.Record{Op: op, ID: t.Key, Time: t.Time, Body: b})
		}
		accepted, rejected := r.validate(j.store, t.Key, staged)
		out = Receipt{Outcome: refused}
		for _, r := range rejected {
			add(OpRejected, r)
			r.Body = nil
			out.Rejected = append(out.Rejected, r)
		}
		if len(accepted) > 0 && (len(rejected) == 0 || !t.AllOrNothing) {
			out.Outcome = Committed
			add(opValidated, validatedBody{hash, accepted})
			add(OpCommitted, committedBody{Hash: hash, Point: t.Point, Seq: j.store.Seq() + 1})
		}
		return recs, errors.Join(errs...)
	})
	if err != nil {
		return Receipt{}, fmt.Errorf("writeback %q: %w", t.Key, err)
	}
	if out.Outcome == Committed {
		out = j.store.txs[t.Key].receipt(Committed)
	}
	out.Stats = st
	return out, nil
}

// stage checks the caller's input and returns the body of the staged record, with the updates as
// they will be read back from it, so that the validated updates are also the replayed ones.
func (t *Transaction) stage() (json.RawMessage, *stagedBody, error) {
	switch {
	case t.Key == "":
		return nil, nil, errors.New("transaction without a key")
	case !t.Point.known():
		return nil, nil, fmt.Errorf("unknown commit point %q", t.Point)
	case len(t.Updates) == 0:
		return nil, nil, errors.New("transaction without updates")
	}
	s := stagedBody{Writeback: writebackVersion, Point: t.Point, By: t.By, AllOrNothing: t.AllOrNothing}
	seen := make(map[string]bool, len(t.Updates))
	for i, u := range t.Updates {
		if u.ID == "" {
			u.ID = fmt.Sprint("u", i+1)
		}
		if seen[u.ID] || strings.Contains(u.ID, "#") {
			return nil, nil, fmt.Errorf("the update id %q stands twice or holds a #; give each update its own", u.ID)
		}
		seen[u.ID] = true
		if len(u.Value) > 0 && !json.Valid(u.Value) {
			s.Malformed, u.Value = append(s.Malformed, malformedValue{u.ID, string(u.Value)}), nil
		}
		s.Updates = append(s.Updates, u)
	}
	body, err := textutil.JSON(&s)
	if err != nil {
		return nil, nil, err
	}
	read, err := readStaged(body)
	return body, read, err
}

// readStaged reads the body of a writeback's staged record.
func readStaged(body []byte) (*stagedBody, error) {
	var s stagedBody
	if err := json.Unmarshal(body, &s); err != nil {
		return nil, fmt.Errorf("staged writeback: %w", err)
	}
	if s.Writeback > writebackVersion {
		return nil, fmt.Errorf("staged writeback of format version %d: %w", s.Writeback, store.ErrNewer)
	}
	return &s, nil
}

// hash identifies the requested updates. The commit point is left out, so that a second delivery
// of the same updates at the next boundary is a duplicate.
func (s *stagedBody) hash() string {
	c := *s
	c.Point = ""
	b, _ := textutil.JSON(&c)
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
