package textutil

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
)

// maxBytes is the longest word that may be a name as it is.
const maxBytes = 100

// SafeName returns a folder's name for a word that comes from elsewhere, such as the key of a
// session or the name of an agent. Different words get different names, also on a disk that does
// not distinguish upper from lower case (macOS, Windows). Windows neither reserves nor changes
// any of these names. The name depends only on the word, so all processes and machines get the
// same name.
//
//	main              main                           as it is
//	a/b               a_b-c14cddc033f64b9d           changed: a hash of the word follows
//	Main              _Main-eb814be3ca3b78c0         as it is it would meet main
//	aux.txt           _aux.txt-0857d0cb3b4f429f      as it is, Windows reserves it
//	a_b-c14cddc…      _a_b-c14cddc…-60e8b8f22b6bf5a4 as it is it would meet a/b
//
// The name has at most 118 bytes of [A-Za-z0-9._-], and does not end in a dot. Two words share a
// name, compared without case, only if the first 64 bits of their SHA-256 are equal.
func SafeName(word string) string {
	body, changed := plain(word)
	if !changed && !reserved(word) && word == strings.ToLower(word) && !strings.HasSuffix(word, ".") && !IsHashedName(word) {
		return word
	}
	name := body + "-" + hash(word)
	if !changed || reserved(name) {
		return "_" + name
	}
	return name
}

// plain replaces the characters of a word that can't be in a name, and cuts the word to size. It
// reports whether this changed the word, or whether the word has only dots.
func plain(word string) (string, bool) {
	b := []byte(word)
	changed := len(b) > maxBytes || strings.Trim(word, ".") == ""
	for i, c := range b {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-') {
			b[i], changed = '_', true
		}
	}
	return string(b[:min(len(b), maxBytes)]), changed
}

func hash(word string) string {
	sum := sha256.Sum256([]byte(word))
	return hex.EncodeToString(sum[:8])
}

// hashed matches names that were made by adding a hash: the part before the hash has a replaced
// byte, consists of dots, or is cut to size.
var hashed = regexp.MustCompile(`^(?:[A-Za-z0-9.-]*_[A-Za-z0-9._-]*|\.*|[A-Za-z0-9.-]{100})-[0-9a-f]{16}$`)

// IsHashedName reports whether a word looks like a name that SafeName makes with a hash.
func IsHashedName(word string) bool { return hashed.MatchString(word) }

// IsSafeName reports whether a word may be a name that [SafeName] gave.
func IsSafeName(name string) bool {
	body, changed := plain(name)
	return IsHashedName(name) || !changed && body == name
}

// devices matches the names that Windows reserves, with any extension.
var devices = regexp.MustCompile(`^(?i:con|prn|aux|nul|(?:com|lpt)[0-9])(?:\.|$)`)

func reserved(name string) bool { return devices.MatchString(name) }
