package textutil

import (
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Composed returns a name in the form in which people type it. Some systems keep names in another
// one, with accents as characters of their own.
func Composed(name string) string { return norm.NFC.String(name) }

// Spelled returns a path as the files have it. It is the path itself, unless the path is missing and
// other names have the same composed form.
func Spelled(files fs.FS, p string) string {
	if !strings.ContainsFunc(p, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return p
	}
	if _, err := fs.Stat(files, p); err == nil {
		return p
	}
	at := "."
	for name := range strings.SplitSeq(p, "/") {
		if entries, err := fs.ReadDir(files, at); err == nil {
			for _, e := range entries {
				if Composed(e.Name()) == Composed(name) {
					name = e.Name()
					break
				}
			}
		}
		at = path.Join(at, name)
	}
	return at
}
