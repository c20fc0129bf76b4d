package toolcall

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestClassifyCall(t *testing.T) {
	for _, tc := range []struct {
		tool, input string
		kind        kind
		paths       []string
	}{
		{"Read", `{"file_path":"/a/b/../c.go","offset":10}`, CallRead, []string{"/a/c.go"}},
		{"read", `{"path":"./src/x.ts"}`, CallRead, []string{"src/x.ts"}},
		{"mcp__fs__read_file", `{"path":"/x"}`, CallRead, []string{"/x"}},
		{"Edit", `{"file_path":"/a.go","old_string":"x","new_string":"y"}`, CallEdit, []string{"/a.go"}},
		{"MultiEdit", `{"edits":[],"file_path":"/a.go"}`, CallEdit, []string{"/a.go"}},
		{"NotebookEdit", `{"notebook_path":"/n.ipynb"}`, CallEdit, []string{"/n.ipynb"}},
		{"write", `{"path":"C:\\work\\a.txt","content":"\"path\""}`, CallEdit, []string{"C:/work/a.txt"}},
		{"str_replace_based_edit_tool", `{"command":"view","path":"/a"}`, CallRead, []string{"/a"}},
		{"apply_patch", "*** Begin Patch\n*** Update File: a/b.go\n@@\n-x\n+y\n*** Add File: c.md\n+z\n*** End Patch", CallEdit, []string{"a/b.go", "c.md"}},
		{"apply_patch", `{"input":"*** Begin Patch\n*** Delete File: old.go\n*** End Patch"}`, CallEdit, []string{"old.go"}},
		{"Grep", `{"pattern":"x","path":"/src/"}`, CallOther, []string{"/src"}},
		{"Bash", `{"command":"cat /etc/hosts"}`, CallRead, []string{"/etc/hosts"}},
		{"Bash", `{"command":"cd /repo && sed -n '1,80p' pkg/a.go"}`, CallRead, []string{"/repo/pkg/a.go"}},
		{"exec_command", `{"cmd":"head -n 20 README.md | grep x","workdir":"/w"}`, CallRead, []string{"/w/README.md"}},
		{"exec_command", `{"cmd":"nl -ba src/a.ts | sed -n '1,40p'","workdir":"/w"}`, CallRead, []string{"/w/src/a.ts"}},
		{"shell", `{"command":["bash","-lc","tail -50 'my file.log'"],"workdir":"/w"}`, CallRead, []string{"/w/my file.log"}},
		{"shell", `{"command":["cat","a b"]}`, CallRead, []string{"a b"}},
		{"Bash", `{"command":"sed -i 's/a/b/' x.go"}`, CallEdit, []string{"x.go"}},
		{"Bash", `{"command":"cat > out.txt <<'EOF'\nhello\nEOF"}`, CallEdit, []string{"out.txt"}},
		{"Bash", `{"command":"make test 2>&1 | tail -5"}`, CallOther, nil},
		{"Bash", `{"command":"go test ./... > /dev/null 2>&1"}`, CallOther, nil},
		{"Bash", `{"command":"make >>2>&1 | head -60"}`, CallOther, nil},
		{"Bash", `{"command":"make || cat build.log"}`, CallOther, nil},
		{"Bash", `{"command":"make ||\n  cat build.log"}`, CallOther, nil},
		{"Bash", `{"command":"make || cat build.log && cat a.go"}`, CallRead, []string{"a.go"}},
		{"Bash", `{"command":"make |\n  tail -n 5"}`, CallOther, nil},
		{"Read", `{"file_path":"/a\u001b[2J.go"}`, CallRead, []string{}},
		{"Bash", `{"command":"cat 'a\u202eb' c.go"}`, CallRead, []string{"c.go"}},
		{"apply_patch", "*** Begin Patch\n*** Update File: a\u009b.go\n@@\n-x\n+y\n*** Add File: c.md\n+z\n*** End Patch", CallEdit, []string{"c.md"}},
		{"Read", `{"file_path":"/یادداشت\u200cها.md"}`, CallRead, []string{"/یادداشت\u200cها.md"}},
		{"Bash", `{"command":"cat $FILE"}`, CallOther, nil},
		{"Bash", `{"command":"cat a.txt b.txt"}`, CallRead, []string{"a.txt", "b.txt"}},
		{"Bash", `{"command":"echo 'unclosed"}`, CallOther, nil},
		{"shell", `{"command":["apply_patch","*** Begin Patch\n*** Update File: z.go\n*** End Patch"]}`, CallEdit, []string{"z.go"}},
		{"Bash", `not json`, CallOther, nil},
		{"Read", `{"file_path":`, CallRead, nil},
		{"Read", ``, CallRead, nil},
		{"shell_command", `{"command":"sed -n '1,260p' src/x.ts","workdir":"/w","timeout_ms":10000}`, CallRead, []string{"/w/src/x.ts"}},
		{"run_commands", `{"commands":["cat a.ts","cat b.ts"]}`, CallRead, []string{"a.ts", "b.ts"}},
		{"run_in_terminal", `{"command":"cat a.ts","explanation":"look"}`, CallRead, []string{"a.ts"}},
		{"PowerShell", `{"command":"Get-Content a.ts"}`, CallRead, []string{"a.ts"}},
		{"read", `{"filePath":"/w/a.ts"}`, CallRead, []string{"/w/a.ts"}},
		{"edit", `{"filePath":"/w/a.ts","oldString":"x","newString":"y"}`, CallEdit, []string{"/w/a.ts"}},
		{"patch", `{"patchText":"*** Begin Patch\n*** Add File: a.ts\n+x\n*** End Patch"}`, CallEdit, []string{"a.ts"}},
		{"read_many_files", `{"paths":["a.ts","./b.ts"]}`, CallRead, []string{"a.ts", "b.ts"}},
		{"write_to_file", `{"path":"a.ts","content":"x"}`, CallEdit, []string{"a.ts"}},
		{"replace_in_file", `{"path":"a.ts","diff":"x"}`, CallEdit, []string{"a.ts"}},
		{"replace_string_in_file", `{"filePath":"/w/a.ts","oldString":"x","newString":"y"}`, CallEdit, []string{"/w/a.ts"}},
		{"create", `{"path":"/w/a.ts","file_text":"x"}`, CallEdit, []string{"/w/a.ts"}},
		{"mcp__tracker__create", `{"title":"x"}`, CallOther, nil},
		{"str_replace", `{"path":"/w/a.ts","old_str":"x","new_str":"y"}`, CallEdit, []string{"/w/a.ts"}},
		{"search_replace", `{"file_path":"/w/a.ts","old_string":"x","new_string":"y"}`, CallEdit, []string{"/w/a.ts"}},
		{"view", `{"path":"/w/a.ts"}`, CallRead, []string{"/w/a.ts"}},
		{"Task", `{"prompt":"the \"path\" thing"}`, CallOther, nil},
	} {
		k, ps := Classify(tc.tool, tc.input)
		if diff := cmp.Diff(tc.paths, ps); k != tc.kind || diff != "" {
			t.Errorf("%s %s: kind %d %s", tc.tool, tc.input, k, diff)
		}
		if c := Read(tc.tool, tc.input); c.Kind != k || !slices.Equal(c.Paths, ps) {
			t.Errorf("%s %s: read as kind %d %q", tc.tool, tc.input, c.Kind, c.Paths)
		}
	}
	for input, want := range map[string][]string{`{"file_path":"/a"}`: {"/a"}, ``: nil} {
		if k, ps := Classify("Read", input); k != CallRead || !slices.Equal(ps, want) {
			t.Errorf("Read %q: %v %q, want a read of %q", input, k, ps, want)
		}
	}
	if Read("Edit", `{"file_path":"/a"}`).Path() != "/a" || Read("X", "").Path() != "" {
		t.Error("Path")
	}
}

func TestCanonicalCall(t *testing.T) {
	for _, tc := range []struct {
		name, tool, a, b string
		equal            bool
	}{
		{"key order and spaces", "Read", `{"file_path":"/a","limit":5}`, "{ \"limit\": 5,\n \"file_path\": \"/a\" }", true},
		{"nested", "X", `{"a":{"x":1,"y":[1, 2]}}`, `{"a":{"y":[1,2],"x":1}}`, true},
		{"list order", "X", `{"a":[1,2]}`, `{"a":[2,1]}`, false},
		{"number as written", "X", `{"a":1}`, `{"a":1.0}`, false},
		{"big number", "X", `{"a":12345678901234567890}`, `{"a":12345678901234567891}`, false},
		{"escapes", "X", `{"a":"\u0041<"}`, `{"a":"A<"}`, true},
		{"shell description", "Bash", `{"command":"ls ","description":"List"}`, `{"command":"ls","timeout":5}`, true},
		{"description elsewhere", "Task", `{"prompt":"p","description":"a"}`, `{"prompt":"p","description":"b"}`, false},
		{"text", "apply_patch", "*** Begin  \r\nx\n", "*** Begin\nx", true},
		{"text inside", "apply_patch", "a  b", "a b", false},
	} {
		if got := Canonical(tc.tool, tc.a) == Canonical(tc.tool, tc.b); got != tc.equal {
			t.Errorf("%s: %s against %s", tc.name, Canonical(tc.tool, tc.a), Canonical(tc.tool, tc.b))
		}
	}
	if Canonical("A", `{"x":1}`) == Canonical("B", `{"x":1}`) {
		t.Error("two tools are one call")
	}
	if got, want := Canonical("Read", `{"b":"<&>","a":null}`), `Read {"a":null,"b":"<&>"}`; got != want {
		t.Errorf("got %s", got)
	}
}

// FuzzCanonical compares the form of arguments with what encoding/json makes of them.
func FuzzCanonical(f *testing.F) {
	for _, s := range []string{`{"b":1.50,"a":" x\n"}`, `{"a":1 ,"\u0061":[1E5, {"z":-0,"y":null}] }`, `{"a":"\ud83d\ude00\ud83d","b":"<&>\u2028"}`, ` {"":true}`, `{}`, `{"a":}`, `{"a":1}x`,
		"{\"\xff\":\"\xff\"}", `{"a":nul}`, `[1]`, `{"command":"ls ","timeout":3}`, `{"a":{"b":"]}"},"c":","}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, input string) {
		var m map[string]json.RawMessage
		in := strings.TrimLeft(input, " \t\r\n")
		if !strings.HasPrefix(in, "{") || json.Unmarshal([]byte(in), &m) != nil {
			return
		}
		var want bytes.Buffer
		want.WriteString("Tool {")
		for i, k := range slices.Sorted(maps.Keys(m)) {
			if i > 0 {
				want.WriteByte(',')
			}
			name, _ := json.Marshal(k)
			want.Write(append(name, ':'))
			d := json.NewDecoder(bytes.NewReader(m[k]))
			d.UseNumber()
			var v any
			if err := d.Decode(&v); err != nil {
				t.Fatal(err)
			}
			e := json.NewEncoder(&want)
			e.SetEscapeHTML(false)
			if err := e.Encode(v); err != nil {
				t.Fatal(err)
			}
			want.Truncate(want.Len() - 1)
		}
		want.WriteByte('}')
		if got := Canonical("Tool", input); got != want.String() {
			t.Errorf("%q is %q, want %q", input, got, want.String())
		}
	})
}

func TestCommand(t *testing.T) {
	for _, tc := range []struct{ tool, input, want string }{
		{"Bash", `{"command":" make test "}`, "make test"},
		{"shell", `{"command":["bash","-lc","go vet ./..."]}`, "go vet ./..."},
		{"Bash", `{"command":"cat a.go"}`, ""},
		{"Read", `{"file_path":"/a.go"}`, ""},
	} {
		if got := Read(tc.tool, tc.input).Command; got != tc.want {
			t.Errorf("the command of %s %s is %q, want %q", tc.tool, tc.input, got, tc.want)
		}
	}
}
