package policies

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm/toolcall"
	"github.com/memkernel/memkernel/replay"
	"github.com/memkernel/memkernel/transcript"
)

// window shows only the newest messages, beginning with message number from.
type window struct {
	replay.History
	cut  string
	from func(h *replay.History, req replay.Request) int
}

func newWindow(rec *replay.Recording, cut string, from func(h *replay.History, req replay.Request) int) replay.Chooser {
	return &window{replay.History{Rec: rec}, cut, from}
}

func (p *window) Choose(req replay.Request) (c replay.Choice) {
	if from := p.from(&p.History, req); from > p.From {
		c.Cut = p.cut
		begin(&p.History, from)
	}
	c.Items = p.Items(req.End)
	return c
}

// newBatch appends until the messages have more tokens than a high mark (80,000 by default). Then
// it drops the oldest atoms until the messages have fewer tokens than a low mark (30,000 by
// default).
func newBatch(rec *replay.Recording, figures []int, _ *replay.Result) replay.Chooser {
	high, low := 80_000, 30_000
	if len(figures) == 2 {
		high, low = figures[0], figures[1]
	}
	return newWindow(rec, "batch", func(h *replay.History, req replay.Request) int {
		if h.Tokens(req.End) <= min(high, req.Room) {
			return h.From
		}
		return h.Newest(req.End, min(low, req.Room))
	})
}

// newSliding shows the newest atoms within a number of tokens, 64,000 by default. It decides
// again for every call.
func newSliding(rec *replay.Recording, keep int) replay.Chooser {
	return newWindow(rec, "slide", func(h *replay.History, req replay.Request) int {
		return h.Newest(req.End, min(cmp.Or(keep, 64_000), req.Room))
	})
}

// newTurns shows the newest user turns, 10 by default, however large they are.
func newTurns(rec *replay.Recording, keep int) replay.Chooser {
	return newWindow(rec, "turns", func(h *replay.History, req replay.Request) int {
		left := cmp.Or(keep, 10)
		for i := req.End - 1; i >= 0; i-- {
			if !transcript.PlainUser(h.Rec.Messages[i]) || i > 0 && transcript.PlainUser(h.Rec.Messages[i-1]) {
				continue
			}
			if left--; left == 0 {
				return i
			}
		}
		return 0
	})
}

// Claude Code's rule for automatic compaction (its program, 2026). The prompt may grow to the
// window minus the greatest size of a summary and minus a buffer, which is 167,000 of 200,000
// tokens. Then a summary of the size of recorded summaries replaces everything, and the most
// recently read files are read again.
const (
	claudeCodeOutput     = 20_000
	claudeCodeBuffer     = 13_000
	claudeCodeSummary    = 4_500
	claudeCodeFiles      = 5
	claudeCodeFileTokens = 5_000
)

// claudeCode appends until the prompt is larger than Claude Code's mark, and then compacts as
// Claude Code does.
type claudeCode struct {
	replay.History
	compactions int
}

func newClaudeCode(rec *replay.Recording) replay.Chooser {
	return &claudeCode{History: replay.History{Rec: rec}}
}

func (p *claudeCode) Choose(req replay.Request) (c replay.Choice) {
	if p.Rec.Opt.FixedTokens+p.Tokens(req.End) > claudeCodeMark(req) {
		p.compactions++
		c.Cut = "full"
		c.Summarise(p.Tokens(req.End), p.Rec.Sum(p.Rec.Seen(req.N), req.End), claudeCodeSummary)
		p.Lead = append([]replay.Item{p.Rec.Summary(p.compactions, claudeCodeSummary)}, p.files(req.End)...)
		p.From = req.End
	}
	c.Items = p.Items(req.End)
	return c
}

// claudeCodeMark returns the size from which on a prompt is compacted. In a window that is too
// small for the rule, it is half of the window.
func claudeCodeMark(req replay.Request) int {
	out := min(cmp.Or(req.Model.MaxOutput, claudeCodeOutput), claudeCodeOutput)
	return max(req.Window-out-claudeCodeBuffer, req.Window/2)
}

// files returns the newest read of each of the most recently read files, newest first. Of a large
// file only the beginning is returned.
func (p *claudeCode) files(end int) (out []replay.Item) {
	calls := map[string]*memkernel.ToolCall{}
	for i := range p.Rec.Messages[:end] {
		for j := range p.Rec.Messages[i].Parts {
			if call := p.Rec.Messages[i].Parts[j].Call; call != nil {
				calls[call.ID] = call
			}
		}
	}
	seen := map[string]bool{}
	for i := end - 1; i >= 0; i-- {
		for j := len(p.Rec.Messages[i].Parts) - 1; j >= 0; j-- {
			part := &p.Rec.Messages[i].Parts[j]
			if part.Result == nil || part.Result.IsError {
				continue
			}
			path := readPath(calls[part.Result.CallID])
			text, media := resultText(part)
			if path == "" || seen[path] || media {
				continue
			}
			seen[path] = true
			hash := "file " + strconv.Itoa(p.compactions) + "/" + strconv.Itoa(len(out)+1)
			out = append(out, cutText(p.Rec, hash, "["+path+"]\n", text, claudeCodeFileTokens))
			if len(out) == claudeCodeFiles {
				return out
			}
		}
	}
	return out
}

// cutText returns a note that has a heading and as many whole lines from the beginning of text as
// fit into most tokens.
func cutText(r *replay.Recording, hash, head, text string, most int) replay.Item {
	it := r.Note(hash, head+text)
	for it.Tokens > most && text != "" {
		n := min(len(text)-1, int(float64(len(text))*float64(most)/float64(it.Tokens)))
		text = text[:strings.LastIndexByte(text[:n], '\n')+1]
		it = r.Note(hash, head+text)
	}
	return it
}

// readPath returns the file that a call reads, or "" if the call reads no file.
func readPath(call *memkernel.ToolCall) string {
	if call == nil {
		return ""
	}
	if kind, paths := toolcall.Classify(call.Name, call.Input); kind == toolcall.CallRead && len(paths) > 0 {
		return paths[0]
	}
	return ""
}

// The documented defaults of Anthropic's context_management (platform.claude.com,
// build-with-claude/context-editing and compaction-threshold, 2026-10). From 100,000 tokens on,
// all results except those of the newest 3 tool uses are cleared, however few tokens that saves.
// From 150,000 tokens on, a summary replaces everything. In the documentation's example the
// summary has 3,500 tokens.
const (
	editTrigger    = 100_000
	editKeep       = 3
	compactTrigger = 150_000
	compactSummary = 3_500
)

// contextEditing uses the provider's clear_tool_uses_20250919 and compact_20260112. Cleared
// results stay cleared, because the documentation promises that later requests read the new
// prefix. In a window that is smaller than the triggers, the summary is written when the window
// is full.
type contextEditing struct {
	replay.History
	edits
	compactions int
}

func newContextEditing(rec *replay.Recording) replay.Chooser {
	p := &contextEditing{History: replay.History{Rec: rec}}
	p.edits = editsOf(&p.History)
	return p
}

func (p *contextEditing) Choose(req replay.Request) (c replay.Choice) {
	size := func() int { return p.Rec.Opt.FixedTokens + p.Tokens(req.End) }
	if size() > editTrigger && p.clear(req.End, editKeep, 1) {
		c.Cut = "clear"
	}
	if size() > min(compactTrigger, req.Room+p.Rec.Opt.FixedTokens) {
		p.compactions++
		c.Cut = "compact"
		c.Summarise(p.Tokens(req.End), p.Rec.Sum(p.Rec.Seen(req.N), req.End), compactSummary)
		p.Lead, p.From = []replay.Item{p.Rec.Summary(p.compactions, compactSummary)}, req.End
	}
	c.Items = p.Items(req.End)
	return c
}

// The defaults of Anthropic's clear_tool_uses_20250919 (platform.claude.com,
// build-with-claude/context-editing): the prompt size that triggers it and the tool uses kept.
// The documentation has no default for clear_at_least. Here it is 5 % of the window and at least
// 12,500 tokens, as OpenClaw 2026.9 sets it.
const (
	clearTrigger      = 100_000
	clearKeep         = 3
	clearAtLeast      = 12_500
	clearAtLeastShare = 0.05
	cleared           = "[Old tool result content cleared]"
)

// trimmed trims old results in place, and keeps them trimmed. Once the window is full, it
// compacts as append-late does.
type trimmed struct {
	*replay.Late
	edits
	cut  string
	trim func(p *trimmed, req replay.Request) bool // reports whether anything changed
}

func newTrimmed(rec *replay.Recording, cut string, trim func(p *trimmed, req replay.Request) bool) *trimmed {
	late := replay.NewLate(rec, 0)
	return &trimmed{late, editsOf(&late.History), cut, trim}
}

func (p *trimmed) Choose(req replay.Request) replay.Choice {
	cut := ""
	if p.trim(p, req) {
		cut = p.cut
	}
	c := p.CompactIfFull(req)
	c.Cut = cmp.Or(c.Cut, cut)
	c.Items = p.Items(req.End)
	return c
}

// newClearTools clears all tool results except the keep newest, whenever the prompt is larger than
// the trigger and the clearing saves enough. The documentation promises that later requests read
// the new prefix.
func newClearTools(rec *replay.Recording, keep int) replay.Chooser {
	return newTrimmed(rec, "clear", func(p *trimmed, req replay.Request) bool {
		least := max(clearAtLeast, int(clearAtLeastShare*float64(req.Window)))
		return p.Rec.Opt.FixedTokens+p.Tokens(req.End) > clearTrigger && p.clear(req.End, cmp.Or(keep, clearKeep), least)
	})
}

// clear clears all results before message end except the keep newest, if that saves at least least
// tokens. It reports whether it cleared any.
func (h *edits) clear(end, keep, least int) bool {
	all := h.results(end)
	var old []result
	saves := 0
	for _, r := range all[:max(0, len(all)-keep)] {
		if h.form(r) == "" {
			old = append(old, r)
			saves += h.saves(r, cleared)
		}
	}
	if saves < least {
		return false
	}
	for _, r := range old {
		h.replace(r, cleared)
	}
	return true
}

// saves returns the number of tokens that replacing a result by text would save.
func (h *edits) saves(r result, text string) int {
	part := h.part(r)
	before, after := h.of.Rec.Messages[r.message], h.of.Rec.Messages[r.message]
	before.Parts, after.Parts = before.Parts[r.part:r.part+1], nil
	after.Parts = append(after.Parts, withText(*part, text))
	return max(0, h.of.Rec.Counter.Message(&before)-h.of.Rec.Counter.Message(&after))
}

// The defaults of OpenClaw's "cache-ttl" pruning (docs.openclaw.ai,
// concepts/session-pruning and gateway/configuration, 2026): sizes in characters,
// shares of the window at four characters a token.
const (
	pruneKeepAnswers = 3
	pruneSoftShare   = 0.3
	pruneHardShare   = 0.5
	pruneMinChars    = 50_000
	pruneSoftChars   = 4_000
	pruneSoftEnd     = 1_500 // characters that are kept at each end
	pruneChars       = 4     // per token
	pruned           = "[Old tool result content cleared]"
)

// newCacheTTL shortens old tool results when the cache has expired. percent is the share of the
// window from which on results are cleared. 0 means the default.
func newCacheTTL(rec *replay.Recording, percent int) replay.Chooser {
	hard := pruneHardShare
	if percent > 0 {
		hard = float64(percent) / 100
	}
	return newTrimmed(rec, "ttl", func(p *trimmed, req replay.Request) bool {
		return req.Cold && req.N > 0 && p.prune(req, hard)
	})
}

// prune shortens large results. If that does not save enough, it clears the oldest results. It
// reports whether anything changed.
func (p *trimmed) prune(req replay.Request, hard float64) (changed bool) {
	room := float64(req.Window) * pruneChars
	size := p.chars(req.End) + p.Rec.Opt.FixedTokens*pruneChars
	old := p.results(p.protected(req.End))
	if float64(size) < min(pruneSoftShare, hard)*room {
		return false
	}
	left := 0
	for _, r := range old {
		n, saved := p.soften(r)
		size, left, changed = size-saved, left+n-saved, changed || saved > 0
	}
	if left < pruneMinChars {
		return changed
	}
	for _, r := range old {
		if float64(size) < hard*room {
			break
		}
		if saved := p.empty(r); saved > 0 {
			size, changed = size-saved, true
		}
	}
	return changed
}

// protected returns the first message of the protected newest answers. Results after that message
// stay.
func (p *trimmed) protected(end int) int {
	left := pruneKeepAnswers
	for i := end - 1; i >= p.From; i-- {
		if p.Rec.Messages[i].Role != memkernel.RoleAssistant {
			continue
		}
		if left--; left == 0 {
			return i
		}
	}
	return p.From
}

func (p *trimmed) chars(end int) int {
	n := 0
	for i := p.From; i < end; i++ {
		n += utf8.RuneCountInString(p.At(i).Text)
	}
	return n
}

// soften keeps the two ends of a large result. It returns the previous size and the saving, both
// in characters.
func (p *trimmed) soften(r result) (chars, saved int) {
	text, media := resultText(p.part(r))
	if form := p.form(r); form != "" {
		return utf8.RuneCountInString(form), 0
	}
	n := utf8.RuneCountInString(text)
	if media || n <= pruneSoftChars {
		return n, 0
	}
	t := []rune(text)
	short := fmt.Sprintf("%s\n...\n%s\n[shortened from %d characters]", string(t[:pruneSoftEnd]), string(t[n-pruneSoftEnd:]), n)
	p.replace(r, short)
	return n, n - utf8.RuneCountInString(short)
}

func (p *trimmed) empty(r result) (saved int) {
	text, media := resultText(p.part(r))
	if form := p.form(r); form != "" {
		text = form
	}
	if saved = utf8.RuneCountInString(text) - len(pruned); media || saved <= 0 {
		return 0
	}
	p.replace(r, pruned)
	return saved
}

// Observation masking, as software agents commonly do it: the newest results stay, and a line
// replaces every older result.
const (
	maskKeep  = 10
	maskBatch = 30
	masked    = "[Old tool result left out]"
)

// masking masks all results except a number of newest ones. The rolling form masks at every call.
// The batch form masks once enough results are waiting or the cache is cold anyway. Results that no
// call has shown yet stay.
type masking struct{ *trimmed }

func newMasking(rec *replay.Recording, keep int) replay.Chooser {
	return maskingOf(rec, cmp.Or(keep, maskKeep), 0)
}

func newMaskingBatch(rec *replay.Recording, batch int) replay.Chooser {
	return maskingOf(rec, maskKeep, cmp.Or(batch, maskBatch))
}

func maskingOf(rec *replay.Recording, keep, batch int) replay.Chooser {
	return masking{newTrimmed(rec, "mask", func(p *trimmed, req replay.Request) bool { return p.mask(req, keep, batch) })}
}

func (p masking) Choose(req replay.Request) replay.Choice {
	c := p.trimmed.Choose(req)
	c.Stable = p.stable(req.End)
	return c
}

// stable counts the items before the oldest result that is still in full.
func (p *trimmed) stable(end int) int {
	for _, r := range p.results(end) {
		if p.form(r) == "" && p.saves(r, masked) > 0 {
			return len(p.Lead) + r.message - p.From
		}
	}
	return 0
}

func (p *trimmed) mask(req replay.Request, keep, batch int) bool {
	all, seen := p.results(req.End), p.Rec.Seen(req.N)
	var old []result
	for _, r := range all[:max(0, len(all)-keep)] {
		if r.message < seen && p.form(r) == "" && p.saves(r, masked) > 0 {
			old = append(old, r)
		}
	}
	free := req.Cold && req.N > 0
	if len(old) == 0 || len(old) < batch && !free {
		return false
	}
	for _, r := range old {
		p.replace(r, masked)
	}
	return true
}

// edits is a history in which other texts replace some results.
type edits struct {
	of *replay.History
	// forms has the replacement of each result, by message and part.
	forms map[string]string
}

func editsOf(h *replay.History) edits {
	h.Other = map[int]replay.Item{}
	return edits{of: h, forms: map[string]string{}}
}

// result is a tool result that is shown, by message and part.
type result struct{ message, part int }

// results lists the tool results before message end, oldest first.
func (h *edits) results(end int) []result {
	var out []result
	for i := h.of.From; i < end; i++ {
		for j := range h.of.Rec.Messages[i].Parts {
			if h.of.Rec.Messages[i].Parts[j].Result != nil {
				out = append(out, result{i, j})
			}
		}
	}
	return out
}

func (h *edits) part(r result) *memkernel.Part { return &h.of.Rec.Messages[r.message].Parts[r.part] }

// replace replaces a result's content by text in this and all later prompts. It returns the number
// of saved tokens.
func (h *edits) replace(r result, text string) int {
	before := h.of.At(r.message).Tokens
	h.forms[formKey(r)] = text
	m := h.of.Rec.Messages[r.message]
	m.Raw, m.Parts = "", append([]memkernel.Part(nil), m.Parts...)
	hash := "m" + strconv.Itoa(r.message)
	for j := range m.Parts {
		form, ok := h.forms[formKey(result{r.message, j})]
		if !ok {
			continue
		}
		m.Parts[j] = withText(m.Parts[j], form)
		hash += "/" + strconv.Itoa(j) + ":" + strconv.Itoa(len(form))
	}
	it := h.of.Rec.Item(hash, m)
	h.of.Other[r.message] = it
	return before - it.Tokens
}

func formKey(r result) string { return strconv.Itoa(r.message) + "/" + strconv.Itoa(r.part) }

// form returns the text that replaces a result, "" if the result shows its own content.
func (h *edits) form(r result) string { return h.forms[formKey(r)] }

// withText returns a copy of a part that holds a tool result, with text as the result's content.
func withText(p memkernel.Part, text string) memkernel.Part {
	c := *p.Result
	c.Content, c.Text = memkernel.Text(text), true
	p.Result = &c
	return p
}

// begin drops the messages before message from. Providers refuse a prompt that begins with an
// answer or a result, so begin puts a line before such a message.
func begin(h *replay.History, from int) {
	h.From, h.Lead = from, h.Lead[:0]
	if from > 0 && from < len(h.Rec.Messages) && !transcript.PlainUser(h.Rec.Messages[from]) {
		h.Lead = append(h.Lead, h.Rec.Note("left out", leftOut))
	}
}

const leftOut = "[Earlier messages were left out.]"

// resultText returns the text of a result. media reports whether the result also holds anything
// other than text.
func resultText(p *memkernel.Part) (text string, media bool) {
	var b strings.Builder
	for i := range p.Result.Content {
		c := &p.Result.Content[i]
		media = media || c.Kind != memkernel.PartText
		b.WriteString(c.Text)
	}
	return b.String(), media || p.Result.Opaque
}
