// Package pgdsn reads the parts of a PostgreSQL database's address that people may see. It
// reports which parts the address gives and which parts the environment would fill in. It
// connects to nothing.
package pgdsn

import (
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/memkernel/memkernel/internal/textutil"
)

// form tells the user how to write an address.
const form = "write postgres://user@host/database, or host=… dbname=…"

var (
	hostPair     = textutil.LazyRegexp(`(?:^|\s)(?:host|hostaddr)\s*=\s*\S`)
	passwordPair = textutil.LazyRegexp(`(?:^|\s|[?&])password\s*=`)
)

func isURL(dsn string) bool {
	return strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://")
}

// check returns the fault of an address, or nil. The error never quotes the address, because any
// part may be the password.
func check(dsn string) error {
	if _, err := pgx.ParseConfig(dsn); err != nil && (isURL(dsn) || strings.Contains(dsn, "=")) {
		return errors.New("the DSN can't be read: " + form + "; a port is a number, and in a password of the first form % / : @ ? # are %25 %2F %3A %40 %3F %23")
	}
	if !namesHost(dsn) {
		return errors.New("the DSN names no host: " + form)
	}
	return nil
}

// Config returns the configuration of connections to an address. Without a password in the address,
// the password is empty, even if the environment holds one.
func Config(dsn string) (*pgxpool.Config, error) {
	if err := check(dsn); err != nil {
		return nil, err
	}
	c, err := pgxpool.ParseConfig(dsn)
	if err != nil { // err may repeat the address
		return nil, errors.New("the DSN can't be read: " + form)
	}
	if !namesPassword(dsn) {
		c.ConnConfig.Password = ""
	}
	return c, nil
}

// namesHost reports whether an address names a host.
func namesHost(dsn string) bool {
	if !isURL(dsn) {
		return hostPair.MatchString(dsn)
	}
	u, err := url.Parse(dsn)
	return err == nil && (u.Host != "" || u.Query().Get("host") != "")
}

// namesPassword reports whether an address holds a password.
func namesPassword(dsn string) bool {
	if u, err := url.Parse(dsn); isURL(dsn) && err == nil {
		if _, ok := u.User.Password(); ok {
			return true
		}
	}
	return passwordPair.MatchString(dsn)
}

// Masked removes a password from a message. It joins the results of several attempts in one line
// and drops repeated results. It keeps the refusal of TLS only if the server gave no other
// result.
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
		if !strings.HasSuffix(l, noTLS) || !slices.ContainsFunc(all, more) {
			out = append(out, l)
		}
	}
	return strings.TrimSpace(head) + " " + strings.Join(out, "; ")
}

// noTLS is the error of an attempt to connect to a server without TLS.
const noTLS = "server refused TLS connection"

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
