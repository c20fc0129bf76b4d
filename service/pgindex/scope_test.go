//go:build unix

package pgindex

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/index"
)

// TestScopes: one's own files, and what others share; nothing of other workspaces,
// and nothing private.
func TestScopes(t *testing.T) {
	ann := freshSchema(t)
	bob, eve := ann, ann
	bob.Agent, eve.Workspace = "bob", "elsewhere"
	a, b := open(t, ann), open(t, bob)
	fill(t, a, notes, day)
	fill(t, b, files{
		"MEMORY.md":            "Bob's vault code is 0815.",
		"memory/2026-01-01.md": "We deploy on Friday from staging.\n\nBob broke staging.", // the first is Ann's too
	}, day)
	e := open(t, eve)
	fill(t, e, files{"memory/e.md": "something else"}, day)

	for _, c := range []struct {
		who            *Index
		question, want string
	}{
		{a, "vault code", "MEMORY.md:1"},
		{b, "vault code", "MEMORY.md:1"},
		{a, "broke staging", "@bob/memory/2026-01-01.md:3 memory/2026-01-01.md:3 memory/2026-01-01.md:1"},
		{b, "broke staging", "memory/2026-01-01.md:3 @ann/memory/2026-01-01.md:3 memory/2026-01-01.md:1"},
		{e, "staging vault code database", ""},
		{e, "something", "memory/e.md:1"},
		{a, "something", ""},
	} {
		if got := places(find(t, c.who, c.question)); got != c.want {
			t.Errorf("%s asks %q: %q, want %q", c.who.site.place, c.question, got, c.want)
		}
	}
	for _, h := range find(t, a, "vault code") {
		if !strings.Contains(h.Text, "4711") {
			t.Errorf("Ann reads %q", h.Text)
		}
	}
	sound(t, a)
	sound(t, b)

	// What others have is theirs: neither Sync nor Rebuild touches it.
	if _, err := a.Sync(context.Background(), files{}.source(day), nil, nil); err != nil {
		t.Fatal(err)
	}
	fresh, err := Rebuild(context.Background(), ann, nil)
	if err != nil {
		t.Fatal(err)
	}
	fresh.Close()
	if got := places(find(t, b, "broke staging")); got != "memory/2026-01-01.md:3 memory/2026-01-01.md:1" {
		t.Errorf("after Ann left Bob finds %s", got)
	}
}

// A vector shows nobody a text that is not theirs to see.
func TestVectorScopes(t *testing.T) {
	ann := freshSchema(t)
	bob := ann
	bob.Agent = "bob"
	a, b := open(t, ann), open(t, bob)
	withVectors(t, a)
	fill(t, a, notes, day)
	fill(t, b, files{"memory/b.md": "We deploy on Friday from staging."}, day)
	at := []float32{1, 2, 3, 4}
	embedded(t, a, "m", 4, "The vault code is 4711.", at)
	if err := b.UseModel(context.Background(), "m", 4); err != nil {
		t.Fatal(err)
	}
	for range b.MissingEmbeddings(context.Background(), "m") {
		// Another heading, so another text.
	}
	h, err := b.Search(context.Background(), index.Query{Text: "secret", Model: "m", Vector: at, K: 10})
	if err != nil || h.VectorErr != nil {
		t.Fatal(err, h.VectorErr)
	}
	for _, x := range h.Vector {
		if strings.Contains(x.Path, "MEMORY.md") || strings.Contains(x.Text, "4711") {
			t.Errorf("Bob sees %s: %q", x.Path, x.Text)
		}
	}
	if len(h.Vector) == 0 {
		t.Error("Bob sees nothing that Ann shares")
	}
}

// A file that stops being private, or becomes so, changes who finds it.
func TestPrivacyChanges(t *testing.T) {
	ann := freshSchema(t)
	bob := ann
	bob.Agent = "bob"
	fill(t, open(t, ann), notes, day)
	b := open(t, bob)
	fill(t, b, files{"memory/b.md": "b"}, day)
	if got := places(find(t, b, "port")); got != "@ann/memory/2026-01-01.md:3" {
		t.Fatalf("shared: %s", got)
	}
	ann.Private = nil // all
	ix := open(t, ann)
	if _, err := ix.Sync(context.Background(), notes.source(day), notes.read, &index.SyncOptions{Full: true}); err != nil {
		t.Fatal(err)
	}
	if got := places(find(t, b, "port")); got != "" {
		t.Errorf("private now, but Bob finds %s", got)
	}
	sound(t, ix)
}

// TestEveryStatementIsScoped holds every statement of this package that touches
// files or chunks to the predicate by which scopes are kept apart. What
// inserts names the scope as a column.
func TestEveryStatementIsScoped(t *testing.T) {
	touches := regexp.MustCompile(`(?i)\b(from|join|update|into)\s+(files|chunks)\b`)
	inserts := regexp.MustCompile(`(?is)^\s*INSERT INTO (files|chunks)\([^)]*\bscope\b`)
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") || e.Name() == "schema.go" {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), e.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(node ast.Node) bool {
			q, ok := literal(node)
			if !ok || !touches.MatchString(q) {
				return !ok
			}
			n++
			if !strings.Contains(q, "scope = ANY($1::integer[])") && !inserts.MatchString(q) {
				t.Errorf("%s: a statement without its scope:\n%s", e.Name(), q)
			}
			return false
		})
	}
	if n < 15 {
		t.Errorf("only %d statements were found", n)
	}
}

// literal is the text of a string, or of several that are added.
func literal(node ast.Node) (string, bool) {
	switch x := node.(type) {
	case *ast.BasicLit:
		if x.Kind == token.STRING {
			s, err := strconv.Unquote(x.Value)
			return s, err == nil
		}
	case *ast.BinaryExpr:
		l, lok := literal(x.X)
		r, rok := literal(x.Y)
		return l + r, x.Op == token.ADD && (lok || rok)
	}
	return "", false
}

// What is wrong is reported without the password, whatever form the DSN has.
func TestErrorsHideThePassword(t *testing.T) {
	const secret = "hunter2"
	for _, dsn := range []string{
		"postgres://me:" + secret + "@127.0.0.1:1/x?connect_timeout=1",
		"host=127.0.0.1 port=1 user=me password=" + secret + " dbname=x",
		"postgres://me:" + secret + "@%zz/x",
		"password=" + secret,
		secret,
	} {
		_, err := Open(context.Background(), Options{DSN: dsn, Workspace: "w"}, nil)
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%v", err)
		}
		if o := (Options{DSN: dsn, Workspace: "w"}); strings.Contains(o.Place(), secret) {
			t.Errorf("place %s", o.Place())
		}
	}
	_, err := Open(context.Background(), Options{DSN: "host=127.0.0.1 port=1 user=me", Workspace: "w"}, nil)
	if !errors.Is(err, errUnreachable) {
		t.Errorf("nobody listens: %v", err)
	}
}

// The environment's passwords and hosts are not used.
func TestEnvironmentIsNoChoice(t *testing.T) {
	t.Setenv("PGPASSWORD", "hunter2")
	t.Setenv("PGHOST", "example.com")
	o := Options{DSN: "host=127.0.0.1 user=me", Workspace: "w"}
	if err := o.check(); err != nil {
		t.Fatal(err)
	}
	c, err := o.pool()
	if err != nil || c.ConnConfig.Password != "" {
		t.Errorf("password %q, %v", c.ConnConfig.Password, err)
	}
	if _, err := (&Options{DSN: "user=me", Workspace: "w"}).pool(); err == nil {
		t.Error("a DSN without a host is taken")
	}
}
