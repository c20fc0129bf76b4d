package token

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/internal/store"
)

var now = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func TestTokenLetsIn(t *testing.T) {
	dir := t.TempDir()
	ts := In(store.Files(dir))
	made, secret, err := ts.Create(Rights{Tenant: "acme", Access: Write, Expires: now.Add(time.Hour)}, now)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ts.Find(secret, now)
	if err != nil || got.ID != made.ID || got.Tenant != "acme" || got.Access != Write {
		t.Fatalf("%+v, %v", got, err)
	}
	if _, err := ts.Find(secret, now.Add(time.Hour)); !errors.Is(err, errExpired) {
		t.Errorf("at its end: %v", err)
	}
	if _, err := In(store.Files(dir)).Revoke(made.ID[:6], now); err != nil {
		t.Fatal(err)
	}
	if _, err := ts.Find(secret, now); !errors.Is(err, errRevoked) {
		t.Errorf("after another process revoked it: %v", err)
	}
	if all, err := ts.List(); err != nil || len(all) != 1 || all[0].State(now) != "revoked" {
		t.Errorf("%+v, %v", all, err)
	}
}

// What is kept is for nobody but its owner to read, and holds no token.
func TestTokenIsNotKept(t *testing.T) {
	dir := t.TempDir()
	_, secret, err := In(store.Files(dir)).Create(Rights{Access: Read}, now)
	if err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "tokens", "*.json"))
	if len(files) != 1 {
		t.Fatalf("files: %v", files)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(data), secret[len(mark):]) || strings.Contains(files[0], secret[len(mark):]) {
		t.Error("the token itself is kept")
	}
	if fi, _ := os.Stat(files[0]); fi.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", fi.Mode())
	}
}

func TestTokenRefuses(t *testing.T) {
	dir := t.TempDir()
	ts := In(store.Files(dir))
	made, secret, err := ts.Create(Rights{Access: Read}, now)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"", mark, secret[:len(secret)-1], secret + "A", strings.ToUpper(secret), " " + secret, secret + "\x00", store.Sum([]byte(secret)), made.ID,
		mark + strings.Repeat("../", 14) + "x", "mkt_" + strings.Repeat("A", 43)} {
		if _, err := ts.Find(s, now); !errors.Is(err, errUnknown) {
			t.Errorf("%q: %v", s, err)
		}
	}
	for _, r := range []Rights{{}, {Access: "admin"}, {Access: Read, Expires: now}, {Access: Read, Tenant: "a\nb"}, {Access: Read, Agent: "a:b"}, {Access: Read, Prefix: strings.Repeat("x", maxWord+1)}, {Access: Read, Note: "\xff"}} {
		if _, _, err := ts.Create(r, now); err == nil {
			t.Errorf("%+v is made", r)
		}
	}
	for _, id := range []string{"", "ab", "zzzz", "../" + made.ID} {
		if _, err := ts.Revoke(id, now); !errors.Is(err, ErrNone) {
			t.Errorf("revoke %q: %v", id, err)
		}
	}
	// A document under another's name lets nobody in.
	data, err := os.ReadFile(filepath.Join(dir, "tokens", store.Sum([]byte(secret))+".json"))
	if err != nil {
		t.Fatal(err)
	}
	other := mark + strings.Repeat("B", 43)
	if err := os.WriteFile(filepath.Join(dir, "tokens", store.Sum([]byte(other))+".json"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ts.Find(other, now); err == nil {
		t.Error("a copied document lets in")
	}
}

// What is remembered is not read again for so long, nor longer.
func TestRemember(t *testing.T) {
	dir, now := t.TempDir(), time.Date(2026, 11, 3, 9, 0, 0, 0, time.UTC)
	here, elsewhere := In(store.Files(dir)).Remember(2*time.Second), In(store.Files(dir))
	find := func(secret string, after time.Duration, want error) {
		t.Helper()
		if tok, err := here.Find(secret, now.Add(after)); !errors.Is(err, want) || (err == nil) != (tok != nil) {
			t.Errorf("after %v: %v, %v; want %v", after, tok, err, want)
		}
	}
	made, secret, err := elsewhere.Create(Rights{Access: Read, Expires: now.Add(time.Hour)}, now)
	if err != nil {
		t.Fatal(err)
	}
	find(secret, 0, nil)
	if _, err := elsewhere.Revoke(made.ID, now); err != nil {
		t.Fatal(err)
	}
	find(secret, time.Second, nil)
	find(secret, 2*time.Second, errRevoked)
	find(secret, time.Second, errRevoked) // a clock that went back
	if _, secret, err = here.Create(Rights{Access: Read, Expires: now.Add(time.Second)}, now); err != nil {
		t.Fatal(err)
	}
	find(secret, 0, nil)
	find(secret, time.Second, errExpired)
	if made, secret, err = here.Create(Rights{Access: Read}, now); err != nil {
		t.Fatal(err)
	}
	find(secret, 0, nil)
	if _, err := here.Revoke(made.ID, now); err != nil {
		t.Fatal(err)
	}
	find(secret, 0, errRevoked)
}
