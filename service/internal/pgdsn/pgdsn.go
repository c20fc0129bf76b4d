// Package pgdsn reads addresses of PostgreSQL databases as far as people may see them, and
// says what of one was given and what the environment would fill in. It connects to nothing.
package pgdsn

import (
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/memkernel/memkernel/internal/textutil"
)

// Form is how an address is written.
const Form = "write postgres://user@host/database, or host=… dbname=…"

var (
	hostPair     = textutil.LazyRegexp(`(?:^|\s)(?:host|hostaddr)\s*=\s*\S`)
	passwordPair = textutil.LazyRegexp(`(?:^|\s|[?&])password\s*=`)
)

func isURL(dsn string) bool {
	return strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://")
}

// Check says what is wrong with an address, nil if nothing is: nothing of it, since that may be
// a part of the password.
func Check(dsn string) error {
	if _, err := pgx.ParseConfig(dsn); err != nil && (isURL(dsn) || strings.Contains(dsn, "=")) {
		return errors.New("the DSN can't be read: " + Form + "; a port is a number, and in a password of the first form % / : @ ? # are %25 %2F %3A %40 %3F %23")
	}
	if !namesHost(dsn) {
		return errors.New("the DSN names no host: " + Form)
	}
	return nil
}

// namesHost reports whether an address says which host it means.
func namesHost(dsn string) bool {
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

// Masked takes a password out of a message, and puts what came of several attempts into one
// line: each once, and that one was refused with TLS only where nothing else came of the
// server.
func Masked(message, password string) string {
	if password != "" {
		message = strings.ReplaceAll(message, password, "*****")
	}
	head, rest, several := strings.Cut(message, "\n")
	if !several {
		return message
	}
	server := func(attempt string) string { at, _, _ := strings.Cut(attempt, "): "); return at }
	var all, out []string
	for l := range strings.Lines(rest) {
		if l = strings.TrimSpace(l); l != "" && !slices.Contains(all, l) {
			all = append(all, l)
		}
	}
	for _, l := range all {
		more := func(o string) bool { return o != l && server(o) == server(l) }
		if !strings.HasSuffix(l, NoTLS) || !slices.ContainsFunc(all, more) {
			out = append(out, l)
		}
	}
	return strings.TrimSpace(head) + " " + strings.Join(out, "; ")
}

// NoTLS is how an attempt ends whose server speaks none.
const NoTLS = "server refused TLS connection"

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
