package markdownstore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
)

// leftReason is the reason why a Markdown file of the workspace is not memory.
type leftReason string

// The reasons.
const (
	// leftUnread: the system refuses to read it.
	leftUnread leftReason = "unreadable"
	// leftBinary: its content is no text.
	leftBinary leftReason = "no_text"
	// leftShadowed: it is a memory.md next to MEMORY.md.
	leftShadowed leftReason = "shadowed"
	// leftTooLarge: it is larger than Options.MaxFileBytes.
	leftTooLarge leftReason = "too_large"
	// leftName: its name, or a folder's, holds characters that can't be shown.
	leftName leftReason = "name"
	// leftLink: it is a symbolic link, or in a folder that is a symbolic link.
	leftLink leftReason = "link"
	// leftExcluded: Options.Exclude leaves it out.
	leftExcluded leftReason = "excluded"
	// leftIgnored: a .gitignore file leaves it out.
	leftIgnored leftReason = "gitignore"
	// leftNotIncluded: no glob of Options.Include takes it in.
	leftNotIncluded leftReason = "not_included"
	// leftHidden: its name or a folder's begins with a dot.
	leftHidden leftReason = "hidden"
	// leftGenerated: the file was left out because its folder holds dependencies or build results.
	leftGenerated leftReason = "generated"
)

// leftReasons are the reasons in the order of reports.
var leftReasons = []leftReason{leftUnread, leftBinary, leftShadowed, leftTooLarge, leftName, leftLink, leftExcluded, leftIgnored, leftNotIncluded, leftHidden, leftGenerated}

// LeftOut counts the Markdown files that are left out, and names some.
type LeftOut struct {
	Files int `json:"files"`
	// Reasons are the reasons that occur, the most interesting first.
	Reasons []LeftCount `json:"reasons"`
	// First are at most ten files, in the order of their reasons.
	First []LeftFile `json:"first"`
	// More reports whether the counts may be too low. That is so if the walk did not enter every folder
	// that has no included file.
	More bool `json:"more"`

	found map[leftReason][]LeftFile
}

// LeftCount is the number of files that are left out for a reason.
type LeftCount struct {
	Reason leftReason `json:"reason"`
	Files  int        `json:"files"`
}

// LeftFile is a file that is left out.
type LeftFile struct {
	Path   string     `json:"path"`
	Reason leftReason `json:"reason"`
}

const (
	// firstLeft is the number of files in LeftOut.First.
	firstLeft = 10
	// maxSpared bounds the number of files and folders that are counted in folders without included
	// files.
	maxSpared = 20_000
)

// words holds a short text for each reason.
var words = map[leftReason]string{leftUnread: "can't be read", leftBinary: "no text", leftShadowed: "MEMORY.md in its place", leftTooLarge: "too large",
	leftName: "name can't be shown", leftLink: "links", leftExcluded: "index.exclude",
	leftIgnored: ".gitignore", leftNotIncluded: "not in index.include", leftHidden: "hidden", leftGenerated: "vendored or built"}

// Text returns the reason in a few words.
func (r leftReason) Text() string { return words[r] }

// String returns a line such as "left out: 12 Markdown files (.gitignore 9, hidden 3)", or "" if
// nothing is left out.
func (l LeftOut) String() string {
	if l.Files == 0 {
		return ""
	}
	return "left out: " + l.count("Markdown file")
}

// count returns the number of files that are left out, in all and for each reason, as text.
func (l LeftOut) count(noun string) string {
	var why []string
	for _, r := range l.Reasons {
		why = append(why, fmt.Sprintf("%s %d", r.Reason.Text(), r.Files))
	}
	least := ""
	if l.More {
		least = "at least "
	}
	return fmt.Sprintf("%s%s (%s)", least, plural(l.Files, noun), strings.Join(why, ", "))
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Survey counts the Markdown files of a workspace by their use.
type Survey struct {
	// Searched counts the files that a search reads. Standing counts the other listed files, such
	// as the instructions that agents read by themselves.
	Searched int `json:"searched_files"`
	Standing int `json:"standing_files"`
	// LeftOut are all other Markdown files.
	LeftOut LeftOut `json:"left_out"`
}

// Text returns a line such as "4 Markdown files: 3 searched, 1 read by agents themselves".
func (v *Survey) Text() string {
	n := v.Searched + v.Standing + v.LeftOut.Files
	if n == 0 {
		return "no Markdown yet"
	}
	parts := []string{fmt.Sprintf("%d searched", v.Searched)}
	if v.Standing > 0 {
		parts = append(parts, fmt.Sprintf("%d read by agents themselves", v.Standing))
	}
	if v.LeftOut.Files > 0 {
		parts = append(parts, "left out: "+v.LeftOut.count("file"))
	}
	return plural(n, "Markdown file") + ": " + strings.Join(parts, ", ")
}

// add counts a file. A nil LeftOut counts nothing.
func (l *LeftOut) add(p string, why leftReason) {
	if l != nil {
		l.found[why] = append(l.found[why], LeftFile{p, why})
	}
}

// settle sets Files, Reasons and First from the counted files.
func (l *LeftOut) settle() {
	l.Reasons, l.First = []LeftCount{}, []LeftFile{}
	for _, why := range leftReasons {
		if files := l.found[why]; len(files) > 0 {
			l.Files += len(files)
			l.Reasons = append(l.Reasons, LeftCount{why, len(files)})
			l.First = append(l.First, files[:min(firstLeft-len(l.First), len(files))]...)
		}
	}
}

// LeftOut searches the workspace for Markdown that Walk does not list, by names and stats alone.
// If it did not look at all files, it sets More.
func (s *Store) LeftOut(ctx context.Context) (LeftOut, error) {
	v, err := s.survey(ctx, func(string) leftReason { return "" })
	return v.LeftOut, err
}

// Survey counts the Markdown of the workspace. It opens each file that is searched, and counts a
// file that can't be read, or is no text, among the files that are left out.
func (s *Store) Survey(ctx context.Context) (Survey, error) { return s.survey(ctx, s.unsearchable) }

func (s *Store) survey(ctx context.Context, unsearchable func(path string) leftReason) (v Survey, err error) {
	l := &v.LeftOut
	l.found = map[leftReason][]LeftFile{}
	tell := func(f File, err error) bool {
		var denied *DeniedError
		switch {
		case errors.As(err, &denied) && denied.Reason == denyName:
			l.add(f.Path, leftName)
		case errors.As(err, &denied):
			l.add(f.Path, leftLink)
		case errors.Is(err, errTooMany):
			l.More = true
		case err != nil && f.Path != "":
			l.add(f.Path, leftUnread)
		case err != nil:
		case f.TooLarge:
			l.add(f.Path, leftTooLarge)
		case f.Shadowed:
			l.add(f.Path, leftShadowed)
		case !f.Indexed:
			v.Standing++
		default:
			if why := unsearchable(f.Path); why != "" {
				l.add(f.Path, why)
			} else {
				v.Searched++
			}
		}
		return true
	}
	w := newWalker(ctx, s, tell)
	w.leftOut = l
	if w.known() {
		w.tree("", nil, "")
	}
	l.settle()
	return v, ctx.Err()
}

// unsearchable returns the reason why a listed file can't be searched, or "" if it can.
func (s *Store) unsearchable(path string) leftReason {
	pl, err := s.locate(path)
	if err != nil || pl.info == nil {
		return leftUnread
	}
	f, _, err := s.open(pl)
	if err != nil {
		return leftUnread
	}
	defer f.Close()
	head, err := readAll(f, binarySample, binarySample)
	switch {
	case err != nil:
		return leftUnread
	case binaryWhy(textutil.UTF8(head)) != "":
		return leftBinary
	}
	return ""
}

// MemoryWorkspace reports whether the workspace has files that agents keep as memory, such as
// MEMORY.md and memory/. In any other workspace all Markdown counts alike.
func (s *Store) MemoryWorkspace() bool {
	for _, name := range rootNames {
		switch name {
		case "AGENTS.md", "TOOLS.md", "BOOT.md", "SESSION-STATE.md", bufferName:
			continue // other programs have files of these names, or this one made them
		}
		if _, err := s.files.Lstat(name); err == nil {
			return true
		}
	}
	fi, err := s.files.Lstat(memoryDir)
	if err != nil || !fi.IsDir() {
		return false
	}
	if entries, err := readDir(s.files, memoryDir); err == nil && len(entries) == 0 {
		return true // it waits for text to remember
	}
	found := false
	newWalker(context.Background(), s, func(_ File, err error) bool {
		found = err == nil
		return !found
	}).folder(memoryDir)
	return found
}
