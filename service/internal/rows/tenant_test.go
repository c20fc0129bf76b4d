package rows_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/service/internal/pgtest"
	"github.com/memkernel/memkernel/service/internal/rows"
)

var userIn, passwordIn = regexp.MustCompile(`user=\S+`), regexp.MustCompile(`password=\S+`)

// house is a schema whose tables belong to a user who is no superuser, as tenants need it.
func house(t testing.TB) (o rows.Options, super *pgx.Conn) {
	t.Helper()
	server.Owned(t)
	o = fresh(t)
	super, err := pgx.Connect(t.Context(), o.DSN)
	if err != nil {
		t.Fatal(err)
	}
	owner := "owner_" + o.Schema
	for _, q := range []string{`CREATE ROLE ` + owner + ` LOGIN CREATEROLE PASSWORD 'of-the-owner'`, `GRANT CREATE ON DATABASE postgres TO ` + owner, `SET search_path=` + o.Schema} {
		if _, err := super.Exec(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		ctx := context.Background()
		_, _ = super.Exec(ctx, `DO $$ DECLARE r text; BEGIN FOR r IN SELECT role FROM tenants WHERE role IS NOT NULL LOOP EXECUTE 'DROP ROLE IF EXISTS ' || r; END LOOP; END $$`)
		_, _ = super.Exec(ctx, `DROP OWNED BY `+owner+` CASCADE`)
		super.Close(ctx)
	})
	o.DSN = userIn.ReplaceAllString(o.DSN, "user="+owner+" password=of-the-owner")
	return o, super
}

func openTenant(t testing.TB, o rows.Options, root string) *rows.Store {
	t.Helper()
	o.Root = root
	s, err := rows.OpenTenant(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// A tenant's store does all that a store does.
func TestTenantsStore(t *testing.T) {
	o, _ := house(t)
	for _, root := range []string{"shop/a", "shop/b"} {
		s, again := openTenant(t, o, root), openTenant(t, o, root)
		for i := range 3 {
			add(t, s, journal, fmt.Sprint(root, i))
			_, err := s.Put(store.Synced, store.Doc{Name: "d", Data: []byte(root)})
			must(t, err)
			release, err := s.Lock("nightly.lock", store.Alone)
			must(t, err)
			if _, err := again.Lock("nightly.lock", store.Alone); err == nil {
				t.Error("two hold one lock")
			}
			release()
			must(t, s.Workspace().PutAsAnother("MEMORY.md", fmt.Sprint(root, i)))
		}
		if ids, err := read(openLog(t, again, journal)); err != nil || !slices.Equal(ids, []string{root + "0", root + "1", root + "2"}) {
			t.Error(ids, err)
		}
		if data, err := again.Get("d"); err != nil || string(data) != root {
			t.Errorf("%q, %v", data, err)
		}
		must(t, again.Move(store.Synced, "sessions/x", "ended/x"))
		_, err := again.Remove(store.Synced, "ended", "d")
		must(t, err)
		if entries, err := s.List(""); err != nil || len(entries) != 0 {
			t.Errorf("%v, %v", entries, err)
		}
	}
}

// ofOther is in what the other tenant has, numberOfOther in all rows of it.
const ofOther, numberOfOther = "CRIMSON-HERON", 777_000_001

// furnish gives a tenant rows in every table.
func furnish(t *testing.T, s *rows.Store, word string) {
	t.Helper()
	blob := []byte(word + " in a blob")
	hash := store.Sum(blob)
	_, err := s.Put(store.Synced, store.Doc{Name: "sessions/" + word + "/session.json", Data: []byte(word)}, store.Doc{Name: "blobs/" + hash[:2] + "/" + hash, Data: blob})
	must(t, err)
	add(t, s, journal, word)
	_, err = s.Lock("nightly-"+word, store.Alone)
	must(t, err)
	must(t, s.Workspace().PutAsAnother("MEMORY.md", word))
	must(t, s.Exec(t.Context(), fmt.Sprintf(`UPDATE %s.folders SET moving='%s' WHERE tenant=%d AND folder='/workspace'`, s.Schema(), word, s.TenantID())))
}

// known are the tables that furnish and the tries below know. One that is new has to be told
// of here, and tried.
var known = []string{"blobs", "documents", "folders", "holds", "log"}

// belongings are the rows of a root, as who may see all sees them.
func belongings(t *testing.T, super *pgx.Conn, root int64) string {
	t.Helper()
	var out strings.Builder
	for _, table := range append([]string{"tenants"}, known...) {
		column := "tenant"
		if table == "tenants" {
			column = "id"
		}
		var n int
		var rows string
		err := super.QueryRow(t.Context(), fmt.Sprintf(`SELECT count(*), coalesce(string_agg(x.*::text, E'\n' ORDER BY x.*::text), '') FROM %s AS x WHERE %s=$1::bigint`, table, column), root).Scan(&n, &rows)
		if err != nil || n == 0 {
			t.Fatalf("%s: %d rows, %v", table, n, err)
		}
		fmt.Fprintln(&out, table, rows)
	}
	return regexp.MustCompile(`": \d+|"": \d+`).ReplaceAllString(out.String(), "lease") // which is renewed
}

// tried are statements of somebody who has the tenant's connection, and the numbers of what
// the other has.
func tried(other, own int64, ownRole, otherRole, owner, schema string) (out []string) {
	add := func(q string, args ...any) {
		q = strings.NewReplacer("$other", fmt.Sprint(other), "$own", fmt.Sprint(own), "$orole", otherRole, "$role", ownRole, "$owner", owner, "$schema", schema).Replace(q)
		if len(args) > 0 {
			q = fmt.Sprintf(q, args...)
		}
		out = append(out, q)
	}
	for _, t := range known {
		add(`SELECT x.*::text FROM %s AS x`, t)
		add(`SELECT x.*::text FROM %s AS x WHERE tenant=$other`, t)
		add(`SELECT x.*::text FROM %s AS x WHERE tenant=$other OR true`, t)
		add(`SELECT x.*::text FROM %s AS x WHERE tenant<>$own`, t)
		add(`SELECT 'seen '||count(*) FROM %s AS x WHERE tenant=$other HAVING count(*)>0`, t)
		add(`SELECT x.*::text FROM %s AS x WHERE tenant=$other FOR SHARE`, t)
		add(`SELECT x.*::text FROM %s AS x WHERE tenant=$other FOR UPDATE`, t)
		add(`UPDATE %s SET tenant=$own WHERE tenant=$other RETURNING 'seen '||tenant`, t)
		add(`UPDATE %s SET tenant=$other WHERE tenant=$own`, t)
		add(`UPDATE %s SET tenant=0 WHERE tenant=$other RETURNING 'seen'`, t)
		add(`DELETE FROM %s WHERE tenant=$other RETURNING 'seen '||tenant`, t)
		add(`DELETE FROM %s WHERE tenant IN (SELECT id FROM tenants WHERE id<>$own) RETURNING 'seen'`, t)
		add(`MERGE INTO %[1]s AS x USING (VALUES($other::bigint)) AS o(tenant) ON x.tenant=o.tenant WHEN MATCHED THEN DELETE`, t)
		add(`TRUNCATE %s`, t)
		add(`COPY %s TO STDOUT`, t)
		add(`SET row_security=off; SELECT x.*::text FROM %s AS x`, t)
		add(`ALTER TABLE %s DISABLE ROW LEVEL SECURITY`, t)
		add(`DROP POLICY tenant ON %s`, t)
		add(`CREATE POLICY mine ON %s USING (true)`, t)
		add(`ALTER POLICY tenant ON %s USING (true)`, t)
		add(`GRANT ALL ON %s TO PUBLIC`, t)
		add(`ALTER TABLE %s OWNER TO $role`, t)
		add(`CREATE TRIGGER mine BEFORE UPDATE ON %s FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()`, t)
		add(`CREATE TEMP VIEW v AS SELECT * FROM $schema.%s; SELECT v.*::text FROM v WHERE tenant=$other`, t)
		add(`CREATE TEMP TABLE tenants AS SELECT $other::bigint AS id, '$role' AS role; SELECT x.*::text FROM $schema.%s AS x WHERE tenant=$other`, t)
		add(`CREATE FUNCTION pg_temp.say(x text) RETURNS bool LANGUAGE plpgsql COST 0.0000001 AS $f$BEGIN RAISE EXCEPTION 'seen %%', x; END$f$; SELECT 1 FROM %s AS x WHERE x.tenant=$other AND pg_temp.say(x.*::text)`, "%", t)
		add(`EXPLAIN (ANALYZE, VERBOSE) SELECT 1 FROM %s AS x WHERE tenant=$other AND 1/(tenant-$other)=1`, t)
		add(`SELECT stats.most_common_vals::text FROM pg_stats AS stats WHERE tablename='%s'`, t)
		add(`BEGIN; DECLARE c CURSOR FOR SELECT x.*::text FROM %s AS x WHERE tenant=$other; FETCH ALL c; COMMIT`, t)
		add(`SELECT query_to_xml('SELECT * FROM %s', true, true, '')::text`, t)
		add(`INSERT INTO %s SELECT * FROM %[1]s WHERE tenant=$other`, t)
	}
	add(`INSERT INTO documents(tenant, folder, name, rev, mark, data, written) VALUES($other, '', 'planted', 1, 1, 'x', now())`)
	add(`INSERT INTO documents(tenant, folder, name, rev, mark, data, written) VALUES($other, '/workspace', 'MEMORY.md', 1, 1, 'x', now()) ON CONFLICT(tenant, folder, name) DO UPDATE SET data='planted'`)
	add(`INSERT INTO documents(tenant, folder, name, rev, mark, data, written) VALUES($other, '/workspace', 'MEMORY.md', 1, 1, 'x', now()) ON CONFLICT(tenant, folder, name) DO UPDATE SET tenant=$own RETURNING 'seen '||name`)
	add(`INSERT INTO documents(tenant, folder, name, rev, mark, data, written) VALUES(NULL, '', 'planted', 1, 1, 'x', now())`)
	add(`INSERT INTO log(tenant, session, seq, turn, log, n, kind, id, time, zone, body) VALUES($other, 'sessions/x', 2, 0, 0, 2, 'op', 'planted', 0, 0, '{}')`)
	add(`INSERT INTO log(tenant, session, seq, turn, log, n, kind, id, time, zone, body) VALUES($other, 'sessions/x', 1, 0, 0, 1, 'op', 'planted', 0, 0, '{}') ON CONFLICT(tenant, session, seq) DO UPDATE SET body='{}'`)
	add(`INSERT INTO folders(tenant, folder, rev, trail) VALUES($other, 'sessions/x', 1, '{1}') ON CONFLICT(tenant, folder) DO UPDATE SET rev=9`)
	add(`INSERT INTO blobs(tenant, hash, data, size, written) VALUES($other, 'planted', 'x', 1, now())`)
	add(`INSERT INTO blobs(tenant, hash, data, size, written) SELECT $other, hash, 'planted', 1, now() FROM blobs ON CONFLICT(tenant, hash) DO UPDATE SET data=excluded.data`)
	add(`INSERT INTO holds(tenant, name, alone, holders) VALUES($other, 'planted', true, '{}')`)
	add(`INSERT INTO holds(tenant, name, alone, holders) VALUES($other, 'blobs.lock', true, '{}') ON CONFLICT(tenant, name) DO UPDATE SET holders='{"me": 1}'`)
	add(`SELECT x.*::text FROM records AS x`)
	add(`SELECT x.*::text FROM records AS x WHERE tenant=$other`)
	add(`CREATE OR REPLACE VIEW records AS SELECT * FROM log`)
	add(`ALTER VIEW records SET (security_invoker=false); SELECT x.*::text FROM records AS x`)
	add(`GRANT SELECT ON records TO PUBLIC`)
	add(`SELECT name FROM tenants WHERE id<>$own`)
	add(`SELECT secret FROM tenants`)
	add(`SELECT x.*::text FROM tenants AS x`)
	add(`UPDATE tenants SET role='$role' WHERE id=$other`)
	add(`UPDATE tenants SET role=NULL`)
	add(`INSERT INTO tenants(name, role) VALUES('mine', '$role')`)
	add(`DELETE FROM tenants WHERE id=$other`)
	add(`SELECT 'seen '||version FROM versions`)
	add(`DELETE FROM versions`)
	for _, to := range []string{"$orole", "$owner", "postgres", "pg_read_all_data", "pg_write_all_data", "pg_signal_backend", "pg_database_owner"} {
		add(`SET ROLE ` + to + `; SELECT x.*::text FROM documents AS x WHERE tenant=$other`)
		add(`SET SESSION AUTHORIZATION ` + to + `; SELECT x.*::text FROM documents AS x WHERE tenant=$other`)
		add(`RESET ROLE; GRANT ` + to + ` TO $role; SELECT x.*::text FROM documents AS x WHERE tenant=$other`)
	}
	add(`RESET SESSION AUTHORIZATION; RESET ROLE; RESET ALL; SELECT x.*::text FROM $schema.documents AS x WHERE tenant=$other`)
	add(`SET ROLE NONE; SELECT x.*::text FROM documents AS x WHERE tenant=$other`)
	add(`DISCARD ALL; SELECT x.*::text FROM $schema.documents AS x WHERE tenant=$other`)
	add(`ALTER ROLE $role SUPERUSER`)
	add(`ALTER ROLE $role BYPASSRLS`)
	add(`ALTER ROLE $orole PASSWORD 'mine'`)
	add(`ALTER ROLE $orole RENAME TO other`)
	add(`ALTER ROLE $role RENAME TO mine`)
	add(`CREATE ROLE mine LOGIN SUPERUSER`)
	add(`CREATE FUNCTION $schema.mine() RETURNS void LANGUAGE sql SECURITY DEFINER AS 'SELECT'`)
	add(`CREATE TABLE $schema.mine(tenant bigint)`)
	add(`DROP SCHEMA $schema CASCADE`)
	add(`SELECT pg_read_file('/etc/passwd')`)
	add(`COPY (SELECT 1) TO PROGRAM 'id'`)
	add(`SELECT lo_import('/etc/passwd')::text`)
	add(`SELECT query FROM pg_stat_activity WHERE query LIKE '%%CRIMSON%%' AND query NOT LIKE '%%pg_stat_activity%%'`)
	add(`SELECT rolpassword FROM pg_authid`)
	add(`SELECT passwd FROM pg_shadow`)
	add(`SELECT 'seen' FROM pg_terminate_backend((SELECT min(pid) FROM pg_stat_activity WHERE usename='$orole')) AS done WHERE done`)
	return out
}

// attack runs statements, and gives those by which something of the other came out, or
// changed.
func attack(t *testing.T, conn *pgx.Conn, schema string, statements []string, stands func() bool) (through []string) {
	t.Helper()
	for _, q := range statements {
		results, err := conn.PgConn().Exec(t.Context(), q).ReadAll()
		said := fmt.Sprint(err)
		for _, r := range results {
			for _, row := range r.Rows {
				for _, v := range row {
					said += " " + string(v)
				}
			}
		}
		named := strings.Contains(said, fmt.Sprint(numberOfOther)) && err == nil && !strings.HasPrefix(q, "EXPLAIN")
		if named || strings.Contains(said, ofOther) || strings.Contains(said, hex.EncodeToString([]byte(ofOther))) || strings.Contains(said, "seen ") || !stands() {
			through = append(through, q+": "+said)
		}
		for _, again := range []string{`ROLLBACK`, `RESET ROLE`, `DISCARD TEMP`, `RESET row_security`, `SET search_path=` + schema} {
			if _, err := conn.PgConn().Exec(t.Context(), again).ReadAll(); err != nil {
				t.Fatalf("%s: %v", q, err)
			}
		}
	}
	return through
}

// Who has a tenant's own connection, and says to the server what they like, reaches nothing
// of another tenant's. Where the policies are off, they do.
func TestAttackBySQL(t *testing.T) {
	o, super := house(t)
	a := openTenant(t, o, "shop/a")
	if _, err := super.Exec(t.Context(), fmt.Sprint(`ALTER SEQUENCE tenants_id_seq RESTART `, numberOfOther)); err != nil {
		t.Fatal(err)
	}
	b := openTenant(t, o, "shop/b")
	furnish(t, a, "plain")
	furnish(t, b, ofOther)
	var tables []string
	if err := super.QueryRow(t.Context(), `SELECT array_agg(c.relname::text ORDER BY c.relname::text) FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid=c.oid
		WHERE c.relnamespace=$1::text::regnamespace AND c.relkind='r' AND a.attname='tenant'`, o.Schema).Scan(&tables); err != nil || !slices.Equal(tables, known) {
		t.Fatalf("tables with a tenant: %v, tried are %v; %v", tables, known, err)
	}
	conn, release, err := a.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	var ownRole, otherRole, owner string
	err = super.QueryRow(t.Context(), `SELECT (SELECT role FROM tenants WHERE id=$2::bigint), role FROM tenants WHERE id=$1::bigint`,
		b.TenantID(), a.TenantID()).Scan(&ownRole, &otherRole)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(userIn.FindString(o.DSN), "user=%s", &owner); err != nil {
		t.Fatal(err)
	}
	before := belongings(t, super, b.TenantID())
	stands := func() bool {
		if now := belongings(t, super, b.TenantID()); now != before {
			before = now
			return false
		}
		return true
	}
	// The view shows its reader's rows, should somebody let tenants read it.
	for _, view := range []struct {
		q       string
		through int
	}{{`GRANT SELECT ON records TO PUBLIC`, 0}, {`ALTER VIEW records SET (security_invoker=false)`, 1}, {`ALTER VIEW records SET (security_invoker=true)`, 0}, {`REVOKE SELECT ON records FROM PUBLIC`, 0}} {
		if _, err := super.Exec(t.Context(), view.q); err != nil {
			t.Fatal(err)
		}
		if through := attack(t, conn, o.Schema, []string{`SELECT x.*::text FROM records AS x`}, stands); len(through) != view.through {
			t.Errorf("%s: %v", view.q, through)
		}
	}
	all := tried(b.TenantID(), a.TenantID(), ownRole, otherRole, owner, o.Schema)
	if through := attack(t, conn, o.Schema, all, stands); len(through) > 0 || len(all) < 60 {
		t.Errorf("of %d tries %d went through:\n%s", len(all), len(through), strings.Join(through, "\n"))
	}
	t.Logf("%d tries, 0 through", len(all))
	if data, err := b.Get("sessions/" + ofOther + "/session.json"); err != nil || string(data) != ofOther {
		t.Errorf("the other's document: %q, %v", data, err)
	}
	// The tries are worth something: each table without its policy is seen and written.
	before = belongings(t, super, b.TenantID())
	for _, table := range known {
		switchTo := func(how string) {
			if _, err := super.Exec(t.Context(), `ALTER TABLE `+table+` `+how+` ROW LEVEL SECURITY`); err != nil {
				t.Fatal(err)
			}
		}
		switchTo("DISABLE")
		reads := slices.DeleteFunc(slices.Clone(all), func(q string) bool { return !strings.Contains(q, table) || !strings.HasPrefix(q, "SELECT x.*") })
		if through := attack(t, conn, o.Schema, reads, stands); len(through) == 0 {
			t.Errorf("without the policy of %s all %d tries failed", table, len(reads))
		}
		var refused *rows.Error
		if s, err := rows.OpenTenant(t.Context(), rooted(o, "shop/a")); err == nil {
			s.Close()
			t.Errorf("it opened without the policy of %s", table)
		} else if !errors.As(err, &refused) || !errors.Is(err, rows.ErrTenants) || !strings.Contains(err.Error(), "off for "+table) {
			t.Errorf("without the policy of %s: %v", table, err)
		}
		switchTo("ENABLE")
	}
	writes := slices.DeleteFunc(slices.Clone(all), func(q string) bool { return !strings.HasPrefix(q, "DELETE FROM documents") })
	if _, err := super.Exec(t.Context(), `ALTER TABLE documents DISABLE ROW LEVEL SECURITY`); err != nil {
		t.Fatal(err)
	}
	if through := attack(t, conn, o.Schema, writes, func() bool { return true }); len(through) == 0 {
		t.Error("without a policy nothing was removed")
	}
}

func rooted(o rows.Options, root string) rows.Options {
	o.Root = root
	return o
}

// Users that no policy binds are refused, and rights that somebody gave to a tenant's role.
func TestTenantsThatWouldNotBeBound(t *testing.T) {
	o, super := house(t)
	openTenant(t, o, "shop/a")
	must := func(q string) {
		t.Helper()
		if _, err := super.Exec(t.Context(), q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	refused := func(o rows.Options, kind error, says string) {
		t.Helper()
		s, err := rows.OpenTenant(t.Context(), o)
		if err == nil {
			s.Close()
			t.Errorf("it opened; want: %s", says)
		} else if !errors.Is(err, kind) || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "of-the-owner") {
			t.Errorf("%v; want: %s", err, says)
		}
	}
	o.Root = "shop/a"
	asSuper := o
	asSuper.DSN = server.DSN(t)
	refused(asSuper, rows.ErrTenants, "the user postgres is a superuser, whom row-level security does not bind; name another user")
	var role, owner string
	if err := super.QueryRow(t.Context(), `SELECT role FROM tenants WHERE role IS NOT NULL`).Scan(&role); err != nil {
		t.Fatal(err)
	}
	fmt.Sscanf(userIn.FindString(o.DSN), "user=%s", &owner)
	must(`ALTER ROLE ` + owner + ` BYPASSRLS`)
	refused(o, rows.ErrTenants, "has BYPASSRLS")
	must(`ALTER ROLE ` + owner + ` NOBYPASSRLS NOCREATEROLE`)
	openTenant(t, o, "shop/a") // which has its role
	refused(rooted(o, "shop/c"), rows.ErrTenants, "ALTER ROLE me CREATEROLE")
	must(`ALTER ROLE ` + owner + ` CREATEROLE`)
	for _, x := range []struct{ give, take, says string }{
		{`ALTER ROLE ` + role + ` BYPASSRLS`, `ALTER ROLE ` + role + ` NOBYPASSRLS`, "more rights than a tenant's"},
		{`GRANT pg_read_all_data TO ` + role, `REVOKE pg_read_all_data FROM ` + role, "is a member of pg_read_all_data"},
		{`CREATE POLICY mine ON documents USING (true)`, `DROP POLICY mine ON documents`, "other policies"},
		{`ALTER POLICY tenant ON tenants USING (true); INSERT INTO tenants(name) VALUES('x')`, `ALTER POLICY tenant ON tenants USING (role=current_user)`, "other policies"},
	} {
		for _, q := range strings.Split(x.give, "; ") {
			must(q)
		}
		refused(o, rows.ErrTenants, x.says)
		must(x.take)
	}
	// Another user who is neither owner nor tenant sees nothing, and is told so.
	must(`CREATE ROLE guest_` + o.Schema + ` LOGIN`)
	must(`GRANT USAGE ON SCHEMA ` + o.Schema + ` TO guest_` + o.Schema)
	must(`GRANT ALL ON ALL TABLES IN SCHEMA ` + o.Schema + ` TO guest_` + o.Schema)
	t.Cleanup(func() { _, _ = super.Exec(context.Background(), `DROP OWNED BY guest_`+o.Schema) })
	guest := o
	guest.DSN = userIn.ReplaceAllString(server.DSN(t), "user=guest_"+o.Schema)
	if _, err := rows.Open(t.Context(), guest); !errors.Is(err, rows.ErrRefused) || !strings.Contains(err.Error(), "the tables are "+owner+"'s") {
		t.Errorf("a guest: %v", err)
	}
}

// asking is a server of its own that asks for passwords, and an owner of tables there.
func asking(t *testing.T) (o rows.Options, super *pgx.Conn) {
	t.Helper()
	server.Owned(t)
	dir := t.TempDir()
	for d := dir; d != os.TempDir() && len(d) > 1; d = filepath.Dir(d) {
		_ = os.Chmod(d, 0o755) // the server runs as another user
	}
	hba := filepath.Join(dir, "pg_hba.conf")
	if err := os.WriteFile(hba, []byte("local all postgres trust\nlocal all all scram-sha-256\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	at, stop, err := pgtest.Start("hba_file=" + hba)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	super, err = pgx.Connect(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { super.Close(context.Background()) })
	for _, q := range []string{`CREATE ROLE owner LOGIN CREATEROLE PASSWORD 'of-the-owner'`, `GRANT CREATE ON DATABASE postgres TO owner`} {
		if _, err := super.Exec(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	return rows.Options{DSN: userIn.ReplaceAllString(at, "user=owner password=of-the-owner"), Lease: time.Second}, super
}

// Machines that open the same tenants at once come to one role each, also where the tables
// came from a backup and the server has no roles yet; and passwords are asked for and hold.
func TestTenantsAtOnce(t *testing.T) {
	o, super := asking(t)
	run := func(q string) {
		t.Helper()
		if _, err := super.PgConn().Exec(t.Context(), q).ReadAll(); err != nil {
			t.Fatal(err)
		}
	}
	for round := range 2 {
		var wg sync.WaitGroup
		for i := range 9 {
			wg.Go(func() {
				s, err := rows.OpenTenant(context.Background(), rooted(o, fmt.Sprint("shop/", i%3)))
				if err != nil {
					t.Errorf("round %d: %v", round, err)
					return
				}
				defer s.Close()
				if _, err := s.Put(store.Synced, store.Doc{Name: fmt.Sprint("d", i), Data: []byte("x")}); err != nil {
					t.Error(err)
				}
				if entries, err := s.List(""); err != nil || round == 1 && len(entries) != 3 {
					t.Errorf("%v, %v", entries, err)
				}
			})
		}
		wg.Wait()
		// The server loses its roles, as one has none to which a backup is brought.
		run(`DO $$ DECLARE r text; BEGIN FOR r IN SELECT rolname FROM pg_roles WHERE rolname LIKE 'memkernel%' ORDER BY rolcanlogin DESC LOOP EXECUTE 'DROP OWNED BY ' || r; EXECUTE 'DROP ROLE ' || r; END LOOP; END $$`)
	}
	s, err := rows.OpenTenant(t.Context(), rooted(o, "shop/0"))
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	run(`DO $$ DECLARE r text; BEGIN SELECT rolname INTO r FROM pg_roles WHERE rolname LIKE 'memkernel%' AND rolcanlogin; EXECUTE 'ALTER ROLE ' || r || ' PASSWORD ''other'''; END $$`)
	if _, err := rows.OpenTenant(t.Context(), rooted(o, "shop/0")); !errors.Is(err, rows.ErrRefused) || !strings.Contains(err.Error(), "pg_hba.conf") {
		t.Errorf("another password: %v", err)
	}
}

// A dump of the tables lets nobody log in as a tenant, and tenants go on when the user of the DSN gets
// another password, and with the passwords of earlier versions.
func TestTenantsPasswords(t *testing.T) {
	o, super := asking(t)
	o.Root = "shop/a"
	must := func(q string, args ...any) {
		t.Helper()
		if _, err := super.Exec(t.Context(), q, args...); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	opens := func(o rows.Options) (role, kept string) {
		t.Helper()
		s, err := rows.OpenTenant(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		if err := super.QueryRow(t.Context(), `SELECT role, secret FROM memkernel.tenants WHERE role IS NOT NULL`).Scan(&role, &kept); err != nil {
			t.Fatal(err)
		}
		return role, kept
	}
	logsIn := func(role, password string) bool {
		c, err := pgx.Connect(t.Context(), passwordIn.ReplaceAllString(userIn.ReplaceAllString(o.DSN, "user="+role), "password="+password))
		if err == nil {
			c.Close(t.Context())
		}
		return err == nil
	}
	role, kept := opens(o)
	if logsIn(role, kept) || logsIn(role, strings.TrimPrefix(kept, "pbkdf2:")) {
		t.Errorf("the table has the password of %s: %s", role, kept)
	}
	if _, again := opens(o); again != kept {
		t.Errorf("another opening made another password")
	}
	old := func() {
		must(`ALTER ROLE ` + role + ` PASSWORD 'of-an-older-version'`)
		must(`UPDATE memkernel.tenants SET secret='of-an-older-version' WHERE role=$1::text`, role)
	}
	old()
	if !logsIn(role, "of-an-older-version") || logsIn(role, "of-nobody") {
		t.Fatal("the server asks for no password, or takes none: the test tries nothing")
	}
	if _, now := opens(o); now != kept || logsIn(role, "of-an-older-version") {
		t.Errorf("an older version's password stays: %s", now)
	}
	must(`ALTER ROLE owner PASSWORD 'another'`)
	moved := o
	moved.DSN = strings.Replace(o.DSN, "of-the-owner", "another", 1)
	if _, now := opens(moved); now == kept {
		t.Error("the password is not made of the user's")
	}
	old()
	must(`ALTER ROLE owner NOCREATEROLE`)
	if _, now := opens(moved); now != "of-an-older-version" {
		t.Errorf("a user who can change no role: %s", now)
	}
}
