// Package pgdsn reads addresses of PostgreSQL databases as far as people may see them, and
// says what of one was given and what the environment would fill in. It connects to nothing.
package pgdsn

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/memkernel/memkernel/internal/lazyregexp"
)

// Form is how an address is written.
const Form = "write postgres://user@host/database, or host=… dbname=…"

var (
	hostPair     = lazyregexp.New(`(?:^|\s)(?:host|hostaddr)\s*=\s*\S`)
	passwordPair = lazyregexp.New(`(?:^|\s|[?&])password\s*=`)
)

func isURL(dsn string) bool {
	return strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://")
}

// NamesHost reports whether an address says which host it means.
func NamesHost(dsn string) bool {
	if !isURL(dsn) {
		return hostPair.MatchString(dsn)
	}
	u, err := url.Parse(dsn)
	return err == nil && (u.Host != "" || u.Query().Get("host") != "")
}

// NamesPassword reports whether an address holds a password.
func NamesPassword(dsn string) bool {
	if u, err := url.Parse(dsn); isURL(dsn) && err == nil {
		if _, ok := u.User.Password(); ok {
			return true
		}
	}
	return passwordPair.MatchString(dsn)
}

// Masked takes a password out of a message.
func Masked(message, password string) string {
	if password == "" {
		return message
	}
	return strings.ReplaceAll(message, password, "*****")
}

// Place names a database for people: host, port and database, never a password.
func Place(dsn string) string {
	c, err := pgx.ParseConfig(dsn)
	if err != nil {
		return "postgres"
	}
	host := c.Host
	if !strings.HasPrefix(host, "/") {
		host += ":" + strconv.Itoa(int(c.Port))
	}
	return "postgres://" + host + "/" + c.Database
}

// Host returns the host that an address names, "" if it can't be read or names several;
// a path is a socket of this machine.
func Host(dsn string) string {
	c, err := pgx.ParseConfig(dsn)
	if err != nil || !NamesHost(dsn) {
		return ""
	}
	for _, f := range c.Fallbacks {
		if f.Host != c.Host {
			return f.Host // several hosts: none of them is the one
		}
	}
	return c.Host
}
