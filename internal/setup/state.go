package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/memkernel/memkernel/internal/config"
	"github.com/memkernel/memkernel/internal/endpoint"
	"github.com/memkernel/memkernel/internal/fail"
	"github.com/memkernel/memkernel/internal/safename"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/store/postgres"
)

// Stored is where the state is kept, as it is configured.
func (s *Settings) Stored(ctx context.Context) (kernel.Store, error) {
	if s.Config.Store.Backend != "postgres" {
		return kernel.Files(s.StateDir), nil
	}
	db, err := s.State(ctx)
	if err != nil {
		return nil, err
	}
	return db, nil
}

// State opens the database that keeps the state, once; Close closes it.
func (s *Settings) State(ctx context.Context) (*postgres.Store, error) {
	if s.state != nil {
		return s.state, nil
	}
	at, err := database(s)
	if err != nil {
		return nil, err
	}
	with := []postgres.Option{postgres.Lease(at.lease)}
	if at.bucket.Name != "" {
		with = append(with, postgres.WithBucket(at.bucket))
	}
	if s.tenant != "" {
		s.state, err = postgres.OpenTenant(ctx, at.dsn, tenantRoot(at.root, s.tenant), with...)
		return s.state, err
	}
	s.state, err = postgres.Open(ctx, at.dsn, at.root, with...)
	return s.state, err
}

// bucket is the bucket that keeps what is large; its name is "" if there is none.
func bucket(s *Settings) (postgres.Bucket, error) {
	b := &s.Config.Store.Blobs.S3
	if b.Bucket == "" {
		return postgres.Bucket{}, nil
	}
	in := postgres.Bucket{Name: b.Bucket, Prefix: b.Prefix, Endpoint: string(b.Endpoint), Region: b.Region, VirtualHost: !b.PathStyle, Above: int64(b.Above)}
	for _, v := range []struct {
		key  string
		env  config.EnvName
		into *string
	}{{"access_key_env", b.AccessKeyEnv, &in.AccessKey}, {"secret_key_env", b.SecretKeyEnv, &in.SecretKey}, {"session_token_env", b.SessionTokenEnv, &in.SessionToken}} {
		key := "store.blobs.s3." + v.key
		value, err := endpoint.Key(string(v.env))
		switch {
		case err != nil:
			return in, fail.Hint(fmt.Errorf("%s: %w", s.Config.Origin(key), err), "put what the bucket's server gave you into it, and nothing else")
		case value == "" && (v.env != "" || v.into != &in.SessionToken):
			return in, fail.Hint(fmt.Errorf("%s: no %s for the bucket %s: the variable %s is empty", s.Config.Origin(key), v.key[:len(v.key)-len("_env")], b.Bucket, v.env),
				"put it there, or name another variable by %s", key)
		}
		*v.into = value
	}
	return in, nil
}

// BoundByPolicies refuses a database whose user could not keep tenants apart in it.
func BoundByPolicies(ctx context.Context, s *Settings) error {
	if s.Config.Store.Backend != "postgres" {
		return nil
	}
	at, err := database(s)
	if err != nil {
		return err
	}
	return postgres.Bound(ctx, at.dsn, at.root)
}

// tenantRoot names the state of a tenant in a database. No two of a server share one, and none
// is the beginning of another.
func tenantRoot(root, tenant string) string { return root + "/tenants/" + safename.Of(tenant) }

// Close lets go of the database that keeps the state, if it was opened.
func (s *Settings) Close() error {
	if s.state == nil {
		return nil
	}
	defer func() { s.state = nil }()
	return s.state.Close()
}

// place is where a database keeps the state.
type place struct {
	dsn, root string
	lease     time.Duration
	bucket    postgres.Bucket
}

// database is where the state is kept, where a database keeps it.
func database(s *Settings) (at place, err error) {
	p := &s.Config.Store.Postgres
	root := cmp.Or(p.Root, s.Config.Index.Postgres.Workspace)
	dsn := os.Getenv(string(p.DSNEnv))
	switch {
	case p.DSNEnv == "":
		err = fail.Hint(errors.New("no database is named for the state"), "set store.postgres.dsn_env to the name of a variable that holds a DSN, such as postgres://me:secret@host/memory")
	case root == "":
		err = fail.Hint(errors.New("the state has no name in the database"), "set store.postgres.root, alike on every machine that shares it")
	case dsn == "":
		err = fail.Hint(fmt.Errorf("%s: the variable %s is empty", s.Config.Origin("store.postgres.dsn_env"), p.DSNEnv), "put the DSN into it, such as postgres://me:secret@host/memory")
	}
	if err != nil {
		return at, err
	}
	at = place{dsn: dsn, root: root, lease: time.Duration(p.Lease)}
	at.bucket, err = bucket(s)
	return at, err
}

// daemonLock is the lock that a running 'memkernel serve' holds in the state folder.
const daemonLock = "serve.lock"

// NoDaemon keeps a daemon of a state folder from being started, and refuses if one runs.
func NoDaemon(stateDir string) (release func(), err error) {
	release, err = store.Files(stateDir).Lock(daemonLock, store.Alone)
	if held := (*store.LockedError)(nil); errors.As(err, &held) {
		return nil, fail.Hint(fmt.Errorf("'memkernel serve' is running for %s", stateDir), "end it, and run this again")
	}
	return release, err
}
