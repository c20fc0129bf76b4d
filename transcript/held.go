package transcript

import (
	"cmp"
	"slices"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/textutil"
)

// known has the types of blocks and items that at least one dialect understands.
var known = func() map[string]bool {
	types := ""
	for _, d := range table {
		types += " " + d.Known
	}
	return textutil.Set(types)
}()

// Held reports whether a message holds content that only its provider understands, and whether it
// holds nothing else. Such content is a block or an item of an unknown type, a provider's compaction,
// or media from an unknown source. A message with some of it stays at its place in every prompt, byte for byte.
func Held(m *memkernel.Message) (some, all bool) {
	all = true
	for i := range m.Parts {
		h := held(m.Parts[i])
		some, all = some || h, all && h
	}
	return some, all
}

func held(p memkernel.Part) bool {
	switch {
	case p.Media != nil:
		return p.Media.Data == "" && p.Media.URL == "" && p.Text == ""
	case p.Result != nil:
		c := p.Result.Content
		if p.Result.Opaque {
			return false
		}
		asIs := len(c) == 1 && c[0].Kind == memkernel.PartOther && c[0].Raw == p.Raw // an unknown item, whose call is shown, too
		return !asIs && slices.ContainsFunc(c, held)
	}
	return p.Kind == memkernel.PartOther && p.Raw != "" && !known[cmp.Or(rawType(p.Raw), geminiHolds(p.Raw))]
}

// Compacted reports whether a message begins with a provider's compaction of earlier messages.
func Compacted(m *memkernel.Message) bool {
	return len(m.Parts) > 0 && m.Parts[0].Kind == memkernel.PartOther && rawType(m.Parts[0].Raw) == "compaction"
}

// roles are the roles that the kernel knows.
var roles = []memkernel.Role{memkernel.RoleUser, memkernel.RoleAssistant, memkernel.RoleTool, memkernel.RoleSystem, memkernel.RoleDeveloper}

// hold replaces the content of a message by one opaque part if the message has an unknown role or
// no content.
func hold(m *memkernel.Message) {
	known := slices.Contains(roles, m.Role)
	if known && len(m.Parts) > 0 {
		return
	}
	if !known {
		m.Role = memkernel.RoleDeveloper
	}
	m.Parts = []memkernel.Part{{Kind: memkernel.PartOther, Raw: m.Raw}}
}
