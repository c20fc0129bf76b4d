package toolcall

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/pagevm/internal/lex"
)

// written is the text that a call writes into the files it changes, as far as its arguments show.
type written struct {
	// New are the texts that the call writes. Old are the texts that it says it replaces.
	New, Old []string
	// Whole reports whether the call writes whole files, so that New may repeat the former text.
	Whole bool
}

// oldKeys are the arguments that hold the former text of a file. whereKeys are the arguments that
// hold a place.
var (
	oldKeys    = textutil.Set("old_string old_str old_text oldtext oldstring search find before old_content")
	whereKeys  = textutil.Set(strings.Join(pathKeys[:], " ") + " workdir cwd command description mode encoding explanation instruction")
	wholeTools = textutil.Set("write write_file write_to_file create_file update_file create")
)

// Written returns the text that a call writes into the files it changes. It is empty for any
// other call.
func Written(tool, input string) written {
	c := read(tool, input)
	if c.Kind != CallEdit {
		return written{}
	}
	t := written{Whole: c.whole}
	if isScript(tool, input) {
		calls, _ := Unwrap(tool, input)
		for _, in := range calls {
			one := Written(in.Name, in.Input)
			t.New, t.Old = append(t.New, one.New...), append(t.Old, one.Old...)
		}
		return t
	}
	if among(shellTools, baseTool(tool)) {
		cmd, _ := shellCommand(input)
		if !strings.Contains(cmd, "*** Begin Patch") {
			t.New = append(t.New, cmd)
			for _, m := range quoted.FindAllString(cmd, -1) {
				t.New = append(t.New, m[1:len(m)-1])
			}
			return t
		}
		t.patch(cmd)
		return t
	}
	if len(patchPaths(input)) > 0 {
		t.patch(patchBody(input))
		return t
	}
	var v any
	if json.Unmarshal([]byte(input), &v) == nil {
		t.arguments("", v)
	}
	return t
}

// wholeWrite reports whether an edit writes whole files. The line is that of a shell call.
func wholeWrite(base, input, line string) bool {
	switch {
	case line != "":
		return !strings.Contains(line, "*** Begin Patch") && !strings.Contains(line, ">>") && !strings.Contains(line, "tee -a")
	case !among(wholeTools, base) && stringArg(input, "command") != "create":
		return false
	}
	for k := range lex.Members(input) {
		if oldKeys[strings.ToLower(k)] {
			return false
		}
	}
	return true
}

// quoted is a word in quotes of a command.
var quoted = textutil.LazyRegexp(`"[^"]*"|'[^']*'`)

// patch reads a patch in the Codex format. It collects the lines that the patch adds and the
// lines that it expects to find.
func (t *written) patch(body string) {
	for line := range strings.Lines(body) {
		switch line = strings.TrimRight(line, "\r\n"); {
		case strings.HasPrefix(line, "+"):
			t.New = append(t.New, line[1:])
		case strings.HasPrefix(line, " "), strings.HasPrefix(line, "-"):
			t.Old = append(t.Old, line[1:])
		}
	}
}

// arguments reads the arguments of an edit, in a stable order.
func (t *written) arguments(key string, v any) {
	switch v := v.(type) {
	case string:
		switch key = strings.ToLower(key); {
		case oldKeys[key]:
			t.Old = append(t.Old, v)
		case !whereKeys[key]:
			t.New = append(t.New, v)
		}
	case []any:
		for _, e := range v {
			t.arguments(key, e)
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			t.arguments(k, v[k])
		}
	}
}
