package kernel

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// DefaultSession is the key of a session that has none.
const DefaultSession = "default"

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
