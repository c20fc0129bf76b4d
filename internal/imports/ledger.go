package imports

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/memkernel/memkernel/internal/store"
)

// Ledger records the imports into a workspace. With it, a second import adds only new sessions
// and facts, and leaves out sessions and facts that were forgotten since. It holds hashes and no
// contents, except for the batch of facts that is being written.
type Ledger struct {
	in       store.Store
	sessions map[string]string // prints, by key
	stores   map[Format]*kept
}

// kept is the known state of a store.
type kept struct {
	Format int `json:"format"`
	// Known lists the IDs of the imported facts.
	Known []string `json:"known"`
	// Part is the number of the file that is being written. Bytes is the number of bytes written
	// to it.
	Part  int   `json:"part"`
	Bytes int64 `json:"bytes"`
	// Pending is a batch that is possibly not written yet.
	Pending *batch `json:"pending,omitempty"`

	set map[string]bool
}

// batch holds facts that go into memory as one entry.
type batch struct {
	ID    string   `json:"id"`
	Path  string   `json:"path"`
	Text  string   `json:"text"`
	Facts []string `json:"facts"`
}

const ledgerFormat = 1

// OpenLedger reads the ledger of a state folder. It makes no file.
func OpenLedger(stateDir string) (*Ledger, error) {
	l := &Ledger{in: store.Files(stateDir).In("import"), sessions: map[string]string{}, stores: map[Format]*kept{}}
	var doc sessionsDoc
	if err := l.get("sessions.json", &doc); err != nil {
		return nil, err
	}
	if doc.Sessions != nil {
		l.sessions = doc.Sessions
	}
	return l, nil
}

type sessionsDoc struct {
	Format   int               `json:"format"`
	Sessions map[string]string `json:"sessions"`
}

func (l *Ledger) get(name string, v any) error {
	data, err := l.in.Get(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w; move it away, and all is read again, which brings nothing twice but facts of stores that changed since", l.in.Where(name), err)
	}
	return nil
}

func (l *Ledger) put(name string, v any) error {
	data, err := json.Marshal(v)
	if err == nil {
		_, err = l.in.Put(store.Synced, store.Doc{Name: name, Data: append(data, '\n')})
	}
	return err
}

// Lock keeps two writing imports from running at the same time.
func (l *Ledger) Lock(ctx context.Context) (release func(), err error) {
	release, err = store.Wait(ctx, l.in, "lock", store.Alone)
	if err != nil {
		return nil, fmt.Errorf("wait for another import: %w", err)
	}
	return release, nil
}

// Has reports whether a session was imported in its present form.
func (l *Ledger) Has(s *Session) bool { return l.sessions[s.Key()] == s.Print }

// Knew reports whether a session was ever imported.
func (l *Ledger) Knew(s *Session) bool { return l.sessions[s.Key()] != "" }

// Took notes that a session is imported. Callers must call Save to keep the note.
func (l *Ledger) Took(s *Session) { l.sessions[s.Key()] = s.Print }

// Save records the imported sessions. If a session is lost from the record, the next import reads
// the session again and recognizes it.
func (l *Ledger) Save() error {
	return l.put("sessions.json", sessionsDoc{ledgerFormat, l.sessions})
}

func (l *Ledger) store(f Format) (*kept, error) {
	if k := l.stores[f]; k != nil {
		return k, nil
	}
	k := &kept{Format: ledgerFormat, Part: 1}
	if err := l.get("facts-"+string(f)+".json", k); err != nil {
		return nil, err
	}
	k.set = make(map[string]bool, len(k.Known))
	for _, id := range k.Known {
		k.set[id] = true
	}
	l.stores[f] = k
	return k, nil
}

// ID returns the ID of a fact, which depends on its text and not on its place.
func (f *Fact) ID() string {
	return hash(string(f.Format) + "\x00" + f.Topic + "\x00" + f.Text)[:24]
}

// HasFact reports whether a fact was imported.
func (l *Ledger) HasFact(f *Fact) (bool, error) {
	k, err := l.store(f.Format)
	return err == nil && k.set[f.ID()], err
}

// partBytes is the size of a file at which the next facts go into a new file.
const partBytes = 512 << 10

// folder is the folder of memory that holds facts.
const folder = "memory/imported/"

// Write writes facts of one store and day to memory as one entry, by the function write. It saves
// the entry before that, so that a kill at any moment duplicates no fact. Without facts it writes
// the entry that a killed import of the store left, if there is one. The parameter mask removes
// secrets from a text.
func (l *Ledger) Write(f Format, facts []*Fact, mask func(string) string, write func(path, id, text string) error) error {
	k, err := l.store(f)
	if err != nil {
		return err
	}
	name := "facts-" + string(f) + ".json"
	if len(facts) > 0 {
		k.Pending = k.next(facts, mask)
		if err := l.put(name, k); err != nil {
			return err
		}
	}
	b := k.Pending
	if b == nil {
		return nil
	}
	if err := write(b.Path, b.ID, b.Text); err != nil {
		return err
	}
	for _, id := range b.Facts {
		if !k.set[id] {
			k.set[id] = true
			k.Known = append(k.Known, id)
		}
	}
	k.Bytes += int64(len(b.Text))
	k.Pending = nil
	return l.put(name, k)
}

// next returns the entry for facts of one store and day.
func (k *kept) next(facts []*Fact, mask func(string) string) *batch {
	b := &batch{Text: strings.ToValidUTF8(mask(markdown(facts)), "\uFFFD")}
	for _, f := range facts {
		b.Facts = append(b.Facts, f.ID())
	}
	if k.Bytes > partBytes {
		k.Part, k.Bytes = k.Part+1, 0
	}
	name := string(facts[0].Format)
	if day := facts[0].Day; day != "" {
		name += "-" + day
	}
	if k.Part > 1 {
		name = fmt.Sprintf("%s-%d", name, k.Part)
	}
	b.Path = folder + name + ".md"
	b.ID = "import:" + hash(b.Path + "\x00" + strings.Join(b.Facts, " "))[:24]
	return b
}

// markdown writes facts in the form of memory. Facts are items under the heading of their topic,
// each with its origin.
func markdown(facts []*Fact) string {
	var b strings.Builder
	topic := ""
	for i, f := range facts {
		if i == 0 || f.Topic != topic {
			if b.Len() > 0 {
				b.WriteString("\n")
			}
			if f.Topic != "" {
				fmt.Fprintf(&b, "## %s\n\n", f.Topic)
			}
			topic = f.Topic
		}
		fmt.Fprintf(&b, "- %s <!-- from %s:%s -->\n", f.Text, f.Format, strings.NewReplacer("<", "", ">", "", " ", "_", ",", "_").Replace(plain(f.Source)))
	}
	return strings.TrimRight(b.String(), "\n")
}
