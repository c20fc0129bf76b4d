package kernel

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// maxSafeKeyBytes is the longest session key that is used as a folder name as it
// is.
const maxSafeKeyBytes = 100

// DefaultSession is the key of a session that has none.
const DefaultSession = "default"

// safeKey turns a session key into a folder name: every byte outside
// [A-Za-z0-9._-] becomes '_'. A key that was changed, is only dots, or is too
// long gets a hash suffix, so that two keys never share a folder.
func safeKey(key string) string {
	b := []byte(key)
	changed := len(b) > maxSafeKeyBytes || strings.Trim(key, ".") == ""
	for i, c := range b {
		if !safeByte(c) {
			b[i], changed = '_', true
		}
	}
	if !changed {
		return key
	}
	if len(b) > maxSafeKeyBytes {
		b = b[:maxSafeKeyBytes]
	}
	sum := sha256.Sum256([]byte(key))
	return string(b) + "-" + hex.EncodeToString(sum[:8])
}

func safeByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-'
}

// pageID derives a page's stable id from what it came from.
func pageID(prefix string, provenance ...string) string {
	h := sha256.New()
	for _, p := range provenance {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return prefix + "-" + hex.EncodeToString(h.Sum(nil)[:8])
}

// conversationPage is the page of a run of a message's parts, evidencePage that of
// a tool call and its result. Hosts number them anew on every sidechain.
func conversationPage(branch, key string, part int) string {
	return pageID("cv", branched(branch, key), strconv.Itoa(part))
}

func evidencePage(branch, call string) string { return pageID("ev", branched(branch, call)) }

func branched(branch, id string) string {
	if branch == "" {
		return id
	}
	return branch + "\x00" + id
}

func hashText(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
