// Package token decides who may call a server over the network, by bearer tokens that each have
// rights. A token is 256 random bits, and is shown once. The store keeps only a document with the
// token's rights, under the token's SHA-256. So a reader of the documents can't call the server.
// A look-up is one read, and a revocation takes effect at the next look-up. If reads are slow, as
// from a database, [Tokens.Remember] makes them rarer.
package token

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/memkernel/memkernel/internal/store"
)

// mark begins every token, so that people and secret scanners recognize a token.
const mark = "mkt_"

const (
	format = 1
	// Folder is the folder of tokens in a state store.
	Folder = "tokens"
	suffix = ".json"
	// idLen is the number of characters of the hash that form a token's id.
	idLen = 16
	// maxWord bounds each text in a token's rights, in bytes.
	maxWord = 200
)

// Access is the kind of calls that a token may make within its reach.
type Access string

const (
	Read  Access = "read"
	Write Access = "write"
)

// Rights bound the calls that a token may make.
type Rights struct {
	// Tenant is the tenant whose workspace the token is for. It is "" if the server has only one
	// workspace.
	Tenant string `json:"tenant"`
	// Agent is the only agent whose sessions the token reaches, "" for all.
	Agent string `json:"agent"`
	// Prefix is the prefix of the keys of the sessions that the token reaches.
	Prefix string `json:"session_prefix"`
	Access Access `json:"access"`
	// Expires is when the token expires, zero for never.
	Expires time.Time `json:"expires,omitzero"`
	// Note is a note for people.
	Note string `json:"note"`
}

// Limited reports whether the token reaches only some sessions.
func (r *Rights) Limited() bool { return r.Agent != "" || r.Prefix != "" }

// Token describes a token, without its secret.
type Token struct {
	// ID names the token. It is not a secret.
	ID string `json:"id"`
	Rights
	Created time.Time `json:"created"`
	// Revoked is when the token was revoked, zero if it was not revoked.
	Revoked time.Time `json:"revoked,omitzero"`
}

// State returns the state of a token at a time: active, expired or revoked.
func (t *Token) State(now time.Time) string {
	switch {
	case !t.Revoked.IsZero():
		return "revoked"
	case !t.Expires.IsZero() && !now.Before(t.Expires):
		return "expired"
	}
	return "active"
}

// document is the document of a token in the store.
type document struct {
	Format int    `json:"format"`
	Hash   string `json:"sha256"`
	Token
}

// The errors of an invalid token.
var (
	errUnknown = errors.New("the token is not known")
	errRevoked = errors.New("the token was revoked")
	errExpired = errors.New("the token has expired")
	// ErrNone reports that no token has an id.
	ErrNone = errors.New("no token has this id")
)

// Invalid reports whether Find returned an error because the token is not valid.
func Invalid(err error) bool {
	return errors.Is(err, errUnknown) || errors.Is(err, errRevoked) || errors.Is(err, errExpired)
}

// Tokens holds the tokens of a server.
type Tokens struct {
	in   store.Store
	keep time.Duration

	mu    sync.Mutex
	known map[string]knownToken // by hash
}

// knownToken is a token with the time at which it was read.
type knownToken struct {
	token Token
	read  time.Time
}

// mostKnown bounds the tokens that are remembered.
const mostKnown = 10_000

// In returns the tokens in a state store. It reads nothing yet.
func In(state store.Store) *Tokens {
	return &Tokens{in: state.In(Folder), known: map[string]knownToken{}}
}

// Remember makes Find trust its last read of a token for d. A revocation that another process
// made may take effect up to d later. Unknown tokens are read each time.
func (t *Tokens) Remember(d time.Duration) *Tokens {
	t.keep = d
	return t
}

// Create makes a token and returns its secret. The secret can't be read again later.
func (t *Tokens) Create(r Rights, now time.Time) (*Token, string, error) {
	if err := r.check(now); err != nil {
		return nil, "", err
	}
	var raw [32]byte
	rand.Read(raw[:]) // Read never fails
	secret := mark + base64.RawURLEncoding.EncodeToString(raw[:])
	hash := store.Sum([]byte(secret))
	made := &Token{ID: hash[:idLen], Rights: r, Created: now.UTC()}
	return made, secret, t.put(hash, made)
}

func (r *Rights) check(now time.Time) error {
	if r.Access != Read && r.Access != Write {
		return fmt.Errorf("access %q is neither read nor write", r.Access)
	}
	if !r.Expires.IsZero() && !r.Expires.After(now) {
		return fmt.Errorf("the token would have expired at %s", r.Expires.Format(time.RFC3339))
	}
	for name, word := range map[string]string{"tenant": r.Tenant, "agent": r.Agent, "session prefix": r.Prefix, "note": r.Note} {
		switch {
		case len(word) > maxWord:
			return fmt.Errorf("the %s is longer than %d bytes", name, maxWord)
		case !utf8.ValidString(word) || strings.ContainsFunc(word, unicode.IsControl):
			return fmt.Errorf("the %s has what can't be read in it", name)
		}
	}
	if strings.Contains(r.Agent, ":") {
		return fmt.Errorf("agent %q: a name has no colon", r.Agent)
	}
	return nil
}

func (t *Tokens) put(hash string, tok *Token) error {
	data, err := json.MarshalIndent(document{format, hash, *tok}, "", "  ")
	if err == nil {
		_, err = t.in.Put(store.Synced, store.Doc{Name: hash + suffix, Data: append(data, '\n')})
	}
	t.mu.Lock()
	delete(t.known, hash)
	t.mu.Unlock()
	if err != nil {
		return fmt.Errorf("write token %s: %w", tok.ID, err)
	}
	return nil
}

// Find returns the token of a secret, and an error if the token is not valid now. Unless
// [Tokens.Remember] was called, Find reads the token each time, so that it refuses a revoked token
// at once.
func (t *Tokens) Find(secret string, now time.Time) (*Token, error) {
	if len(secret) != len(mark)+43 || !strings.HasPrefix(secret, mark) {
		return nil, errUnknown
	}
	// The look-up is by the secret's hash, so that its duration reveals nothing about other
	// secrets.
	hash := store.Sum([]byte(secret))
	t.mu.Lock()
	k, ok := t.known[hash]
	t.mu.Unlock()
	if age := now.Sub(k.read); !ok || age < 0 || age >= t.keep {
		d, err := t.read(hash + suffix)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, errUnknown
		}
		if err != nil {
			return nil, err
		}
		k = knownToken{d.Token, now}
		t.mu.Lock()
		if len(t.known) >= mostKnown {
			clear(t.known)
		}
		t.known[hash] = k
		t.mu.Unlock()
	}
	switch k.token.State(now) {
	case "revoked":
		return nil, errRevoked
	case "expired":
		return nil, errExpired
	}
	return &k.token, nil
}

func (t *Tokens) read(name string) (*document, error) {
	data, err := t.in.Get(name)
	if err != nil {
		return nil, fmt.Errorf("read token: %w", err)
	}
	var d document
	if err := json.Unmarshal(data, &d); err != nil || d.Format != format || d.Hash+suffix != name || d.Access != Read && d.Access != Write {
		return nil, fmt.Errorf("read token: %s is damaged, or of a newer version: remove it, and create another", t.in.Where(name))
	}
	return &d, nil
}

// names returns the names of the documents of all tokens.
func (t *Tokens) names() ([]string, error) {
	entries, err := t.in.List("")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list tokens: %w", err)
	}
	var out []string
	for _, e := range entries {
		if hash, ok := strings.CutSuffix(e.Name, suffix); ok && store.IsHash(hash) && !e.Folder {
			out = append(out, e.Name)
		}
	}
	return out, nil
}

// Ready returns an error if tokens can't be read from their store.
func (t *Tokens) Ready() error {
	_, err := t.names()
	return err
}

// List returns all tokens, the oldest first. The error lists tokens that can't be read.
func (t *Tokens) List() ([]Token, error) {
	names, err := t.names()
	if err != nil {
		return nil, err
	}
	var out []Token
	var bad []error
	for _, name := range names {
		d, err := t.read(name)
		if err != nil {
			bad = append(bad, err)
			continue
		}
		out = append(out, d.Token)
	}
	slices.SortStableFunc(out, func(a, b Token) int { return a.Created.Compare(b.Created) })
	return out, errors.Join(bad...)
}

// Revoke ends a token for good. The token is named by its id or by the first characters of the
// id. A revoked token can't be restored.
func (t *Tokens) Revoke(id string, now time.Time) (*Token, error) {
	names, err := t.names()
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return len(id) < 4 || !strings.HasPrefix(name, id) })
	switch len(names) {
	case 0:
		return nil, fmt.Errorf("%q: %w", id, ErrNone)
	case 1:
	default:
		return nil, fmt.Errorf("%q: %d tokens begin so: give all of the id", id, len(names))
	}
	d, err := t.read(names[0])
	if err != nil {
		return nil, err
	}
	if !d.Revoked.IsZero() {
		return &d.Token, nil
	}
	d.Revoked = now.UTC()
	return &d.Token, t.put(d.Hash, &d.Token)
}
