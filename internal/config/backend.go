package config

import (
	"errors"
	"net/url"
	"regexp"
	"strings"
)

// DSN names a database, as a postgres:// address or as key=value pairs, without a
// password.
type DSN string

var (
	dsnPair     = regexp.MustCompile(`^[a-z_]+\s*=`)
	dsnPassword = regexp.MustCompile(`(?i)(?:^|[\s?&])(?:ssl)?password\s*=`)
)

// Set checks the form. An error doesn't repeat it, since it may hold a secret.
func (d *DSN) Set(s string) error {
	address := strings.HasPrefix(s, "postgres://") || strings.HasPrefix(s, "postgresql://")
	if !address && !dsnPair.MatchString(s) {
		return errors.New("this is not a DSN such as postgres://me@localhost/memory or host=/run/postgresql dbname=memory")
	}
	u, err := url.Parse(s)
	secret := dsnPassword.MatchString(s)
	if address {
		if err != nil {
			return errors.New("this is not an address such as postgres://me@localhost/memory")
		}
		_, has := u.User.Password()
		secret = secret || has
	}
	if secret {
		return errors.New("a DSN with a password does not belong here: put it into an environment variable, and name that by dsn_env")
	}
	*d = DSN(s)
	return nil
}

// checkIndex holds the settings of a backend together.
func (c *Config) checkIndex() error {
	p := &c.Index.Postgres
	switch {
	case c.Index.Backend == "qmd" && len(c.Index.QMD.Command) == 0:
		return c.errorAt(errors.New("there is no program"), "qmd is the usual one", "index.qmd.command")
	case c.Index.Backend != "postgres":
		return nil
	case p.DSN == "" && p.DSNEnv == "":
		return c.errorAt(errors.New("no database is named"), "set index.postgres.dsn, or index.postgres.dsn_env if it holds a password", "index.postgres.dsn", "index.backend")
	case p.DSN != "" && p.DSNEnv != "":
		return c.errorAt(errors.New("the database is named twice"), "take one of dsn and dsn_env away", "index.postgres.dsn_env", "index.postgres.dsn")
	case p.Workspace == "":
		return c.errorAt(errors.New("the workspace has no name"), "name it alike on every host that shares it, such as my-project", "index.postgres.workspace", "index.backend")
	}
	return nil
}
