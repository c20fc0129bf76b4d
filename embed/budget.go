package embed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"sync"
	"time"

	"github.com/memkernel/memkernel/internal/store"
)

// Budget limits the number of tokens that are sent in a day. The count of sent tokens is in a
// file, which several processes may share. The estimated tokens of a request are written before
// the request is sent, and then replaced by the billed tokens that the server reports. After a
// kill in between, the estimate counts.
type Budget struct {
	in    store.Store
	name  string
	path  string // of the file, for messages
	limit int
	loc   *time.Location
	now   func() time.Time

	mu sync.Mutex // the lock on a file holds processes apart, not goroutines
}

// NewBudget returns a budget of perDay tokens a day, at least 1, with its count in the file at
// path. Days begin at midnight in loc; nil means the local time zone. now is the clock; nil means
// the system's clock. The file is made when something is sent.
func NewBudget(path string, perDay int, loc *time.Location, now func() time.Time) *Budget {
	if loc == nil {
		loc = time.Local
	}
	if now == nil {
		now = time.Now
	}
	return &Budget{in: store.Files(filepath.Dir(path)), name: filepath.Base(path), path: path, limit: perDay, loc: loc, now: now}
}

// ErrBudget is wrapped by the error of a request for which the day has no tokens
// left.
var ErrBudget = errors.New("the day's budget of tokens is used up")

// ErrNever is wrapped by the error of a text that needs more tokens than a whole day has. Waiting
// doesn't help then.
var ErrNever = errors.New("it takes more tokens than a whole day's budget has")

// ledger is the file of a Budget.
type ledger struct {
	Format int    `json:"format"`
	Day    string `json:"day"`
	Tokens int    `json:"tokens"`
}

// ledgerFormat is the only version of the file.
const ledgerFormat = 1

// Spent returns the tokens sent today so far, and the limit of a day.
func (b *Budget) Spent() (tokens, perDay int, err error) {
	l, err := b.read()
	return l.Tokens, b.limit, err
}

func (b *Budget) today() string { return b.now().In(b.loc).Format(time.DateOnly) }

// read returns today's ledger. The ledger of another day counts as empty.
func (b *Budget) read() (ledger, error) {
	today := ledger{Format: ledgerFormat, Day: b.today()}
	raw, err := b.in.Get(b.name)
	if errors.Is(err, fs.ErrNotExist) {
		return today, nil
	}
	if err != nil {
		return today, fmt.Errorf("read budget: %w", err)
	}
	var l ledger
	if err := json.Unmarshal(raw, &l); err != nil || l.Format != ledgerFormat || l.Tokens < 0 {
		return today, fmt.Errorf("read budget: %s is no budget file of version %d: delete it, which forgets what was sent today", b.path, ledgerFormat)
	}
	if l.Day != today.Day {
		return today, nil
	}
	return l, nil
}

// left returns the tokens that are left today. If the ledger can't be read, left returns the
// whole day's tokens, and take returns the error.
func (b *Budget) left() int {
	if b == nil {
		return math.MaxInt
	}
	l, err := b.read()
	if err != nil {
		return b.limit
	}
	return max(0, b.limit-l.Tokens)
}

// take writes an estimate of tokens to the ledger before they are sent, and returns the day. It
// returns an error if they may not be sent.
func (b *Budget) take(tokens int) (day string, err error) {
	if b == nil {
		return "", nil
	}
	if tokens > b.limit {
		return "", &Error{Texts: true, Err: fmt.Errorf("%w: about %d, and a day has %d", ErrNever, tokens, b.limit), Hint: fmt.Sprintf("raise daily_tokens to %d at least", tokens)}
	}
	err = b.change(func(l *ledger) error {
		if l.Tokens+tokens > b.limit {
			return &Error{Err: fmt.Errorf("%w: %d of %d were sent on %s, and this takes about %d", ErrBudget, l.Tokens, b.limit, l.Day, tokens),
				Hint: fmt.Sprintf("it goes on after midnight (%s); or raise daily_tokens", b.loc)}
		}
		day = l.Day
		l.Tokens += tokens
		return nil
	})
	return day, err
}

// settle replaces the estimate of a day with the billed tokens. Tokens sent before midnight no
// longer count after it.
func (b *Budget) settle(day string, estimate, billed int) error {
	if b == nil || billed == estimate {
		return nil
	}
	return b.change(func(l *ledger) error {
		if l.Day == day {
			l.Tokens = max(0, l.Tokens+billed-estimate)
		}
		return nil
	})
}

// change rewrites the ledger under the lock.
func (b *Budget) change(f func(*ledger) error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	release, err := store.Wait(context.Background(), b.in, b.name+".lock", store.Alone)
	if err != nil {
		return fmt.Errorf("lock budget %s: %w", b.path, err)
	}
	defer release()
	l, err := b.read()
	if err != nil {
		return err
	}
	if err := f(&l); err != nil {
		return err
	}
	raw, err := json.Marshal(l)
	if err != nil {
		return err
	}
	if _, err := b.in.Put(store.Synced, store.Doc{Name: b.name, Data: append(raw, '\n')}); err != nil {
		return fmt.Errorf("write budget: %w", err)
	}
	return nil
}
