package pgdsn_test

import (
	"strings"
	"testing"

	"github.com/memkernel/memkernel/service/internal/pgdsn"
)

// What is wrong with an address is said rightly, and nothing of the address.
func TestCheck(t *testing.T) {
	for dsn, want := range map[string]string{
		"postgres://me:s3cret@db/memory":                 "",
		"host=db dbname=memory password=s3cret":          "",
		"postgres://me:s3cret@db:port/memory":            "can't be read",
		"postgres://me:s3cret%zz@db/memory":              "can't be read",
		"host=db port=s3cret":                            "can't be read",
		"postgres://me:s3cret@db/memory?sslmode=s3cret!": "can't be read",
		"postgres:///memory":                             "names no host",
		"dbname=memory password=s3cret":                  "names no host",
		"s3cret":                                         "names no host",
		"":                                               "names no host",
	} {
		err := pgdsn.Check(dsn)
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret")) {
			t.Errorf("%q: %v", dsn, err)
		}
	}
}

// What came of several attempts is one line, without the password and without what says
// nothing more.
func TestMasked(t *testing.T) {
	for message, want := range map[string]string{
		"no s3cret here": "no ***** here",
		"failed to connect to `user=me database=m`:\n\t10.0.0.1:1 (a): tls error: server refused TLS connection\n\t10.0.0.1:1 (a): failed SASL auth: no\n": "failed to connect to `user=me database=m`: 10.0.0.1:1 (a): failed SASL auth: no",
		"failed:\n\tx (a): dial error: refused\n\tx (a): dial error: refused":                                                                              "failed: x (a): dial error: refused",
		"failed:\n\tx (a): tls error: server refused TLS connection\n\ty (b): tls error: server refused TLS connection":                                    "failed: x (a): tls error: server refused TLS connection; y (b): tls error: server refused TLS connection",
	} {
		if got := pgdsn.Masked(message, "s3cret"); got != want {
			t.Errorf("%q:\n%q, want\n%q", message, got, want)
		}
	}
}
