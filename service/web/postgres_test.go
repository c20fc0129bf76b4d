package web

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/service/internal/pgtest"
	"github.com/memkernel/memkernel/service/postgres"
	"github.com/memkernel/memkernel/service/token"
)

// database makes a server with a database whose owner may make roles and is no superuser;
// super is who sees all of it.
func database(t *testing.T) (dsn string, super *pgx.Conn) {
	t.Helper()
	at, stop, err := pgtest.Start()
	if err != nil {
		t.Skipf("no PostgreSQL: %v", err)
	}
	t.Cleanup(stop)
	super, err = pgx.Connect(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { super.Close(context.Background()) })
	for _, q := range []string{`CREATE ROLE owner LOGIN CREATEROLE`, `GRANT CREATE ON DATABASE postgres TO owner`} {
		if _, err := super.Exec(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	return regexp.MustCompile(`user=\S+`).ReplaceAllString(at, "user=owner"), super
}

// machine is a server of the tenants that a database has.
func machine(t *testing.T, dsn string, super *pgx.Conn) *house {
	t.Helper()
	if err := postgres.Bound(t.Context(), postgres.Options{DSN: dsn, Root: "shop"}); err != nil {
		t.Fatal(err)
	}
	all, err := postgres.Open(t.Context(), postgres.Options{DSN: dsn, Root: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { all.Close() })
	root := func(tenant string) string { return "shop/tenants/" + textutil.SafeName(tenant) }
	rows := func(tenant string) map[string]string {
		out := map[string]string{}
		rows, err := super.Query(context.Background(), `WITH t AS (SELECT id FROM memkernel.tenants WHERE name=$1::text)
			SELECT folder || '/' || name, md5(data) FROM memkernel.documents, t WHERE tenant=t.id
			UNION ALL SELECT 'blobs/' || hash, md5(data) FROM memkernel.blobs, t WHERE tenant=t.id
			UNION ALL SELECT session || '/' || log || '/' || seq, md5(body::text) FROM memkernel.log, t WHERE tenant=t.id`, root(tenant))
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var at, sum string
			if err := rows.Scan(&at, &sum); err != nil {
				t.Fatal(err)
			}
			out[at] = sum
		}
		if rows.Err() != nil || len(out) == 0 {
			t.Fatalf("%s has nothing: %v", tenant, rows.Err())
		}
		return out
	}
	return serveHouse(t, &house{t: t, root: t.TempDir(), tokens: token.In(all.State()), rows: rows,
		state: func(ctx context.Context, tenant string) (*postgres.Store, error) {
			return postgres.OpenTenant(ctx, postgres.Options{DSN: dsn, Root: root(tenant)})
		},
		blobs: func(tenant string) (out []string) {
			for at := range rows(tenant) {
				if hash, ok := strings.CutPrefix(at, "blobs/"); ok {
					out = append(out, hash)
				}
			}
			return out
		}})
}

// What TestAttacks tries of tenants whose state is in a database, and tokens there, too.
func TestAttacksOnPostgres(t *testing.T) {
	dsn, super := database(t)
	attacks(t, machine(t, dsn, super))
	tenantNames(t, machine(t, dsn, super))
	oneRevocation(t, machine(t, dsn, super), machine(t, dsn, super))
}

func TestAttacksByNames(t *testing.T) { tenantNames(t, newHouse(t)) }

// tenantNames: tenants whose names are the beginning of another's, lead into another's
// folder or root, or have the words of a database in them, are others.
func tenantNames(t *testing.T, h *house) {
	b := h.token(token.Rights{Tenant: "victim"})
	h.well(b, "remember", `{"text":"`+ofB+` is the word","private":true,"path":"MEMORY.md"}`)
	h.well(b, "observe_turn", turn("a/one", ofB))
	pageOf(h, b, "a/one", ofB)
	before, blob := h.ofTenant("victim"), blobsOf(t, h, "victim")[0]
	n := 0
	for _, name := range []string{"victi", "victim ", "victim/", "victim/x", "Victim", "VICTIM", "../victim", "./victim", "x/../victim", "victim/.", "tenants/victim", "shop/tenants/victim", "/victim", "victim.", "v%", "victi_", "victim'--", "' OR ''='", "victim'; DROP TABLE documents; --", "$1", "\u200bvictim", "vіctim", "victim\u2215", strings.Repeat("victim/", 20)} {
		a := h.token(token.Rights{Tenant: name})
		for method, params := range map[string]string{"restore": `{"session_key":"a/one"}`, "pages": `{"session_key":"a/one"}`, "get": `{"session_key":"a/one","id":"` + blob + `"}`,
			"read": `{"private":true,"path":"MEMORY.md"}`, "search": `{"private":true,"query":"heron word crimson"}`, "forget": `{"session_key":"a/one","all":true,"apply":true}`, "retain": `{"apply":true,"now":"2100-01-01T00:00:00Z"}`, "remember": `{"text":"planted","path":"MEMORY.md"}`} {
			n++
			if g := h.call(a, method, params); g.status >= 500 || strings.Contains(g.body, ofB) {
				t.Errorf("tenant %q: %s: %d %.300s", name, method, g.status, g.body)
			}
		}
	}
	if diff := changed(before, h.ofTenant("victim")); len(diff) > 0 {
		t.Errorf("changed of the tenant: %v", diff)
	}
	if text := fmt.Sprint(h.well(b, "pages", `{"session_key":"a/one"}`)); !strings.Contains(text, ofB) {
		t.Errorf("the tenant's pages: %s", text)
	}
	t.Logf("%d tries by names", n)
}

// oneRevocation: a token that one machine makes or revokes counts on the other from its next
// request on.
func oneRevocation(t *testing.T, one, other *house) {
	made, secret, err := one.tokens.Create(token.Rights{Tenant: "c", Access: token.Write}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	one.well(secret, "observe_turn", turn("s", "plain"))
	pageOf(one, secret, "s", "plain")
	if text := fmt.Sprint(other.well(secret, "pages", `{"session_key":"s"}`)); !strings.Contains(text, "plain") {
		t.Errorf("pages on the other machine: %s", text)
	}
	if _, err := other.tokens.Revoke(made.ID, time.Now()); err != nil {
		t.Fatal(err)
	}
	for _, h := range []*house{one, other} {
		if g := h.call(secret, "pages", `{"session_key":"s"}`); g.status != 401 || g.code() != "TOKEN" {
			t.Errorf("a token that was revoked on another machine: %d %s", g.status, g.body)
		}
	}
}
