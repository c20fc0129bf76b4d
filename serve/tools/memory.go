package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
)

// Anthropic's memory tool (memory_20250818) needs no description for a model that knows it. The
// model sees the workspace's memory as files below /memories. MEMORY.md is /memories/MEMORY.md, and
// memory/deploys.md is /memories/deploys.md.
const (
	memoryRoot = "/memories"
	ownMemory  = "MEMORY.md"
	lowMemory  = "memory.md"
	ownFolder  = "memory"
	// mostLines is the largest number of lines of a viewed file.
	mostLines = 999_999
	// mostTries is how often a command is tried again because the file changed meanwhile.
	mostTries = 5
)

// wrong is an answer of a command with is_error.
type wrong struct{ text string }

func (w *wrong) Error() string { return w.text }

func wrongf(format string, a ...any) error { return &wrong{fmt.Sprintf(format, a...)} }

// Memory answers a call of Anthropic's memory tool with the text of its result, and reports
// whether the call failed. The texts are those of Anthropic's own implementations. Refusals that
// these don't have, such as for lines that a person wrote, use this package's words. The error is
// the context's, or a closed kernel's.
func (s *Set) Memory(ctx context.Context, input json.RawMessage) (text string, isError bool, err error) {
	limited, cancel := context.WithTimeout(ctx, s.opts.Timeout)
	defer cancel()
	text, err = s.memory(limited, input)
	var w *wrong
	switch {
	case err == nil:
		return text, false, nil
	case errors.As(err, &w):
		return w.text, true, nil
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		return fmt.Sprintf("It took more than %v. Whether it was done is not known: view the file.", s.opts.Timeout), true, nil
	case failed(ctx, err):
		return "", false, fmt.Errorf("memory: %w", err)
	}
	return err.Error(), true, nil
}

// command is the input of a call.
type command struct {
	Command    string  `json:"command"`
	Path       *string `json:"path"`
	ViewRange  []int   `json:"view_range"`
	FileText   *string `json:"file_text"`
	OldStr     *string `json:"old_str"`
	NewStr     *string `json:"new_str"`
	InsertLine *int    `json:"insert_line"`
	InsertText *string `json:"insert_text"`
	OldPath    *string `json:"old_path"`
	NewPath    *string `json:"new_path"`
}

func (s *Set) memory(ctx context.Context, input json.RawMessage) (string, error) {
	if len(input) > maxArgs {
		return "", wrongf("The input has %d bytes; at most %d are read.", len(input), maxArgs)
	}
	var c command
	if err := json.Unmarshal(input, &c); err != nil {
		return "", wrongf("The input is not that of the memory tool: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	run, ok := map[string]func(context.Context, *command, *place) (string, error){
		"view": s.view, "create": s.create, "str_replace": s.replace, "insert": s.insert, "delete": s.remove, "rename": s.rename,
	}[c.Command]
	if !ok {
		return "", wrongf("Unknown command %.40q: give view, create, str_replace, insert, delete or rename.", c.Command)
	}
	if off := s.disabled(); off != "" {
		return "", wrongf("Memory is disabled: %s", off)
	}
	switch {
	case c.Command != "view" && s.opts.ReadOnly:
		return "", wrongf("Memory is read only here: view is all that can be done.")
	case c.Command != "view" && s.k.Editor().Rule() == api.EditNone:
		return "", wrongf("Memory is read only here: %s", api.ErrEditsOff)
	}
	name, path := "path", c.Path
	if c.Command == "rename" {
		name, path = "old_path", c.OldPath
	}
	at, err := placeIn(&c, name, path)
	if err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		err := s.look(ctx, at)
		text := ""
		if err == nil {
			text, err = run(ctx, &c, at)
		}
		// Another process has changed a file since it was read.
		if !errors.As(err, new(*api.StaleError)) || n == mostTries {
			return text, err
		}
	}
}

// need returns a required argument.
func need[T any](c *command, name string, v *T) (out T, err error) {
	if v == nil {
		return out, wrongf("%s: `%s` is missing.", c.Command, name)
	}
	return *v, nil
}

// place is a place below /memories.
type place struct {
	said string // as the call names it
	rel  string // below /memories, "" for the folder itself
	file string // its path in the workspace

	// content is the file of that name, which may not exist. It is nil for a folder. folder has the
	// files of a folder. look sets both.
	content *api.MemoryFile
	folder  []listed
}

// placeIn reads the path in an argument. It refuses by its form any path that might lead out of
// memory.
func placeIn(c *command, name string, v *string) (*place, error) {
	said, err := need(c, name, v)
	if err != nil {
		return nil, err
	}
	rest, ok := strings.CutPrefix(said, memoryRoot)
	switch {
	case !ok || rest != "" && rest[0] != '/':
		return nil, wrongf("Path must start with %s, got: %s", memoryRoot, clean(said))
	case leads(rest):
		return nil, wrongf("Path %s would escape %s directory", clean(said), memoryRoot)
	case !textutil.IsVisible(rest) && rest != "":
		return nil, wrongf("Path %s has characters that can't be shown: use another name.", clean(said))
	}
	at := placeOf(said, strings.Trim(path.Clean("/"+rest), "/"))
	if at.file != ownMemory && namesMemory(at.rel) {
		return nil, wrongf("Path %s is spelled otherwise than %s/%s: use that.", said, memoryRoot, ownMemory)
	}
	return at, nil
}

// placeOf returns a place by its path below /memories.
func placeOf(said, rel string) *place {
	if rel == ownMemory || rel == lowMemory {
		return &place{said: said, rel: ownMemory, file: ownMemory}
	}
	return &place{said: said, rel: rel, file: path.Join(ownFolder, rel)}
}

// namesMemory reports whether a path begins with the name of MEMORY.md in any spelling.
func namesMemory(rel string) bool {
	first, _, _ := strings.Cut(rel, "/")
	return strings.EqualFold(first, ownMemory)
}

// leads reports whether a path, plain or decoded, could leave its folder: it has a part "..", a
// backslash, a NUL, or an encoded slash.
func leads(p string) bool {
	for range 4 {
		if strings.ContainsAny(p, "\\\x00") || slices.Contains(strings.Split(p, "/"), "..") {
			return true
		}
		decoded, err := url.PathUnescape(p)
		if err != nil || decoded == p {
			return false
		}
		if strings.Count(decoded, "/") != strings.Count(p, "/") {
			return true
		}
		p = decoded
	}
	return true
}

// clean returns a path in a form that an answer may quote.
func clean(p string) string {
	if textutil.IsVisible(p) && len(p) <= 300 {
		return p
	}
	return strconv.QuoteToASCII(p[:min(len(p), 300)])
}

// listed is a file below /memories.
type listed struct {
	rel, file string
	size      int64
}

// files lists the files below /memories, by path.
func (s *Set) files(ctx context.Context) ([]listed, error) {
	all, err := s.k.Editor().Files(ctx, s.opts.Private)
	if err != nil {
		return nil, err
	}
	var out []listed
	for _, f := range all {
		rel, ok := strings.CutPrefix(f.Path, ownFolder+"/")
		switch {
		case f.Path == ownMemory, f.Path == lowMemory:
			rel = ownMemory
		case !ok, f.Kind == markdownstore.KindBuffer, f.Kind == markdownstore.KindState, namesMemory(rel): // that is another file's name here
			continue
		}
		out = append(out, listed{rel, f.Path, f.Size})
	}
	return out, nil
}

// look finds whether a place is a file, a folder, or neither.
func (s *Set) look(ctx context.Context, at *place) error {
	files, err := s.files(ctx)
	if err != nil {
		return err
	}
	at.content, at.folder = nil, nil
	for _, f := range files {
		if at.rel == "" || strings.HasPrefix(f.rel, at.rel+"/") {
			at.folder = append(at.folder, f)
		}
	}
	if len(at.folder) > 0 || at.rel == "" {
		return nil
	}
	at.content = &api.MemoryFile{}
	if !slices.ContainsFunc(files, func(f listed) bool { return f.rel == at.rel }) {
		return nil
	}
	c, err := s.k.Editor().Content(ctx, at.file, s.opts.Private)
	if errors.Is(err, markdownstore.ErrDenied) {
		return nil // it isn't there for this session
	}
	at.content = c
	return err
}

// exists returns the error for a place that is neither a file nor a folder, with the end of its text.
func (at *place) exists(end string) error {
	if at.content != nil && !at.content.Exists {
		return wrongf("The path %s does not exist%s", at.said, end)
	}
	return nil
}

const giveValid = ". Please provide a valid path."

// changeable returns an error for a place that is no file that a command may change.
func (at *place) changeable() error {
	switch {
	case at.content == nil:
		return wrongf("The path %s is not a file.", at.said)
	case at.content.Secrets:
		return &api.SecretError{Path: at.said}
	}
	return at.exists(giveValid)
}

func (s *Set) view(_ context.Context, c *command, at *place) (string, error) {
	if n := len(c.ViewRange); n != 0 && n != 2 {
		return "", wrongf("Invalid `view_range` parameter: it has %d numbers. It should be the first and the last line, -1 for the end of the file.", n)
	}
	if at.content == nil {
		return listing(at), nil
	}
	if err := at.exists(giveValid); err != nil {
		return "", err
	}
	return numbered(at.said, at.content.Text, c.ViewRange)
}

// listing shows a folder, two levels deep.
func listing(at *place) string {
	total := int64(0)
	sizes := map[string]int64{}
	var names []string
	for _, f := range at.folder {
		rel := f.rel
		if at.rel != "" {
			rel = strings.TrimPrefix(rel, at.rel+"/")
		}
		total += f.size
		parts := strings.Split(rel, "/")
		for i := range min(len(parts), 2) {
			name := strings.Join(parts[:i+1], "/")
			if i+1 < len(parts) {
				name += "/"
			}
			if _, ok := sizes[name]; !ok {
				names = append(names, name)
			}
			sizes[name] += f.size
		}
	}
	// A folder is sorted by its name, and its files follow it.
	slices.SortFunc(names, func(a, b string) int { return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/")) })
	said := strings.TrimRight(at.said, "/")
	var b strings.Builder
	fmt.Fprintf(&b, "Here're the files and directories up to 2 levels deep in %s, excluding hidden items and node_modules:\n%s\t%s", at.said, fileSize(total), said)
	for _, n := range names {
		fmt.Fprintf(&b, "\n%s\t%s/%s", fileSize(sizes[n]), said, n)
	}
	return b.String()
}

// fileSize returns a size in the form of a listing: 12B, 1.5K, 3M.
func fileSize(n int64) string {
	size, unit := float64(n), 0
	for size >= 1024 && unit < 3 {
		size, unit = size/1024, unit+1
	}
	text := strconv.FormatFloat(size, 'f', 1, 64)
	return strings.TrimSuffix(text, ".0") + "BKMG"[unit:unit+1]
}

func numberedLine(i int, line string) string { return fmt.Sprintf("%6d\t%s", i+1, line) }

// numbered shows lines of a file. It names the lines for which an answer has no room.
func numbered(said, text string, view []int) (string, error) {
	lines := strings.Split(text, "\n")
	if len(lines) > mostLines {
		return "", wrongf("File %s has too many lines (%d). Maximum is 999,999 lines.", said, len(lines))
	}
	from, to := 0, len(lines)
	if len(view) == 2 {
		from = max(view[0], 1) - 1
		if view[1] >= 0 {
			to = min(view[1], len(lines))
		} else if view[1] != -1 {
			to = max(len(lines)+view[1], 0)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Here's the content of %s with line numbers:\n", said)
	for i := from; i < to; i++ {
		line := numberedLine(i, lines[i])
		if b.Len()+len(line) > maxText {
			if i == from { // one line alone is too long
				b.WriteString(strings.ToValidUTF8(line[:maxText-b.Len()], ""))
				i++
			}
			fmt.Fprintf(&b, "\n… The file has %d lines: view the rest with view_range [%d, -1].", len(lines), i+1)
			break
		}
		if i > from {
			b.WriteByte('\n')
		}
		b.WriteString(line)
	}
	return b.String(), nil
}

// rewrite makes a change of files for the session.
func (s *Set) rewrite(ctx context.Context, files ...api.EditFile) (*api.Edited, error) {
	return s.k.Editor().Rewrite(ctx, api.EditRequest{SessionKey: s.opts.SessionKey, Files: files, Private: s.opts.Private})
}

// makeable refuses names that no memory file may have.
func makeable(at *place) error {
	if at.rel == "" {
		return wrongf("File %s already exists", at.said)
	}
	if len(at.rel) <= len(".md") || !strings.EqualFold(at.rel[len(at.rel)-len(".md"):], ".md") {
		return wrongf("The file %s can't be created: memory keeps Markdown, so its name has to end in .md", at.said)
	}
	for name := range strings.SplitSeq(at.rel, "/") {
		if strings.HasPrefix(name, ".") || name == "node_modules" {
			return wrongf("The file %s can't be created: memory has no hidden files and no node_modules", at.said)
		}
	}
	return nil
}

func (s *Set) create(ctx context.Context, c *command, at *place) (string, error) {
	text, err := need(c, "file_text", c.FileText)
	if err == nil {
		err = makeable(at)
	}
	if err == nil && (at.content == nil || at.content.Exists) {
		err = wrongf("File %s already exists", at.said)
	}
	if err == nil {
		_, err = s.rewrite(ctx, api.EditFile{Path: at.file, Text: text})
	}
	return "File created successfully at: " + at.said, err
}

func (s *Set) replace(ctx context.Context, c *command, at *place) (string, error) {
	old, err := need(c, "old_str", c.OldStr)
	if err == nil && old == "" {
		err = wrongf("No replacement was performed, old_str is empty. Please give the text to be replaced.")
	}
	if err == nil {
		err = at.changeable()
	}
	if err != nil {
		return "", err
	}
	with, _ := need(c, "new_str", c.NewStr) // nothing without it
	old, with = strings.ReplaceAll(old, "\r\n", "\n"), strings.ReplaceAll(with, "\r\n", "\n")
	before, after, found := strings.Cut(at.content.Text, old)
	switch {
	case !found:
		return "", wrongf("No replacement was performed, old_str `%s` did not appear verbatim in %s.", old, at.said)
	case strings.Contains(at.content.Text[len(before)+1:], old):
		return "", wrongf("No replacement was performed. Multiple occurrences of old_str `%s` in lines: %s. Please ensure it is unique", old, linesWith(at.content.Text, old))
	}
	text := before + with + after
	e, err := s.rewrite(ctx, api.EditFile{Path: at.file, Version: at.content.Version, Text: text})
	if err != nil {
		return "", err
	}
	if now, err := s.k.Editor().Content(ctx, at.file, s.opts.Private); err == nil && now.Version == e.Files[0].Version {
		text = now.Text // secrets in it are masked
	}
	return "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n" + snippet(text, strings.Count(before, "\n")), nil
}

// linesWith returns the lines of text on which s begins.
func linesWith(text, s string) string {
	var out []string
	for i := 0; ; {
		n := strings.Index(text[i:], s)
		if n < 0 {
			return strings.Join(slices.Compact(out), ", ")
		}
		out = append(out, strconv.Itoa(1+strings.Count(text[:i+n], "\n")))
		i += n + 1
	}
}

// snippet shows a line, counted from 0, with two lines before and two after it.
func snippet(text string, line int) string {
	lines := strings.Split(text, "\n")
	var out []string
	for i := max(line-2, 0); i < min(line+3, len(lines)); i++ {
		out = append(out, numberedLine(i, lines[i]))
	}
	return strings.Join(out, "\n")
}

func (s *Set) insert(ctx context.Context, c *command, at *place) (string, error) {
	line, err := need(c, "insert_line", c.InsertLine)
	if err != nil {
		return "", err
	}
	text, err := need(c, "insert_text", c.InsertText)
	if err == nil {
		err = at.changeable()
	}
	if err != nil {
		return "", err
	}
	lines := strings.Split(at.content.Text, "\n")
	if line < 0 || line > len(lines) {
		return "", wrongf("Invalid `insert_line` parameter: %d. It should be within the range of lines of the file: [0, %d]", line, len(lines))
	}
	lines = slices.Insert(lines, line, strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n"))
	_, err = s.rewrite(ctx, api.EditFile{Path: at.file, Version: at.content.Version, Text: strings.Join(lines, "\n")})
	return fmt.Sprintf("The file %s has been edited.", at.said), err
}

// removed returns the removal of a place: of a file, or of all files of a folder.
func (s *Set) removed(ctx context.Context, at *place) (out []api.EditFile, err error) {
	if at.content != nil {
		return []api.EditFile{{Path: at.file, Version: at.content.Version, Remove: true}}, at.exists("")
	}
	for _, f := range at.folder {
		content, err := s.k.Editor().Content(ctx, f.file, s.opts.Private)
		if err != nil {
			return nil, err
		}
		out = append(out, api.EditFile{Path: f.file, Version: content.Version, Remove: true})
	}
	return out, nil
}

func (s *Set) remove(ctx context.Context, _ *command, at *place) (string, error) {
	if at.rel == "" {
		return "", wrongf("Cannot delete the %s directory itself", memoryRoot)
	}
	files, err := s.removed(ctx, at)
	if err == nil {
		_, err = s.rewrite(ctx, files...)
	}
	return "Successfully deleted " + at.said, err
}

// rename renames a file, or all files of a folder.
func (s *Set) rename(ctx context.Context, c *command, at *place) (string, error) {
	to, err := placeIn(c, "new_path", c.NewPath)
	if err == nil && at.rel == "" {
		err = wrongf("Cannot rename the %s directory itself", memoryRoot)
	}
	if err == nil {
		err = s.look(ctx, to)
	}
	if err == nil && (to.content == nil || to.content.Exists) {
		err = wrongf("The destination %s already exists", to.said)
	}
	if err != nil {
		return "", err
	}
	files, err := s.removed(ctx, at)
	if err == nil && strings.HasPrefix(to.rel, at.rel+"/") {
		err = wrongf("Cannot rename %s to %s, which is below it", at.said, to.said)
	}
	if err != nil {
		return "", err
	}
	which := at.folder
	if at.content != nil {
		which = []listed{{rel: at.rel, file: at.file}}
	}
	for _, f := range which {
		end := strings.TrimPrefix(f.rel, at.rel)
		dest := placeOf(to.said+end, to.rel+end)
		if err := makeable(dest); err != nil {
			return "", err
		}
		files = append(files, api.EditFile{Path: dest.file, From: f.file})
	}
	_, err = s.rewrite(ctx, files...)
	return fmt.Sprintf("Successfully renamed %s to %s", at.said, to.said), err
}
