package markdownstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// LeftReason is why a Markdown file of the workspace is no memory.
type LeftReason string

// The reasons.
const (
	// LeftTooLarge: it is larger than Options.MaxFileBytes.
	LeftTooLarge LeftReason = "too_large"
	// LeftName: its name, or a folder's, holds characters that can't be shown.
	LeftName LeftReason = "name"
	// LeftLink: it is a symbolic link, or in a folder that is a symbolic link.
	LeftLink LeftReason = "link"
	// LeftExcluded: Options.Exclude leaves it out.
	LeftExcluded LeftReason = "excluded"
	// LeftIgnored: a .gitignore file leaves it out.
	LeftIgnored LeftReason = "gitignore"
	// LeftNotIncluded: no glob of Options.Include takes it in.
	LeftNotIncluded LeftReason = "not_included"
	// LeftHidden: its name or a folder's begins with a dot.
	LeftHidden LeftReason = "hidden"
	// LeftGenerated: it is in a folder of dependencies or of build results.
	LeftGenerated LeftReason = "generated"
)

// leftReasons are the reasons in the order of reports.
var leftReasons = []LeftReason{LeftTooLarge, LeftName, LeftLink, LeftExcluded, LeftIgnored, LeftNotIncluded, LeftHidden, LeftGenerated}

// LeftOut counts the Markdown files that are left out, and names some.
type LeftOut struct {
	Files int `json:"files"`
	// Reasons are the reasons that occur, the most interesting first.
	Reasons []LeftCount `json:"reasons"`
	// First are at most ten files, in the order of their reasons.
	First []LeftFile `json:"first"`
	// More reports whether more files may be left out, because not all folders without included
	// files were searched.
	More bool `json:"more"`

	named map[LeftReason][]LeftFile
	count map[LeftReason]int
}

// LeftCount is how many files are left out for a reason.
type LeftCount struct {
	Reason LeftReason `json:"reason"`
	Files  int        `json:"files"`
}

// LeftFile is a file that is left out.
type LeftFile struct {
	Path   string     `json:"path"`
	Reason LeftReason `json:"reason"`
}

const (
	// firstLeft is how many files are named.
	firstLeft = 10
	// maxSpared bounds the files and folders that are looked at where nothing is
	// included.
	maxSpared = 20_000
)

// words are the reasons as people read them.
var words = map[LeftReason]string{LeftTooLarge: "too large", LeftName: "name can't be shown", LeftLink: "links", LeftExcluded: "index.exclude",
	LeftIgnored: ".gitignore", LeftNotIncluded: "not in index.include", LeftHidden: "hidden", LeftGenerated: "vendored or built"}

// Text is the reason in a word or two.
func (r LeftReason) Text() string { return words[r] }

// String returns a line such as "left out: 12 files (.gitignore 9, hidden 3)", or "" if nothing
// is left out.
func (l LeftOut) String() string {
	if l.Files == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("left out: ")
	if l.More {
		b.WriteString("at least ")
	}
	fmt.Fprintf(&b, "%d Markdown file", l.Files)
	if l.Files > 1 {
		b.WriteByte('s')
	}
	for i, r := range l.Reasons {
		b.WriteString([]string{" (", ", "}[min(i, 1)])
		fmt.Fprintf(&b, "%s %d", r.Reason.Text(), r.Files)
	}
	return b.String() + ")"
}

func (l *LeftOut) add(p string, why LeftReason) {
	if l.count == nil {
		l.count, l.named = map[LeftReason]int{}, map[LeftReason][]LeftFile{}
	}
	l.count[why]++
	if len(l.named[why]) < firstLeft {
		l.named[why] = append(l.named[why], LeftFile{p, why})
	}
}

// settle fills in the reported numbers.
func (l *LeftOut) settle() {
	l.Reasons, l.First = []LeftCount{}, []LeftFile{}
	for _, why := range leftReasons {
		n := l.count[why]
		if n == 0 {
			continue
		}
		l.Files += n
		l.Reasons = append(l.Reasons, LeftCount{why, n})
		l.First = append(l.First, l.named[why]...)
	}
	l.First = slices.Clip(l.First[:min(firstLeft, len(l.First))])
}

// LeftOut searches the workspace for Markdown that Walk does not list, by names and stats alone.
// If it did not look at all files, it sets More.
func (s *Store) LeftOut(ctx context.Context) (LeftOut, error) {
	l := &LeftOut{}
	tell := func(f File, err error) bool {
		var denied *DeniedError
		switch {
		case errors.As(err, &denied) && denied.Reason == DenyName:
			l.add(f.Path, LeftName)
		case errors.As(err, &denied):
			l.add(f.Path, LeftLink)
		case errors.Is(err, ErrTooMany):
			l.More = true
		case err == nil && f.TooLarge:
			l.add(f.Path, LeftTooLarge)
		}
		return true
	}
	for f, err := range s.known(ctx) {
		tell(f, err)
	}
	t := treeWalk{walker: newWalker(ctx, s, tell), include: &s.include, left: l}
	t.folder("", nil, "")
	l.settle()
	return *l, ctx.Err()
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
	w := newWalker(context.Background(), s, nil)
	if entries, err := w.readDir(memoryDir); err == nil && len(entries) == 0 {
		return true // it waits for text to remember
	}
	found := false
	w.yield = func(f File, err error) bool {
		found = err == nil
		return !found
	}
	w.folder(memoryDir)
	return found
}
