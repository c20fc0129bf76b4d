package config

import (
	"errors"
	"net/url"
	"path/filepath"

	"github.com/memkernel/memkernel/internal/textutil"
)

// Path is a file. In a configuration file it is relative to that file's folder. [Load] returns it
// relative to the current folder, or absolute.
type Path string

// Set takes any path.
func (p *Path) Set(s string) error {
	*p = Path(s)
	return nil
}

func (p Path) under(dir string) Path {
	if p == "" || filepath.IsAbs(string(p)) {
		return p
	}
	return Path(filepath.Join(dir, string(p)))
}

// URL is an http or https address without user and password.
type URL string

// Set checks the address. Its error doesn't repeat the address, because an address may hold a
// secret.
func (u *URL) Set(s string) error {
	parsed, err := url.Parse(s)
	if err != nil || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Hostname() == "" {
		return errors.New("this is not an address such as https://example.com/v1")
	}
	if parsed.User != nil {
		return errors.New("the address must not hold a user or a password")
	}
	*u = URL(s)
	return nil
}

// envName is the name of an environment variable.
type envName string

var envForm = textutil.LazyRegexp(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Set checks the name. Its error doesn't repeat the text, because people often put the secret
// itself here.
func (e *envName) Set(s string) error {
	if !envForm.MatchString(s) {
		return errors.New("this is not the name of an environment variable; the key itself does not belong here")
	}
	*e = envName(s)
	return nil
}
