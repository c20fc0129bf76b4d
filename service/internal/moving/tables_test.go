package moving_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/service/internal/moving"
	"github.com/memkernel/memkernel/service/internal/rows"
)

// tables makes a database with the tables of an earlier version, in which a state and that of a
// tenant are. The program of 29 November 2026 wrote them.
func tables(t *testing.T) (o rows.Options, exec func(sql string)) {
	t.Helper()
	server.Owned(t)
	name := fmt.Sprint("old", schemas.Add(1))
	run := func(dsn, sql string) {
		t.Helper()
		c, err := pgx.Connect(context.Background(), dsn)
		if err == nil {
			_, err = c.PgConn().Exec(context.Background(), sql).ReadAll()
			err = errors.Join(err, c.Close(context.Background()))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	run(server.DSN(t), "CREATE DATABASE "+name)
	o = rows.Options{DSN: strings.Replace(server.DSN(t), "dbname=postgres", "dbname="+name, 1), Root: "shop"}
	dump, err := os.ReadFile("testdata/old.sql")
	if err != nil {
		t.Fatal(err)
	}
	run(o.DSN, string(dump))
	return o, func(sql string) { t.Helper(); run(o.DSN, sql) }
}

const tenants = "shop/tenants/"

// conversation has the first turns of the session s.
func conversation(turns int) (msgs []memkernel.Message, now time.Time) {
	rng := rand.New(rand.NewPCG(2, 3))
	now = time.Date(2026, 11, 3, 9, 0, 0, 0, time.UTC)
	add := func(role memkernel.Role, p memkernel.Part) {
		now = now.Add(20 * time.Second)
		msgs = append(msgs, memkernel.Message{Key: fmt.Sprintf("m%04d", len(msgs)), Role: role, Parts: []memkernel.Part{p}, Time: now, Model: model})
	}
	words := func(s string) memkernel.Part {
		return memkernel.Part{Kind: memkernel.PartText, Text: s, Typed: true}
	}
	for i := range turns {
		if i > 0 {
			add(memkernel.RoleAssistant, words("It retries now, and the test passes."))
		}
		add(memkernel.RoleUser, words(fmt.Sprintf("Make the retry test of worker %d pass, please.", len(msgs))))
		id := fmt.Sprint("call_", len(msgs))
		add(memkernel.RoleAssistant, memkernel.Part{Kind: memkernel.PartToolUse, Call: &memkernel.ToolCall{ID: id, Name: "Read", Input: fmt.Sprintf(`{"file_path":"pkg/queue/worker_%d.go"}`, rng.IntN(9))}})
		var b strings.Builder
		for b.Len() < 5000 {
			fmt.Fprintf(&b, "func (w *Worker) step%d(ctx context.Context) error { // %x\n", b.Len(), rng.Int64())
		}
		add(memkernel.RoleUser, memkernel.Part{Kind: memkernel.PartToolResult, Result: &memkernel.ToolResult{CallID: id, Content: []memkernel.Part{words(b.String())}, Text: true}})
	}
	return msgs, now
}

const model = "claude-opus-4-5"

// The state of an earlier version is found, not taken for empty, and moved with its tenants, also
// after the move was cut short. Its sessions go on.
func TestTables(t *testing.T) {
	o, exec := tables(t)
	refused := func(when, why string) {
		t.Helper()
		for _, root := range []string{"shop", tenants + "anna"} {
			at := o
			at.Root = root
			s, err := rows.Open(t.Context(), at)
			if err == nil {
				_, err = kernel.Open(t.Context(), t.TempDir(), &kernel.Options{Store: kept{s}, StateDir: t.TempDir()})
				s.Close()
			}
			if err == nil || !strings.Contains(err.Error(), "migrate --state") {
				t.Errorf("%s: %s was opened: %v", when, root, err)
			}
			if root == "shop" && err != nil && !strings.Contains(err.Error(), why) {
				t.Errorf("%s: %v", when, err)
			}
		}
	}
	refused("before", "migrate --state --from tables --to postgres")
	other := o
	other.Root = "another"
	if s, err := rows.Open(t.Context(), other); err != nil {
		t.Errorf("a state that the tables do not have: %v", err)
	} else {
		s.Close()
	}

	moved := false
	tenant := o
	tenant.Root = tenants + "anna"
	for at := 0; ; at++ { // every document in turn; tenants come first
		ctx, cancel := context.WithCancel(t.Context())
		p, begun := options(), 0
		p.Progress = func(what string, _, _ int) {
			if begun++; begun > at {
				cancel()
			}
		}
		r, left, err := moving.Tables(ctx, o, tenants, p)
		cancel()
		if err == nil {
			if len(left) > 0 || r.Documents != 12+3 { // the documents of the state, and the files of its workspace
				t.Errorf("%+v, %v", r, left)
			}
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if at == 0 {
			refused("at the first document", "migrate --state")
		}
		s, err := rows.Open(t.Context(), tenant)
		if err != nil {
			t.Fatal(err)
		}
		if _, half := store.HalfMoved(s); half == nil && !moved {
			goesOn(t, tenant, 1) // and the next move leaves it alone
			moved = true
		}
		s.Close()
	}
	if !moved {
		t.Error("no move ended between two states")
	}
	goesOn(t, o, 3)
	if _, _, err := moving.Tables(t.Context(), o, tenants, options()); err == nil || !strings.Contains(err.Error(), "that was not moved") {
		t.Errorf("again: %v", err)
	}
	exec(`SELECT 1/(count(*)=28)::int FROM memkernel_state.files`) // an error if another number is left
}

// goesOn opens a moved state and makes the next turn.
func goesOn(t *testing.T, o rows.Options, turns int) {
	t.Helper()
	ctx := t.Context()
	s, err := rows.Open(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	files := markdownstore.New(s.Workspace(), &markdownstore.Options{Private: true})
	for name, want := range map[string]string{"MEMORY.md": "The queue of " + o.Root + " is retried three times.", "memory/queue.md": "Workers of " + o.Root + " sleep for a second between retries."} {
		if l, err := files.ReadFile(name); err != nil || !strings.Contains(l.Text, want) {
			t.Errorf("%s: %s: %+v, %v", o.Root, name, l, err)
		}
	}
	k, err := kernel.Open(ctx, t.TempDir(), &kernel.Options{Store: kept{s}, StateDir: t.TempDir(), Memory: kernel.MemoryOptions{Files: s.Workspace()}})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	if found, err := k.Check(ctx); err != nil || len(found) > 0 {
		t.Errorf("%s: %+v, %v", o.Root, found, err)
	}
	st, _, err := k.SessionStatus(ctx, "s")
	if err != nil || st.Turns != turns || st.Pages == 0 || len(st.Life.Checkpoints) != 1 {
		t.Errorf("%s: %+v, %v", o.Root, st, err)
	}
	msgs, now := conversation(turns + 1)
	p, err := k.PlanContext(ctx, api.PlanRequest{SessionKey: "s", Model: model, ContextWindow: 64_000, Messages: msgs, Now: now.Add(time.Second), Private: true, Resolver: "memory_get"})
	if err != nil || len(p.Faults) > 0 {
		t.Fatalf("%s: %+v, %v", o.Root, p, err)
	}
	// The prompt begins with the last one of the earlier version.
	last := map[int]string{3: "83be126a75ba541e31a49aff94e6d8c216fa2790ae412e96350bc84530560614", 1: "038ac6130f2df529224c089427269d574460444d8ebe8831874b688880f088c9"}[turns]
	n := 4*turns + 1
	b, err := json.Marshal(p.Messages[:n])
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%x", sha256.Sum256(b)); got != last {
		t.Errorf("%s: the prompt does not go on: %s of %d messages:\n%.3000s", o.Root, got, n, b)
	}
	if _, err := k.ObserveTurn(ctx, api.Turn{SessionKey: "s", Model: model, Messages: append(msgs, memkernel.Message{Key: "answer", Role: memkernel.RoleAssistant, Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: "Done."}}}), PlanID: p.ID, Now: now, Private: true}); err != nil {
		t.Error(err)
	}
}

// What can't be moved is refused, with the way out.
func TestTablesRefused(t *testing.T) {
	for why, sql := range map[string]string{
		"is in use by a host":        `INSERT INTO memkernel_state.locks VALUES(1, 'sessions/s/lock', true, '{"1": 9000000000000000}', 'a host')`,
		"in the bucket s3://large":   `INSERT INTO memkernel_state.objects(content, root, key, size, place, time, named) SELECT content, root, 'k', size, 's3://large', time, true FROM memkernel_state.files WHERE path LIKE '%journal.jsonl'`,
		"the files of /srv/notes":    `UPDATE memkernel_state.workspaces SET moving='/srv/notes'`,
		"restore it from a backup":   `DELETE FROM memkernel_state.pieces WHERE off>0`,
		"of version 5, not 6":        `DELETE FROM memkernel_state.versions WHERE version=6`,
		"versions\" does not exist":  `DROP SCHEMA memkernel_state CASCADE`,
		"also have: shop/tenants/an": `DELETE FROM memkernel_state.files WHERE root=1; DELETE FROM memkernel_state.workspace WHERE root=1; UPDATE memkernel_state.roots SET name='shop/tenants/an' WHERE id=2`,
	} {
		o, exec := tables(t)
		exec(sql)
		if _, _, err := moving.Tables(t.Context(), o, "another/", options()); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", why, err)
		}
	}
}

// A file of the workspace that has another text in the target is not written over.
func TestTablesFilesDiffer(t *testing.T) {
	o, _ := tables(t)
	p := options()
	ctx, cancel := context.WithCancel(t.Context())
	p.Progress = func(string, int, int) { cancel() }
	if _, _, err := moving.Tables(ctx, o, tenants, p); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	o.Filling = true
	s, err := rows.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	files := markdownstore.New(s.Workspace(), &markdownstore.Options{Private: true})
	if _, err := files.Append(t.Context(), "MEMORY.md", "e9", "Another."); err != nil {
		t.Fatal(err)
	}
	if _, _, err := moving.Tables(t.Context(), o, tenants, options()); err == nil || !strings.Contains(err.Error(), "MEMORY.md has another text than") {
		t.Errorf("%v", err)
	}
}
