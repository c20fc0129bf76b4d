package rows

import (
	"context"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// tenantConns bounds the connections of one tenant, because a server may have many tenants.
	tenantConns = 3
	// tenantIdle is how long a connection of a tenant is kept unused. Another machine may need it
	// more.
	tenantIdle = 30 * time.Second
)

// tenantLock keeps two machines from making the same roles at once: "mktn" as the key of an
// advisory lock.
const tenantLock = 0x6d6b746e

// errTenants reports that a database would not keep tenants apart.
var errTenants = errors.New("tenants would not be kept apart")

// OpenTenant opens a tenant as [Open] does, with connections that reach only that tenant, whatever
// statement they send. The connections log in as a role of the tenant's own, and the tables'
// policies show that role only the rows of the tenant. The user of the DSN creates the role once
// and owns the tables. That user must not be a superuser, and needs the right to create roles
// only until every tenant has a role.
func OpenTenant(ctx context.Context, o Options) (*Store, error) {
	c, cfg, err := prepare(&o)
	if err != nil {
		return nil, err
	}
	own := cfg.Copy()
	own.MaxConns = 1
	var t tenant
	owners, err := c.open(ctx, own, o.Schema, func(pool *pgxpool.Pool) error {
		if err := bindable(ctx, pool); err != nil {
			return err
		}
		if err := c.enter(ctx, pool, o); err != nil {
			return err
		}
		return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1::bigint)`, int64(tenantLock)); err != nil {
				return err
			}
			if err := grant(ctx, tx, o.Schema, &t); err != nil {
				return err
			}
			return c.giveRole(ctx, tx, o.Schema, &t, c.password)
		})
	})
	if err != nil {
		return nil, err
	}
	owners.db.Close()
	cfg.ConnConfig.User, cfg.ConnConfig.Password, c.password = t.role, t.secret, t.secret
	cfg.MaxConns, cfg.MinConns, cfg.MaxConnIdleTime = tenantConns, 0, tenantIdle
	return c.open(ctx, cfg, o.Schema, func(pool *pgxpool.Pool) error { return bound(ctx, pool, o.Schema, t) })
}

// tenant is a role for a tenant.
type tenant struct{ role, secret, group string }

// Bound returns an error if the user of the DSN is not bound by policies. Such a user must not
// serve tenants, and must not create the tables, because it would own them.
func Bound(ctx context.Context, o Options) error {
	c, cfg, err := prepare(&o)
	if err != nil {
		return err
	}
	s, err := c.open(ctx, cfg, o.Schema, func(pool *pgxpool.Pool) error { return bindable(ctx, pool) })
	if err == nil {
		s.db.Close()
	}
	return err
}

// bindable returns an error if the user of the connections is not bound by policies.
func bindable(ctx context.Context, pool *pgxpool.Pool) error {
	var user string
	var super, bypass bool
	err := pool.QueryRow(ctx, `SELECT rolname, rolsuper, rolbypassrls FROM pg_roles WHERE rolname=current_user`).Scan(&user, &super, &bypass)
	if err != nil || !super && !bypass {
		return err
	}
	what := "has BYPASSRLS"
	if super {
		what = "is a superuser"
	}
	return &failure{kind: errTenants, hint: "name another user in the DSN, who owns the tables and may make roles (CREATE ROLE me LOGIN CREATEROLE)",
		err: fmt.Errorf("the user %s %s, whom row-level security does not bind", user, what)}
}

// granted returns the name of the tenants' common role, whether the server has the role, and the
// tables of the schema with rows of tenants to which the role lacks a right.
const granted = `SELECT g.name, g.oid IS NOT NULL, coalesce(array_agg(c.relname::text) FILTER (WHERE g.oid IS NULL OR
		NOT (has_table_privilege(g.oid, c.oid, 'SELECT') AND has_table_privilege(g.oid, c.oid, 'INSERT') AND has_table_privilege(g.oid, c.oid, 'UPDATE') AND has_table_privilege(g.oid, c.oid, 'DELETE'))), '{}')
	FROM (SELECT n.name, r.oid FROM (SELECT 'memkernel_' || substr(md5(current_database() || '/' || $1::text), 1, 16) AS name) AS n LEFT JOIN pg_roles AS r ON r.rolname=n.name) AS g,
		pg_class AS c JOIN pg_attribute AS a ON a.attrelid=c.oid
	WHERE c.relnamespace=$1::text::regnamespace AND c.relkind='r' AND a.attname='tenant' AND NOT a.attisdropped GROUP BY g.name, g.oid`

// grant gives the tenants of a schema their common rights through a role that they are members
// of. Separate rights for each tenant would fill the server's catalogs.
func grant(ctx context.Context, tx pgx.Tx, schema string, t *tenant) error {
	var there bool
	var missing []string
	err := tx.QueryRow(ctx, granted, schema).Scan(&t.group, &there, &missing)
	if err == nil && !there {
		err = makeRole(ctx, tx, `CREATE ROLE `+t.group+` NOLOGIN`)
	}
	if err != nil || len(missing) == 0 {
		return err
	}
	for _, what := range []string{`USAGE ON SCHEMA ` + schema, `SELECT(id, name, role) ON ` + schema + `.tenants`,
		`SELECT, INSERT, UPDATE, DELETE ON ` + schema + `.` + strings.Join(missing, ", "+schema+".")} {
		if _, err := tx.Exec(ctx, `GRANT `+what+` TO `+t.group); err != nil {
			return err
		}
	}
	return nil
}

// giveRole creates the tenant's role if the server does not have it. A server that was restored
// from a backup has the tables without the roles. The role's password is derived from the
// password of the DSN's user, so that no dump of the tables holds it. If that user has no
// password, a random password is kept in the tables.
func (c *core) giveRole(ctx context.Context, tx pgx.Tx, schema string, t *tenant, owners string) error {
	var kept string
	var there, member bool
	err := tx.QueryRow(ctx, `SELECT coalesce(role, ''), coalesce(secret, ''), EXISTS(SELECT FROM pg_roles WHERE rolname=role), EXISTS(SELECT FROM pg_auth_members AS m JOIN pg_roles AS r ON r.oid=m.member WHERE r.rolname=role AND m.roleid=$2::text::regrole)
		FROM `+schema+`.tenants WHERE id=$1::bigint FOR UPDATE`, c.tenant, t.group).Scan(&t.role, &kept, &there, &member)
	if err != nil {
		return err
	}
	var random [40]byte
	_, _ = rand.Read(random[:]) // Read never fails
	if t.role == "" {
		// All users of the server see the name, so it is random.
		t.role = "memkernel_" + hex.EncodeToString(random[:8])
	}
	if !roleName.MatchString(t.role) {
		return &failure{kind: ErrSchema, hint: "set it to NULL, and another is made", err: fmt.Errorf("the role %q of the table tenants is none of this program's", t.role)}
	}
	proof := kept
	t.secret = kept
	switch {
	case owners != "":
		if t.secret, proof, err = derived(owners, t.role); err != nil {
			return err
		}
	case kept == "" || strings.HasPrefix(kept, derivedMark):
		proof = hex.EncodeToString(random[8:])
		t.secret = proof
	}
	if member && kept == proof {
		return nil
	}
	password, err := verifier(t.secret)
	if err != nil {
		return err
	}
	switch {
	case !there:
		err = makeRole(ctx, tx, `CREATE ROLE `+t.role+` LOGIN IN ROLE `+t.group+` PASSWORD '`+password+`'`)
	case !member: // the role belongs to another database of the server, of which this one is a copy
		err = makeRole(ctx, tx, `GRANT `+t.group+` TO `+t.role)
	}
	if err == nil && there && kept != proof {
		err = pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error { return makeRole(ctx, tx, `ALTER ROLE `+t.role+` PASSWORD '`+password+`'`) })
		if errors.Is(err, errTenants) && !strings.HasPrefix(kept, derivedMark) {
			t.secret = kept // an earlier version created the role, and the user has no right to change it
			return nil
		}
	}
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE `+schema+`.tenants SET role=$2::text, secret=$3::text WHERE id=$1::bigint`, c.tenant, t.role, proof)
	return err
}

// derivedMark begins the proof of a derived password in the table tenants.
const derivedMark = "pbkdf2:"

// derived derives a tenant's password from the password of the DSN's user. It also returns the
// proof that the table keeps. The proof shows whether the user's password has changed.
func derived(owners, role string) (secret, proof string, err error) {
	key, err := pbkdf2.Key(sha256.New, owners, []byte("memkernel tenant "+role), rounds, sha256.Size)
	if err != nil {
		return "", "", err
	}
	secret = hex.EncodeToString(key)
	sum := sha256.Sum256([]byte(secret))
	return secret, derivedMark + hex.EncodeToString(sum[:]), nil
}

// rounds is the number of iterations of PBKDF2. PostgreSQL uses the same number for its own
// passwords.
const rounds = 4096

// makeRole runs a statement that needs the right to create roles.
func makeRole(ctx context.Context, tx pgx.Tx, q string) error {
	_, err := tx.Exec(ctx, q)
	if pg := (*pgconn.PgError)(nil); errors.As(err, &pg) && pg.Code == "42501" {
		return &failure{kind: errTenants, hint: "each tenant is a role of the server: give the DSN's user the right to make them (ALTER ROLE me CREATEROLE)", err: err}
	}
	return err
}

// verifier returns the form of a password that the server keeps (RFC 5803): the password itself
// could end up in the server's log.
func verifier(secret string) (string, error) {
	salt := make([]byte, 16)
	_, _ = rand.Read(salt) // Read never fails
	salted, err := pbkdf2.Key(sha256.New, secret, salt, rounds, sha256.Size)
	if err != nil {
		return "", err
	}
	sign := func(what string) []byte {
		h := hmac.New(sha256.New, salted)
		h.Write([]byte(what))
		return h.Sum(nil)
	}
	stored := sha256.Sum256(sign("Client Key"))
	b64 := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("SCRAM-SHA-256$%d:%s$%s:%s", rounds, b64(salt), b64(stored[:]), b64(sign("Server Key"))), nil
}

// bound checks on the tenant's own connection that policies bind it. Somebody may have changed
// the tables or the role since they were created.
func bound(ctx context.Context, pool *pgxpool.Pool, schema string, t tenant) error {
	var free bool
	var tenants, policies int
	var open, more []string
	err := pool.QueryRow(ctx, `SELECT r.rolsuper OR r.rolbypassrls OR r.rolcreaterole OR r.rolname<>$2::text,
		(SELECT coalesce(array_agg(g.rolname::text), '{}') FROM pg_auth_members AS m JOIN pg_roles AS g ON g.oid=m.roleid WHERE m.member=r.oid AND g.rolname<>$3::text),
		(SELECT coalesce(array_agg(t.relname::text), '{}') FROM pg_class AS t WHERE t.relnamespace=$1::text::regnamespace AND t.relkind IN ('r', 'p', 'v', 'm', 'f')
			AND has_any_column_privilege(t.oid, 'SELECT, INSERT, UPDATE') AND NOT row_security_active(t.oid)),
		(SELECT count(*) FROM pg_policies WHERE schemaname=$1::text AND policyname<>'tenant'), (SELECT count(*) FROM `+schema+`.tenants)
		FROM pg_roles AS r WHERE r.rolname=current_user`, schema, t.role, t.group).Scan(&free, &more, &open, &policies, &tenants)
	if pg := (*pgconn.PgError)(nil); errors.As(err, &pg) && strings.HasPrefix(pg.Code, "28") {
		return &failure{kind: errRefused, hint: "let its pg_hba.conf, and a pooler before it, take roles whose names begin with memkernel_; if the role's password was changed, drop the role, and it is made anew", err: err}
	}
	if err != nil {
		return err
	}
	hint := "give the tables and the role back what they had, or restore them from a backup"
	switch {
	case free:
		err = fmt.Errorf("the role %s has more rights than a tenant's", t.role)
	case len(more) > 0:
		err = fmt.Errorf("the role %s is a member of %s", t.role, strings.Join(more, ", "))
	case len(open) > 0:
		err, hint = fmt.Errorf("row-level security is off for %s", strings.Join(open, ", ")), "switch it on (ALTER TABLE ... ENABLE ROW LEVEL SECURITY)"
	case policies > 0 || tenants != 1:
		err = errors.New("the tables have other policies than this program made")
	default:
		return nil
	}
	return &failure{kind: errTenants, hint: hint, err: err}
}
