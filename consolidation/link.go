package consolidation

import (
	"cmp"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"strings"
	"unicode"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/markdownstore"
)

var (
	// inlineLink matches a link or an image, [text](target "title").
	inlineLink = textutil.LazyRegexp(`\[[^\[\]]*\]\(\s*<?([^()\s<>]*(?:\([^()\s]*\)[^()\s<>]*)*)>?(?:\s+["'(][^)]*)?\s*\)`)
	// definition matches [label]: target.
	definition = textutil.LazyRegexp(`^\s{0,3}\[[^\]]+\]:\s*<?(\S+?)>?(?:\s+["'(].*)?\s*$`)
	inlineText = textutil.LazyRegexp(`\[([^\[\]]*)\]\([^()]*(?:\([^()]*\)[^()]*)*\)`)
	wikiLink   = textutil.LazyRegexp(`\[\[([^\[\]\n]+)\]\]`)
	// memoryPath matches the path of a memory file in running text or in code.
	memoryPath = textutil.LazyRegexp("(?:^|[\\s`\"'(])(\\.?/?memory/[\\p{L}\\p{N}_./-]*\\.md)(#[\\p{L}\\p{N}_-]+)?")
	codeSpan   = textutil.LazyRegexp("`+[^`]*`+")
	// codePath matches a path in code that is below a folder and has an ending.
	codePath   = textutil.LazyRegexp(`^(?:\./)?[\p{L}\p{N}_][\p{L}\p{N}_.-]*(?:/[\p{L}\p{N}_.-]+)+\.[A-Za-z]{1,5}$`)
	lineAnchor = textutil.LazyRegexp(`^L(\d+)(?:-L?(\d+))?$`)
)

// reference is a file's reference to a place.
type reference struct {
	target, anchor string
	line           int
	// wiki reports that the reference is a wiki link. embed reports that the target is shown in
	// the place of the link.
	wiki, embed bool
	// mention reports that the reference is a path in running text or in code, and not a link.
	// code reports that it may be a path of another project.
	mention, code bool
}

// links checks the target of every link and of every mention of a memory file. It does not follow
// network addresses and places outside of the workspace.
func (a *auditor) links() {
	names := &vault{snap: a.snap}
	today := a.today()
	var found []*lead
	for _, f := range a.snap.Files {
		for _, u := range markdownstore.Units(f.Doc) {
			if u.Kind == markdownstore.UnitCode || u.Kind == markdownstore.UnitHTML || u.Kind == markdownstore.UnitMarker {
				continue
			}
			n := u.StartLine
			for text := range textutil.Lines(f.Doc.Raw[u.Start:u.End]) {
				for _, r := range lineReferences(text, n) {
					if l := a.broken(f, r, names); l != nil {
						l.file, l.reference, l.closed = f, r, f.closed(today)
						found = append(found, l)
					}
				}
				n++
			}
		}
	}
	a.tellLeads(found)
}

func lineReferences(l string, n int) []reference {
	var out []reference
	take := func(target string, r reference) {
		r.target, r.anchor, _ = strings.Cut(target, "#")
		r.line = n
		out = append(out, r)
	}
	if strings.IndexByte(l, '/') >= 0 && strings.IndexByte(l, '`') >= 0 {
		for _, span := range codeSpan.FindAllString(l, -1) {
			if p := strings.Trim(span, "` "); strings.IndexByte(p, '/') > 0 && codePath.MatchString(p) && !strings.Contains(p, "memory/") {
				take(strings.TrimPrefix(p, "./"), reference{mention: true, code: true})
			}
		}
	}
	if strings.Contains(l, "memory/") {
		for _, m := range memoryPath.FindAllStringSubmatch(uncommented(inlineLink.ReplaceAllString(l, "")), -1) {
			take(strings.TrimPrefix(m[1], "./")+m[2], reference{mention: true})
		}
	}
	if len(out) > 0 && unmade.MatchString(l) {
		out = nil
	}
	if strings.IndexByte(l, '[') < 0 {
		return out
	}
	bare := codeSpan.ReplaceAllString(l, "")
	for _, m := range inlineLink.FindAllStringSubmatch(bare, -1) {
		if looksLikeTarget(m[1]) {
			take(m[1], reference{})
		}
	}
	if m := definition.FindStringSubmatch(bare); m != nil && !strings.HasPrefix(strings.TrimSpace(bare), "[^") && looksLikeTarget(m[1]) {
		take(m[1], reference{})
	}
	for _, at := range wikiLink.FindAllStringSubmatchIndex(bare, -1) {
		name, _, _ := strings.Cut(bare[at[2]:at[3]], "|")
		if name = strings.TrimSuffix(name, `\`); name == strings.TrimSpace(name) && strings.ContainsFunc(name, unicode.IsLetter) || dateName.MatchString(name) {
			take(name, reference{wiki: true, embed: strings.HasSuffix(bare[:at[0]], "!")})
		}
	}
	return out
}

// unmade matches a line whose paths need not exist. Such a line is an open task, or has words for
// files that were removed or are yet to be made.
var unmade = textutil.LazyRegexp(`^\s*(?:[-*+]|\d+[.)])\s+\[ \]|~~|(?i:\b(?:deleted|removed|renamed|moved|archived|superseded|obsolete|gelöscht|entfernt|umbenannt|supprimée?|déplacée?|eliminad[oa]|borrad[oa]|removid[oa]|удалён|удален|удалено)\b)|删除|刪除|移除|改名|重命名|已删|削除|삭제`)

// looksLikeTarget reports whether s looks like the target of a link. It distinguishes a link from
// code, f[i](x), and from a remark (so). It distinguishes a link's definition from a tag or a
// label with a colon.
func looksLikeTarget(s string) bool { return strings.ContainsAny(s, "/#") || path.Ext(s) != "" }

// broken returns the missing place that a reference leads to, nil if it leads somewhere or can't be
// followed.
func (a *auditor) broken(f *file, r reference, names *vault) *lead {
	target, line := strings.TrimSuffix(r.target, "/"), ""
	if !r.wiki {
		if path, err := url.PathUnescape(r.target); err == nil {
			target = path
		}
		target, line = cutLine(target)
	}
	if target == "" {
		return brokenAnchor(f, r.anchor, line)
	}
	if external.MatchString(target) || placeholder(target) {
		return nil
	}
	if r.wiki {
		switch p := names.find(target); {
		case p != "":
			return brokenAnchor(a.snap.File(p), r.anchor, "")
		case strings.Contains(target, "=") || dateName.MatchString(target) || names.partial || a.snap.exists(target) || a.snap.exists(path.Join(path.Dir(f.Path), target)):
			return nil
		}
		l := missingPlace("[["+strings.ToLower(target), "[["+clip(target, 120)+"]]")
		l.note = true
		return l
	}
	if top, _, _ := strings.Cut(target, "/"); (r.code || domain.MatchString(target)) && !a.snap.exists(top) {
		return nil
	}
	beside, at := path.Join(path.Dir(f.Path), target), path.Clean(strings.TrimPrefix(target, "./"))
	for _, p := range [...]string{beside, at} {
		if g := a.snap.File(p); g != nil {
			return brokenAnchor(g, r.anchor, line)
		}
		if strings.HasPrefix(p, "../") || p == ".." || a.snap.exists(p) {
			return nil
		}
	}
	if (a.snap.exists(".obsidian") || a.snap.exists("memory/.obsidian")) && names.find(target) != "" {
		return nil
	}
	if strings.HasPrefix(target, "./") || strings.HasPrefix(target, "../") || !r.mention && a.snap.exists(path.Dir(beside)) {
		at = beside
	}
	return missingPlace(at, clip(target, 120))
}

// domain matches a network address without a scheme.
var domain = textutil.LazyRegexp(`^(?:www\.[\w.-]+|(?:[\w-]+\.)+(?:com|org|net|io|dev|ai|edu|gov|app|rs|de|fr|uk|cn|jp|ru))(?::\d+)?(?:/|$)`)

// cutLine takes :12 off a path.
func cutLine(target string) (string, string) {
	i := strings.LastIndexByte(target, ':')
	if i <= 0 || strings.Trim(target[i+1:], "0123456789-") != "" {
		return target, ""
	}
	return target[:i], target[i+1:]
}

// external matches a target that is not a path of the workspace.
var external = textutil.LazyRegexp(`^(?:[/~\\]|[^/:]+:)`)

// placeholder reports whether a path is a pattern for other paths, such as memory/YYYY-MM-DD.md,
// or an example.
func placeholder(target string) bool {
	if strings.ContainsAny(target, "*<>{}$%…[]|") || strings.Contains(target, "...") || strings.HasPrefix(target, "path/to/") {
		return true
	}
	low := strings.ToLower(target)
	return strings.Contains(low, "yyyy") || strings.Contains(low, "xxx") || strings.Contains(low, "mm-dd") || strings.Contains(target, "DATE") ||
		exampleName.MatchString(strings.TrimSuffix(path.Base(low), path.Ext(low)))
}

// exampleName is a placeholder name.
var exampleName = textutil.LazyRegexp(`^(?:(?:some|your|my|any|the|new)[-_ ]?)?(?:foo|bar|baz|topic|topics|file|filename|name|note|notename|example|sample|thing|slug|title|url|link|target|path|wiki ?-?links?|主题|话题|文件名|示例|名称|标题)[-_ ]?[0-9n]?$`)

// brokenAnchor returns the heading or line that f does not have, nil if it has both. f may be nil.
func brokenAnchor(f *file, anchor, line string) *lead {
	if f == nil || f.Err != nil {
		return nil
	}
	if m := lineAnchor.FindStringSubmatch(anchor); m != nil {
		line = cmp.Or(m[2], m[1])
	} else if anchor != "" && !hasAnchor(f, anchor) {
		name := "#" + clip(anchor, 80)
		return &lead{place: f.Path + "#" + anchor, name: name, fault: fmt.Sprintf("%s, a heading that %s does not have", name, f.Path)}
	}
	n := 0
	if fmt.Sscanf(line, "%d", &n); n > f.lineCount() {
		name := "line " + line
		return &lead{place: fmt.Sprintf("%s:%d", f.Path, n), name: name, fault: fmt.Sprintf("%s of %s, which has %d", name, f.Path, f.lineCount())}
	}
	return nil
}

// hasAnchor reports whether a file has the target of an anchor. The target is a heading in any
// usual spelling, or a block with that id. Of several headings, as Obsidian nests them, the last
// counts. Other text after a # (#page=3, #:~:text=) is not looked for.
func hasAnchor(f *file, anchor string) bool {
	if want, err := url.PathUnescape(anchor); err == nil {
		anchor = want
	}
	anchor = anchor[strings.LastIndexByte(anchor, '#')+1:]
	if anchor == "TODO" || strings.Contains(anchor, "=") || strings.HasPrefix(anchor, ":~:") {
		return true
	}
	if id, ok := strings.CutPrefix(anchor, "^"); ok {
		return strings.Contains(f.Doc.Raw, "^"+id)
	}
	return anchors(f.Doc)[bareSlug(anchor)]
}

// anchors returns the bare slugs of a document's headings, and the ids set in it by
// hand.
func anchors(d markdownstore.Document) map[string]bool {
	out, seen := map[string]bool{"": true, "top": true}, map[string]int{}
	for _, u := range markdownstore.Units(d) {
		if u.Kind != markdownstore.UnitHeading {
			continue
		}
		s := bareSlug(wikiLink.ReplaceAllString(inlineText.ReplaceAllString(u.Label, "$1"), "$1"))
		out[s] = true
		if n := seen[s]; n > 0 {
			out[fmt.Sprintf("%s%d", s, n)] = true
		}
		seen[s]++
	}
	for _, m := range handMade.FindAllStringSubmatch(d.Body, -1) {
		out[bareSlug(cmp.Or(m[1], m[2]))] = true
	}
	return out
}

// handMade matches an anchor written as HTML or as an attribute of a heading.
var handMade = textutil.LazyRegexp(`(?:id|name)="([^"]+)"|\{#([^}\s]+)\}`)

// bareSlug returns the letters and digits of a heading or an anchor, in lower case. Hosts treat
// the other characters differently: spaces, signs, several hyphens in a row.
func bareSlug(s string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(s) {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// mostNames is the most files of a workspace that are searched for the target of a wiki link. In
// a larger workspace, missing targets are not reported.
const mostNames = 20_000

// vault finds files by the names in wiki links, as Obsidian does. A name is the end of a path in
// any case, with or without the ending of a note, or an alias.
type vault struct {
	snap    *Snapshot
	byName  map[string][]string // the lower-case base name, with and without .md, to paths
	aliases map[string]string
	partial bool
}

// dateName matches a note of a day, week, month or year, which need not exist yet.
var dateName = textutil.LazyRegexp(`^\d{4}(?:[-/.](?:\d{2}|W\d{1,2}|Q\d)(?:[-/.]\d{2})?)?$`)

// read lists the names, once.
func (v *vault) read() {
	if v.byName != nil {
		return
	}
	v.byName, v.aliases = map[string][]string{}, map[string]string{}
	n := 0
	_ = fs.WalkDir(v.snap.fsys, ".", func(p string, d fs.DirEntry, err error) error {
		name := path.Base(p)
		switch {
		case err != nil:
			v.partial = true
			return nil
		case d.IsDir() && p != "." && (strings.HasPrefix(name, ".") || name == "node_modules"):
			return fs.SkipDir
		case d.IsDir():
			return nil
		case n == mostNames:
			v.partial = true
			return fs.SkipAll
		}
		n++
		low := strings.ToLower(textutil.Composed(name))
		v.byName[low] = append(v.byName[low], p)
		if stem, note := strings.CutSuffix(low, ".md"); note {
			v.byName[stem] = append(v.byName[stem], p)
		}
		return nil
	})
	for _, f := range v.snap.Files {
		for _, key := range [...]string{"aliases", "alias"} {
			list, one := f.Doc.Meta[key].([]any)
			if text, ok := f.Doc.Meta[key].(string); ok && !one {
				for s := range strings.SplitSeq(text, ",") {
					list = append(list, s)
				}
			}
			for _, alias := range list {
				if s, ok := alias.(string); ok {
					v.aliases[strings.ToLower(strings.TrimSpace(s))] = f.Path
				}
			}
		}
	}
}

// find returns the file that a name leads to, "" if there is none.
func (v *vault) find(name string) string {
	v.read()
	low := strings.TrimPrefix(strings.ToLower(textutil.Composed(path.Clean(name))), "/")
	for strings.HasPrefix(low, "../") {
		low = low[len("../"):]
	}
	for _, p := range v.byName[path.Base(low)] {
		if at := strings.ToLower(textutil.Composed(p)); at == low || at == low+".md" || strings.HasSuffix(at, "/"+low) || strings.HasSuffix(at, "/"+low+".md") {
			return p
		}
	}
	return v.aliases[low]
}
