package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/internal/cli"
)

// repository is the root of all pages.
const repository = "../.."

// namesToCome are verbs, and topics of help, that pages may name before the program has
// them. Delete a line once it has.
var namesToCome = []string{}

// page is a Markdown file taken apart. Lines count from 1.
type page struct {
	path    string // from the repository's root
	anchors []string
	links   []spot
	inline  []spot
	blocks  []block
}

// spot is a text and where it stands.
type spot struct {
	line int
	text string
}

// block is a fenced block. before is the text between it and the one before it.
type block struct {
	line         int
	info, text   string
	before       string
	output       bool // a comment says that it is what a command prints
	notRun       bool // a comment says that it is not run, and why
	notRunReason string
}

// at names a place of the page.
func (p *page) at(line int, format string, args ...any) string {
	return fmt.Sprintf("%s:%d: ", p.path, line) + fmt.Sprintf(format, args...)
}

var (
	fenceLine = regexp.MustCompile("^( *)(```+|~~~+)\\s*([^`]*)$")
	codeSpan  = regexp.MustCompile("(?s)(`+)(.+?)(`+)")
	mdLink    = regexp.MustCompile(`\]\(\s*<?([^)\s>]*)>?(?:\s+"[^"]*")?\s*\)`)
	mdRef     = regexp.MustCompile(`(?m)^ {0,3}\[[^\]]+\]:\s*(\S+)`)
	htmlLink  = regexp.MustCompile(`(?:href|src|srcset)\s*=\s*["']([^"'\s]*)`)
	htmlID    = regexp.MustCompile(`(?:id|name)\s*=\s*["']([^"']+)["']`)
	heading   = regexp.MustCompile(`^ {0,3}#{1,6}\s+(.*?)\s*#*\s*$`)
	underline = regexp.MustCompile(`^ {0,3}(=+|-+)\s*$`)
	comment   = regexp.MustCompile(`(?s)<!--(.*?)-->`)
)

// parsePage takes a page apart.
func parsePage(name, text string) *page {
	p := &page{path: name}
	var prose strings.Builder // the page with blank lines for its blocks
	lines := strings.Split(text, "\n")
	begin := 0
	for i := 0; i < len(lines); i++ {
		m := fenceLine.FindStringSubmatch(lines[i])
		if m == nil {
			prose.WriteString(lines[i] + "\n")
			continue
		}
		b := block{line: i + 1, info: strings.Fields(m[3] + " .")[0], before: strings.Join(lines[begin:i], "\n")}
		b.info = strings.TrimSuffix(b.info, ".")
		prose.WriteString("\n")
		for i++; i < len(lines); i++ {
			prose.WriteString("\n")
			if l := strings.TrimSpace(lines[i]); strings.HasPrefix(l, m[2]) && strings.Trim(l, m[2][:1]) == "" {
				break
			}
			b.text += strings.TrimPrefix(lines[i], m[1]) + "\n"
		}
		begin = i + 1
		b.comment()
		p.blocks = append(p.blocks, b)
	}
	p.prose(prose.String())
	return p
}

// comment reads the comment that stands right before a block.
func (b *block) comment() {
	before := strings.TrimSpace(b.before)
	if !strings.HasSuffix(before, "-->") {
		return
	}
	all := comment.FindAllStringSubmatch(before, -1)
	if len(all) == 0 {
		return
	}
	said := strings.TrimSpace(all[len(all)-1][1])
	b.output = strings.HasPrefix(said, "demo:") || strings.HasPrefix(said, "output:")
	if reason, ok := strings.CutPrefix(said, "not run"); ok {
		b.notRun, b.notRunReason = true, strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(reason), ":"))
	}
}

// blank replaces what matches by spaces, so that places stay.
func blank(re *regexp.Regexp, s string) string {
	return re.ReplaceAllStringFunc(s, func(m string) string {
		return strings.Map(func(r rune) rune {
			if r == '\n' {
				return r
			}
			return ' '
		}, m)
	})
}

// prose reads headings, links and code from the text between the blocks.
func (p *page) prose(text string) {
	text = blank(comment, text)
	seen := map[string]int{}
	line := 1
	for _, paragraph := range strings.SplitAfter(text, "\n\n") {
		at := func(offset int) int { return line + strings.Count(paragraph[:offset], "\n") }
		above := ""
		for l := range strings.SplitSeq(paragraph, "\n") {
			if m := heading.FindStringSubmatch(l); m != nil {
				p.anchors = append(p.anchors, anchor(m[1], seen))
			} else if above != "" && underline.MatchString(l) {
				p.anchors = append(p.anchors, anchor(above, seen))
			}
			above = strings.TrimSpace(l)
		}
		for _, m := range codeSpan.FindAllStringSubmatchIndex(paragraph, -1) {
			if m[3]-m[2] == m[7]-m[6] {
				s := strings.ReplaceAll(strings.Join(strings.Fields(paragraph[m[4]:m[5]]), " "), `\|`, "|")
				p.inline = append(p.inline, spot{at(m[0]), s})
			}
		}
		plain := blank(codeSpan, paragraph)
		for _, re := range []*regexp.Regexp{mdLink, mdRef, htmlLink} {
			for _, m := range re.FindAllStringSubmatchIndex(plain, -1) {
				p.links = append(p.links, spot{at(m[0]), plain[m[2]:m[3]]})
			}
		}
		for _, m := range htmlID.FindAllStringSubmatch(plain, -1) {
			p.anchors = append(p.anchors, m[1])
		}
		line += strings.Count(paragraph, "\n")
	}
}

// anchor is the name by which GitHub links to a heading.
func anchor(title string, seen map[string]int) string {
	title = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`).ReplaceAllString(title, "$1")
	var b strings.Builder
	for _, r := range strings.ToLower(title) {
		switch {
		case r == ' ':
			b.WriteRune('-')
		case r == '-', r == '_', unicode.IsLetter(r), unicode.IsNumber(r), unicode.IsMark(r):
			b.WriteRune(r)
		}
	}
	s := b.String()
	n := seen[s]
	seen[s]++
	if n > 0 {
		return fmt.Sprintf("%s-%d", s, n)
	}
	return s
}

// readPages reads the pages whose names match.
func readPages(t *testing.T, patterns ...string) []*page {
	t.Helper()
	var out []*page
	for _, pattern := range patterns {
		files, err := filepath.Glob(filepath.Join(repository, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("no page is called %s (%v)", pattern, err)
		}
		for _, f := range files {
			raw, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			name, err := filepath.Rel(repository, f)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, parsePage(filepath.ToSlash(name), string(raw)))
		}
	}
	return out
}

// Whose commands are run, and whose links and examples are read.
var (
	runPages = []string{"README.md", "doc/*.md"}
	allPages = append([]string{"ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "integrations/*/README.md"}, runPages...)
)

// TestPagesLinks: every link of a page to a file, a folder, a picture or a heading of this
// repository leads there.
func TestPagesLinks(t *testing.T) {
	n := 0
	for _, p := range readPages(t, allPages...) {
		n += len(p.links)
		for _, bad := range p.badLinks(os.DirFS(repository).(fileSystem)) {
			t.Error(bad)
		}
	}
	if n < 20 {
		t.Errorf("only %d links were found", n)
	}
}

// TestPagesAreListed: doc/README.md links to every page of its folder.
func TestPagesAreListed(t *testing.T) {
	linked := map[string]bool{"doc/README.md": true}
	for _, l := range readPages(t, "doc/README.md")[0].links {
		linked[path.Join("doc", l.text)] = true
	}
	for _, p := range readPages(t, "doc/*.md") {
		if !linked[p.path] {
			t.Errorf("doc/README.md does not list %s", p.path)
		}
	}
}

type fileSystem interface {
	ReadFile(name string) ([]byte, error)
	Stat(name string) (os.FileInfo, error)
}

// badLinks says which links lead nowhere.
func (p *page) badLinks(root fileSystem) []string {
	var bad []string
	for _, l := range p.links {
		if regexp.MustCompile(`^[a-z][a-z0-9+.-]*:`).MatchString(l.text) {
			continue
		}
		file, name, hasAnchor := strings.Cut(l.text, "#")
		target, anchors := p.path, p.anchors
		if file != "" {
			target = path.Join(path.Dir(p.path), file)
			if _, err := root.Stat(target); err != nil || strings.HasPrefix(target, "..") {
				bad = append(bad, p.at(l.line, "%s leads nowhere", l.text))
				continue
			}
			if hasAnchor {
				raw, err := root.ReadFile(target)
				if err != nil {
					bad = append(bad, p.at(l.line, "%s: %v", l.text, err))
					continue
				}
				anchors = parsePage(target, string(raw)).anchors
				if !strings.HasSuffix(target, ".md") {
					anchors = nil
					for i := range strings.Count(string(raw), "\n") {
						anchors = append(anchors, fmt.Sprintf("L%d", i+1))
					}
				}
			}
		} else if !hasAnchor {
			bad = append(bad, p.at(l.line, "a link has no target"))
			continue
		}
		if hasAnchor && !slices.Contains(anchors, name) {
			bad = append(bad, p.at(l.line, "%s: %s has no such heading", l.text, target))
		}
	}
	return bad
}

// TestPagesName no verb and no flag that the program does not have, neither in blocks,
// run or not, nor in code within the text.
func TestPagesName(t *testing.T) {
	root := newRoot(&cli.App{UI: &cli.UI{}})
	n := 0
	for _, p := range readPages(t, allPages...) {
		for _, s := range p.inline {
			if words := commandIn(s.text); words != nil {
				n++
				if err := known(root, words); err != nil {
					t.Error(p.at(s.line, "`%s`: %v", s.text, err))
				}
			}
		}
		for _, b := range p.blocks {
			for _, c := range b.commands() {
				for _, words := range programCalls(c.text) {
					n++
					if err := known(root, words); err != nil {
						t.Error(p.at(c.line, "%s: %v", c.text, err))
					}
				}
			}
		}
	}
	if n < 50 {
		t.Errorf("only %d commands were found", n)
	}
	for _, name := range namesToCome {
		if err := lookUp(root, strings.Fields(name)); err == nil {
			t.Logf("%q is there: its line in namesToCome can go", name)
		}
	}
}

// commandIn is the command line of a code within a text, nil if it is none.
func commandIn(s string) []string {
	words := strings.Fields(s)
	if len(words) < 2 || path.Base(words[0]) != "memkernel" || strings.HasSuffix(words[1], ":") {
		return nil
	}
	return words[1:]
}

// programCalls are the arguments of every call of the program in a line of a shell.
func programCalls(line string) [][]string {
	var out [][]string
	for _, part := range regexp.MustCompile(`[|&;()]+`).Split(line, -1) {
		words, _ := shellWords(part, func(string) string { return "" })
		for i := len(words) - 1; i >= 0; i-- {
			if name, _, _ := strings.Cut(path.Base(words[i]), "@"); name != "memkernel" || strings.Contains(words[i], "=") {
				continue
			}
			args := slices.Clone(words[i+1:])
			if i > 0 { // a host's command that holds ours: its own -- may stand within
				args = slices.DeleteFunc(args, func(s string) bool { return s == "--" })
			}
			if isProgram(words, i) {
				out = append(out, args)
			}
			break
		}
	}
	return out
}

// isProgram: the word before, if any, is an assignment, a --, the name under which a host
// is to call the program, or what starts the program that it is given.
func isProgram(words []string, i int) bool {
	if i == 0 {
		return true
	}
	before := words[i-1]
	return assignment.MatchString(before) || slices.Contains([]string{"--", "memkernel", "npx", "uvx", "-y", "--yes", "run", "exec", "time", "nohup"}, before)
}

var assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

// known fails for a verb, or a flag, that does not exist and is not to come.
func known(root *cobra.Command, words []string) error {
	for _, name := range namesToCome {
		if to := strings.Fields(name); len(words) >= len(to) && slices.Equal(words[:len(to)], to) {
			return nil
		}
	}
	return lookUp(root, words)
}

func lookUp(root *cobra.Command, words []string) error {
	cmd := root
	for i, w := range words {
		switch {
		case w == "--" || strings.HasPrefix(w, ">") || strings.HasPrefix(w, "#"):
			return nil
		case strings.HasPrefix(w, "--"):
			name, _, _ := strings.Cut(strings.TrimRight(w[2:], "….,;"), "=")
			if cmd.Flags().Lookup(name) == nil && cmd.InheritedFlags().Lookup(name) == nil && name != "help" && name != "version" {
				return fmt.Errorf("%s has no flag --%s", cmd.CommandPath(), name)
			}
		case strings.HasPrefix(w, "-") && len(w) > 1:
			if name := w[1:2]; cmd.Flags().ShorthandLookup(name) == nil && cmd.InheritedFlags().ShorthandLookup(name) == nil && name != "h" {
				return fmt.Errorf("%s has no flag -%s", cmd.CommandPath(), name)
			}
		case cmd.Name() == "help" && i == 1 && w == "terms":
			return nil // its words are held by TestTerms
		case cmd.Name() == "help" && i == 1:
			if sub, _, err := root.Find([]string{w}); err != nil || sub == root {
				return fmt.Errorf("help knows nothing of %q", w)
			}
		case cmd == root || cmd.HasSubCommands() && i > 0 && words[i-1] == cmd.Name():
			next := slices.IndexFunc(cmd.Commands(), func(c *cobra.Command) bool { return c.Name() == w || c.HasAlias(w) })
			if next >= 0 {
				cmd = cmd.Commands()[next]
			} else if cmd == root {
				return fmt.Errorf("there is no verb %q", w)
			} else if !strings.Contains(cmd.Use, "[") { // it takes no words of its own
				return fmt.Errorf("%s has no %q", cmd.CommandPath(), w)
			}
		}
	}
	return nil
}

// TestPagesFindsFaults: the checks of this file find what is wrong with a page.
func TestPagesFindsFaults(t *testing.T) {
	text := "# A `b` c: d\n\n## Twice\n\n## Twice\n\n[ok](#a-b-c-d) [ok](#under-lined) [ok](#twice-1) ![ok](pic.svg) [ok](../other.md#there) [web](https://x.example/#y)\n" +
		"[bad](#twice-2) [bad](none.md) [bad](../other.md#none)\n[bad](../../../out.md) `[code](none)` <img src=\"none.svg\"> [bad]()\n\n" +
		"```\n[not a link](none)\n```\n\n[ref]: none2.md\n\nUnder lined\n-----------\n"
	root := t.TempDir()
	for name, s := range map[string]string{"other.md": "# There\n", "sub/pic.svg": "", "sub/page.md": text} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := strings.Join(parsePage("sub/page.md", text).badLinks(os.DirFS(root).(fileSystem)), "\n")
	for _, want := range []string{":8: #twice-2", ":8: none.md", ":8: ../other.md#none", ":9: ../../../out.md", ":9: none.svg", ":9: a link has no target", "none2.md"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not found", want)
		}
	}
	if n := strings.Count(got, "\n") + 1; n != 7 {
		t.Errorf("%d faults are found, want 7:\n%s", n, got)
	}

	tree := newRoot(&cli.App{UI: &cli.UI{}})
	for line, ok := range map[string]bool{
		"memkernel plan --explain": true, "memkernel plam": false, "memkernel plan --explian": false, "memkernel undo --json": true, "memkernel prune --undo": false,
		"memkernel hook --host claude": true, "memkernel hok": false, "memkernel help terms": true, "memkernel replays": false,
		"memkernel help plan": true, "memkernel help plam": false, "X=1 memkernel plan -t f -Z": false, "memkernel search a | memkernel serch b": false,
		"claude mcp add memkernel -- memkernel mcp --private": true, "claude mcp add memkernel -- memkernel mpc": false,
		"gemini mcp add memkernel memkernel mcp -- --private": true, "gemini mcp add memkernel memkernel mcp -- --privat": false,
		"claude mcp remove memkernel": true, `"$HOME/bin/memkernel" nightly --quick`: false,
	} {
		var err error
		for _, words := range programCalls(line) {
			if e := known(tree, words); e != nil {
				err = e
			}
		}
		if (err == nil) != ok {
			t.Errorf("%s: %v, want it known: %v", line, err, ok)
		}
	}
}
