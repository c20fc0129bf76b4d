package consolidation

import (
	"fmt"
	"net/url"
	"path"
	"strings"
	"unicode"

	"github.com/memkernel/memkernel/internal/lazyregexp"
	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/markdownstore"
)

var (
	// inlineLink is [text](target "title"), images too.
	inlineLink = lazyregexp.New(`\[[^\[\]]*\]\(\s*<?([^()\s<>]*(?:\([^()\s]*\)[^()\s<>]*)*)>?(?:\s+["'(][^)]*)?\s*\)`)
	// definition is [label]: target.
	definition = lazyregexp.New(`^\s{0,3}\[[^\]]+\]:\s*<?(\S+?)>?(?:\s+["'(].*)?\s*$`)
	wikiLink   = lazyregexp.New(`\[\[([^\[\]\n]+)\]\]`)
	// memoryPath is a memory file named in running text or in code.
	memoryPath = lazyregexp.New("(?:^|[\\s`\"'(])(\\.?/?memory/[\\p{L}\\p{N}_./-]*\\.md)(#[\\p{L}\\p{N}_-]+)?")
	codeSpan   = lazyregexp.New("`+[^`]*`+")
	// codePath is a path in code: below a folder, with an ending.
	codePath   = lazyregexp.New(`^(?:\./)?[\p{L}\p{N}_][\p{L}\p{N}_.-]*(?:/[\p{L}\p{N}_.-]+)+\.[A-Za-z]{1,5}$`)
	lineAnchor = lazyregexp.New(`^L(\d+)(?:-L?(\d+))?$`)
)

// reference is one place that a file refers to.
type reference struct {
	target, anchor string
	line           int
	wiki           bool
	// code reports whether target is a path in code, which may be one of
	// another project.
	code bool
}

// links looks where every link and every mention of a memory file leads. Addresses
// of the network, and what lies outside of the workspace, are not followed.
func (a *auditor) links() {
	names := stemsOf(a.snap)
	for i := range a.snap.Files {
		f := &a.snap.Files[i]
		for _, r := range references(f.Doc) {
			if why := a.broken(f, r, names); why != "" {
				a.add(health.Finding{Severity: health.Warning, Place: health.Lines(f.Path, r.line, r.line), What: why, Hint: "correct the reference, or restore what it led to"})
			}
		}
	}
}

// stemsOf returns the names by which wiki links find files, without their
// endings, in lower case.
func stemsOf(s *Snapshot) map[string]string {
	out := map[string]string{}
	for i := range s.Files {
		p := s.Files[i].Path
		stem := strings.ToLower(strings.TrimSuffix(p, path.Ext(p)))
		out[stem] = p
		out[path.Base(stem)] = p
	}
	return out
}

// references lists what a document refers to, in order; code blocks and raw HTML
// refer to nothing.
func references(d markdownstore.Document) []reference {
	var out []reference
	for _, u := range markdownstore.Units(d) {
		if u.Kind == markdownstore.UnitCode || u.Kind == markdownstore.UnitHTML || u.Kind == markdownstore.UnitMarker {
			continue
		}
		n := u.StartLine
		for l := range lines(d.Raw[u.Start:u.End]) {
			out = append(out, lineReferences(l, n)...)
			n++
		}
	}
	return out
}

func lineReferences(l string, n int) []reference {
	var out []reference
	take := func(target string, wiki bool) {
		target, anchor, _ := strings.Cut(target, "#")
		out = append(out, reference{target: target, anchor: anchor, line: n, wiki: wiki})
	}
	for _, span := range codeSpan.FindAllString(l, -1) {
		if p := strings.Trim(span, "` "); codePath.MatchString(p) && !strings.Contains(p, "memory/") {
			out = append(out, reference{target: strings.TrimPrefix(p, "./"), line: n, code: true})
		}
	}
	if strings.Contains(l, "memory/") {
		for _, m := range memoryPath.FindAllStringSubmatch(uncommented(inlineLink.ReplaceAllString(l, "")), -1) {
			take(strings.TrimPrefix(m[1], "./")+m[2], false)
		}
	}
	if strings.IndexByte(l, '[') < 0 {
		return out
	}
	bare := codeSpan.ReplaceAllString(l, "")
	for _, m := range inlineLink.FindAllStringSubmatch(bare, -1) {
		take(m[1], false)
	}
	if m := definition.FindStringSubmatch(bare); m != nil && !strings.HasPrefix(strings.TrimSpace(bare), "[^") && looksLikeTarget(m[1]) {
		take(m[1], false)
	}
	for _, m := range wikiLink.FindAllStringSubmatch(bare, -1) {
		if name, _, _ := strings.Cut(m[1], "|"); name == strings.TrimSpace(name) && name != "" {
			take(name, true)
		}
	}
	return out
}

// looksLikeTarget distinguishes a link's definition from a tag or a label with
// a colon.
func looksLikeTarget(s string) bool { return strings.ContainsAny(s, "/#") || path.Ext(s) != "" }

// broken returns why a reference leads nowhere, "" if it leads somewhere or can't
// be followed.
func (a *auditor) broken(f *File, r reference, names map[string]string) string {
	if r.wiki {
		return a.brokenWiki(f, r, names)
	}
	target, err := url.PathUnescape(r.target)
	if err != nil {
		target = r.target
	}
	target, line := cutLine(target)
	if target == "" {
		return brokenAnchor(f, r.anchor, line)
	}
	if top, _, _ := strings.Cut(target, "/"); external(target) || placeholder(target) || r.code && !a.snap.exists(top) {
		return ""
	}
	for _, p := range [...]string{path.Join(path.Dir(f.Path), target), path.Clean(strings.TrimPrefix(target, "./"))} {
		if strings.HasPrefix(p, "../") || p == ".." {
			return ""
		}
		if g := a.snap.File(p); g != nil {
			return brokenAnchor(g, r.anchor, line)
		}
		if a.snap.exists(p) {
			return ""
		}
	}
	return fmt.Sprintf("refers to %s, which does not exist", clip(target, 120))
}

func (a *auditor) brokenWiki(f *File, r reference, names map[string]string) string {
	if r.target == "" {
		return brokenAnchor(f, r.anchor, "")
	}
	if placeholder(r.target) {
		return ""
	}
	name := strings.ToLower(strings.TrimSuffix(r.target, ".md"))
	if p, ok := names[name]; ok {
		return brokenAnchor(a.snap.File(p), r.anchor, "")
	}
	for _, p := range [...]string{r.target, r.target + ".md", path.Join(path.Dir(f.Path), r.target)} {
		if a.snap.exists(p) {
			return ""
		}
	}
	return fmt.Sprintf("refers to [[%s]], which does not exist", clip(r.target, 120))
}

// cutLine takes :12 off a path.
func cutLine(target string) (string, string) {
	i := strings.LastIndexByte(target, ':')
	if i <= 0 || strings.Trim(target[i+1:], "0123456789-") != "" {
		return target, ""
	}
	return target[:i], target[i+1:]
}

// external reports whether a target is not a path of the workspace.
func external(target string) bool {
	if strings.HasPrefix(target, "/") || strings.HasPrefix(target, "~") || strings.HasPrefix(target, `\`) {
		return true
	}
	i := strings.IndexByte(target, ':')
	return i > 0 && !strings.ContainsRune(target[:i], '/')
}

// placeholder reports whether a path is a pattern for others:
// memory/YYYY-MM-DD.md.
func placeholder(target string) bool {
	return strings.ContainsAny(target, "*<>{}$%…") || strings.Contains(target, "YYYY") || strings.Contains(target, "...") ||
		strings.Contains(target, "xxx") || strings.Contains(target, "XXX") || strings.Contains(target, "DATE")
}

// brokenAnchor returns which heading or line f does not have, "" if it has
// both.
func brokenAnchor(f *File, anchor, line string) string {
	if m := lineAnchor.FindStringSubmatch(anchor); m != nil {
		line = firstOf(m[2], m[1])
	} else if anchor != "" {
		if want, err := url.PathUnescape(anchor); err == nil {
			anchor = want
		}
		if f.Err == nil && !anchors(f.Doc)[slug(anchor)] {
			return fmt.Sprintf("refers to #%s, a heading that %s does not have", clip(anchor, 80), f.Path)
		}
	}
	n := 0
	if fmt.Sscanf(line, "%d", &n); n > f.lineCount() && f.Err == nil {
		return fmt.Sprintf("refers to line %d of %s, which has %d", n, f.Path, f.lineCount())
	}
	return ""
}

// anchors returns the slugs of a document's headings, and the ids set in it by
// hand.
func anchors(d markdownstore.Document) map[string]bool {
	out, seen := map[string]bool{"": true, "top": true}, map[string]int{}
	for _, u := range markdownstore.Units(d) {
		if u.Kind != markdownstore.UnitHeading {
			continue
		}
		s := slug(u.Label)
		out[s] = true
		if n := seen[s]; n > 0 {
			out[fmt.Sprintf("%s-%d", s, n)] = true
		}
		seen[s]++
	}
	for _, m := range handMade.FindAllStringSubmatch(d.Body, -1) {
		out[slug(firstOf(m[1], m[2]))] = true
	}
	return out
}

// handMade is an anchor written as HTML or as an attribute of a heading.
var handMade = lazyregexp.New(`(?:id|name)="([^"]+)"|\{#([^}\s]+)\}`)

// slug returns a heading's anchor as GitHub makes it: letters and digits in lower
// case, spaces as hyphens, all else gone.
func slug(s string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(s)) {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r), r == '-', r == '_':
			b.WriteRune(r)
		case r == ' ':
			b.WriteByte('-')
		}
	}
	return b.String()
}

// lines yields the lines of a text without their ends.
func lines(s string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for l := range strings.Lines(s) {
			if !yield(strings.TrimRight(l, "\r\n")) {
				return
			}
		}
	}
}
