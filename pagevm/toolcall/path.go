package toolcall

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/pagevm/internal/lex"
)

// kind is the effect of a tool call on a file.
type kind uint8

const (
	// CallOther neither reads nor edits one file, as far as is known.
	CallOther kind = iota
	// CallRead shows the content of a file, or a part of it.
	CallRead
	// CallEdit changes, creates, moves or removes a file, so earlier reads of the file are out of
	// date.
	CallEdit
)

// The tools of the coding agents in use, by lower-cased name without the
// prefix of an MCP server: Claude Code, Pi and OpenClaw, Codex, Gemini CLI, OpenCode, Cline,
// Copilot, Cursor, and the reference file-system server.
var (
	readTools = textutil.Set("read read_file read_many_files readfile view view_file view_image open_file cat notebookread read_text_file get_file_contents")
	editTools = textutil.Set("edit write multiedit notebookedit apply_patch applypatch edit_file write_file write_to_file create_file " +
		"str_replace str_replace_editor str_replace_based_edit_tool replace replace_in_file replace_string_in_file " +
		"multi_replace_string_in_file insert_edit_into_file search_replace update_file append_file delete_file move_file insert")
	shellTools = textutil.Set("bash shell exec exec_command shell_command local_shell run_shell_command run_command run_commands " +
		"execute_command run_terminal_cmd run_in_terminal terminal powershell container.exec")
)

// IsShell reports whether a host's own tool of that name runs commands.
func IsShell(tool string) bool { return among(shellTools, tool) }

// baseTool returns a tool's name without an MCP prefix ("mcp__server__read_file" is "read_file").
func baseTool(tool string) string {
	const mcp = "mcp__"
	if len(tool) > len(mcp) && strings.EqualFold(tool[:len(mcp)], mcp) {
		if i := strings.LastIndex(tool, "__"); i >= len(mcp) {
			return tool[i+2:]
		}
	}
	return tool
}

// among reports whether a list of lower-cased ASCII names has a name, in any case.
func among(names map[string]bool, name string) bool {
	var buf [64]byte // on the stack, since every call of a session is asked about several times
	low := append(buf[:0], name...)
	for i, c := range low {
		if 'A' <= c && c <= 'Z' {
			low[i] = c + 'a' - 'A'
		}
	}
	return names[string(low)]
}

// Classify returns the effect of a call and its files, as canonical paths. Only the content of
// the call counts. A shell command is understood if it is a plain read or write of files.
// Classify leaves out a path that can't be shown, since prompts and checkpoints name paths.
func Classify(tool, input string) (kind, []string) {
	c := read(tool, input)
	return c.Kind, c.Paths
}

// fileCall classifies a call of any tool but a shell.
func fileCall(t, input string) (kind, []string) {
	switch {
	case among(editTools, t), t == "patch", t == "create" && stringArg(input, "file_text") != "":
		if ps := patchPaths(input); len(ps) > 0 || t == "patch" {
			return CallEdit, ps
		}
		if c := stringArg(input, "command"); c == "view" && strings.EqualFold(t, "str_replace_based_edit_tool") {
			return CallRead, argPaths(input)
		}
		return CallEdit, argPaths(input)
	case among(readTools, t):
		return CallRead, argPaths(input)
	}
	return CallOther, argPaths(input)
}

// pathKeys are the names of arguments that hold a path. If a call has several of them, the first in
// this list counts.
var pathKeys = [...]string{"file_path", "filePath", "notebook_path", "path", "filename", "filepath", "file", "absolute_path", "target_file", "uri"}

func argPaths(input string) []string {
	var named [len(pathKeys)]string
	dir, list := "", ""
	for k, raw := range lex.Members(input) {
		if i := slices.Index(pathKeys[:], k); i >= 0 {
			named[i] = lex.RawString(raw)
		} else if k == "paths" {
			list = raw
		} else if k == "workdir" {
			dir = lex.RawString(raw)
		}
	}
	for _, v := range named {
		if v != "" {
			return []string{cleanPath(v, dir)}
		}
	}
	if list == "" {
		return nil
	}
	var several []string
	_ = json.Unmarshal([]byte(list), &several) // none if it is no list of strings
	for i := range several {
		several[i] = cleanPath(several[i], dir)
	}
	return several
}

// cleanPath returns a path in the canonical spelling, as far as the call alone allows: with forward
// slashes, without dot segments, and joined to the working directory if the call names one.
func cleanPath(p, dir string) string {
	p = strings.TrimPrefix(strings.TrimSpace(p), "file://")
	if len(p) > 2 && p[1] == ':' && p[2] == '\\' || strings.HasPrefix(p, `\\`) {
		p = strings.ReplaceAll(p, `\`, "/")
	}
	if dir != "" && !path.IsAbs(p) && !strings.HasPrefix(p, "~") {
		p = dir + "/" + p
	}
	if p == "" {
		return ""
	}
	return path.Clean(p)
}

// Args are the members of a call's JSON arguments, in order.
type Args []arg

type arg struct{ name, raw string } // raw is the JSON value

// ArgsOf returns the members of a call's JSON arguments. It returns nil if input is not a JSON
// object.
func ArgsOf(input string) Args {
	t := strings.TrimLeft(input, " \t\r\n")
	if t == "" || t[0] != '{' || !json.Valid([]byte(t)) {
		return nil
	}
	out := make(Args, 0, 6)
	for k, raw := range lex.Members(t) {
		if strings.IndexByte(k, '\\') >= 0 || !utf8.ValidString(k) {
			k, _ = lex.Unquote(`"` + k + `"`)
		}
		out = append(out, arg{k, strings.TrimRight(raw, " \t\r\n")})
	}
	return out
}

// Text returns the argument with this name if it is a string, "" otherwise.
func (a Args) Text(name string) string {
	raw := a.Get(name)
	if utf8.ValidString(raw) {
		return lex.RawString(raw)
	}
	text, _ := lex.Unquote(raw)
	return text
}

// Texts returns the arguments that are strings.
func (a Args) Texts() (all []string) {
	for i := range a {
		if a[i].raw[0] == '"' {
			all = append(all, lex.RawString(a[i].raw))
		}
	}
	return all
}

// Get returns the raw value of an argument, "" if there is none. If several arguments have the
// name, the last one counts.
func (a Args) Get(name string) (raw string) {
	for i := range a {
		if a[i].name == name {
			raw = a[i].raw
		}
	}
	return raw
}

// stringArg returns a string argument, "" if the input has none of that name. It decodes only
// this value.
func stringArg(input, key string) (val string) {
	if !strings.Contains(input, `"`+key+`"`) {
		return ""
	}
	for k, raw := range lex.Members(input) {
		if k == key {
			val = lex.RawString(raw)
		}
	}
	return val
}

// patchBody returns the patch that the arguments of a call hold.
func patchBody(input string) string {
	body := input
	for _, k := range [...]string{"input", "patch", "patchText", "command"} {
		body = cmp.Or(stringArg(input, k), body)
	}
	return body
}

// patchPaths returns the files that a patch in the Codex format touches.
func patchPaths(input string) (ps []string) {
	if !strings.Contains(input, "*** ") {
		return nil
	}
	for line := range strings.Lines(patchBody(input)) {
		for _, h := range [...]string{"*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "} {
			if rest, ok := strings.CutPrefix(line, h); ok {
				ps = append(ps, cleanPath(rest, ""))
			}
		}
	}
	return ps
}

// Canonical returns a form of a call that is equal for equal calls: object keys sorted,
// insignificant white space gone, and arguments of a shell that don't change the command (its
// description and time limit) left out. In text that is not JSON, only the ends of lines are
// trimmed.
func Canonical(tool, input string) string {
	if isScript(tool, input) {
		if calls, whole := Unwrap(tool, input); whole {
			for i, in := range calls {
				sep := " "
				if i > 0 {
					sep = "\n"
				}
				tool += sep + Canonical(in.Name, in.Input)
			}
			return tool
		}
	}
	m := ArgsOf(input)
	if m == nil {
		lines := strings.Split(strings.TrimSpace(input), "\n")
		for i := range lines {
			lines[i] = strings.TrimRight(lines[i], " \t\r")
		}
		return tool + " " + strings.Join(lines, "\n")
	}
	shell := among(shellTools, baseTool(tool))
	slices.SortStableFunc(m, func(a, b arg) int { return strings.Compare(a.name, b.name) })
	var b strings.Builder
	b.Grow(len(tool) + len(input) + 16)
	b.WriteString(tool)
	b.WriteString(" {")
	sep := ""
	for i, a := range m {
		if i+1 < len(m) && m[i+1].name == a.name || shell && shellNoise[a.name] {
			continue // the last of equal names counts
		}
		b.WriteString(sep)
		writeCanonicalString(&b, a.name, true)
		b.WriteByte(':')
		writeCanonical(&b, a.raw, shell)
		sep = ","
	}
	b.WriteByte('}')
	return b.String()
}

var shellNoise = textutil.Set("description timeout timeout_ms yield_time_ms max_output_tokens justification run_in_background")

// writeCanonical writes any JSON value with sorted keys, its numbers as they
// were written.
func writeCanonical(b *strings.Builder, raw string, trim bool) {
	switch raw[0] {
	case '"':
		s := raw[1 : len(raw)-1]
		if strings.IndexByte(s, '\\') >= 0 || !utf8.ValidString(s) {
			s, _ = lex.Unquote(raw)
		}
		if trim {
			s = strings.TrimSpace(s)
		}
		writeCanonicalString(b, s, false)
	case '{', '[':
		var v any
		d := json.NewDecoder(strings.NewReader(raw))
		d.UseNumber()
		if d.Decode(&v) != nil {
			b.WriteString(raw)
			return
		}
		encode(b, v, false)
	default: // a number, true, false or null
		b.WriteString(raw)
	}
}

// writeCanonicalString writes a JSON string. If html is set, it escapes <, > and &.
func writeCanonicalString(b *strings.Builder, s string, html bool) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || html && strings.IndexByte("<>&", c) >= 0 {
			encode(b, s, html)
			return
		}
	}
	b.WriteByte('"')
	b.WriteString(s)
	b.WriteByte('"')
}

func encode(b *strings.Builder, v any, html bool) {
	line, err := textutil.JSON(v)
	if html {
		line, err = json.Marshal(v)
	}
	if err == nil {
		b.Write(line)
	}
}
