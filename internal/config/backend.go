package config

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
)

// dsn names a database, as a postgres:// address or as key=value pairs. It must not hold a
// password.
type dsn string

var (
	dsnPair     = textutil.LazyRegexp(`^[a-z_]+\s*=`)
	dsnPassword = textutil.LazyRegexp(`(?i)(?:^|[\s?&])(?:ssl)?password\s*=`)
)

// Set checks the form of s. Its error doesn't repeat s, because s may hold a secret.
func (d *dsn) Set(s string) error {
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
	*d = dsn(s)
	return nil
}

// checkChoice checks the form of the settings that choose which Markdown is memory.
func (c *Config) checkChoice() error {
	for key, globs := range map[string][]string{"index.include": c.Index.Include, "index.exclude": c.Index.Exclude} {
		for _, g := range globs {
			if err := textutil.CheckGlob(g); err != nil {
				return c.errorAt(err, "globs are relative to the workspace, such as notes/**/*.md; doc/config.md has the rules", key)
			}
		}
	}
	const key = "index.folders"
	seen := map[string]bool{}
	for _, f := range c.Index.Folders {
		name, folder := FolderOf(f)
		switch {
		case folder == "" || strings.ContainsRune(f, 0):
			return c.errorAt(fmt.Errorf("%q names no folder", f), "write a folder, or NAME=FOLDER", key)
		case !folderName.MatchString(name):
			return c.errorAt(fmt.Errorf("%q is no name of a folder", name), "write NAME=FOLDER, or --name NAME for add; a name has two or more letters, digits, points, dashes and spaces, and no point first", key)
		case seen[strings.ToLower(name)]:
			return c.errorAt(fmt.Errorf("two folders are called %q", name), "write NAME=FOLDER to give one another name", key)
		}
		seen[strings.ToLower(name)] = true
	}
	return nil
}

// folderName is a name that precedes a path in a citation. It has at least two characters,
// because a single letter would be a Windows drive.
var folderName = textutil.LazyRegexp(`^[\pL\pN][\pL\pN\pM ._-]{1,63}$`)

// FolderOf splits an entry of index.folders. If the entry has no name, FolderOf returns the
// folder's own name.
func FolderOf(entry string) (name, folder string) {
	if name, folder, ok := strings.Cut(entry, "="); ok && !strings.ContainsAny(name, `/\`) {
		return name, folder
	}
	return path.Base(path.Clean(strings.ReplaceAll(entry, `\`, "/"))), entry
}

// checkStore checks that the settings of the store fit together.
func (c *Config) checkStore() error {
	if c.Index.Backend == "postgres" && !server {
		return c.errorAt(errors.New("memkernel keeps its index in a file"), "run memkernel-server, which keeps it in PostgreSQL, or set sqlite", "index.backend")
	}
	if c.Store.Workspace == "rows" && c.Store.Backend != "postgres" {
		return c.errorAt(errors.New("the rows are in the database of store.backend postgres"), "set store.backend to postgres, or store.workspace to folder", "store.workspace")
	}
	return nil
}

// checkIndex checks that the settings of an index backend fit together.
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
