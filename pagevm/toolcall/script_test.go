package toolcall

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const patchOf = "*** Begin Patch\n*** Update File: src/a.ts\n@@\n-const a = \"x\";\n+const a = `y`;\n*** End Patch"

func TestScript(t *testing.T) {
	for _, tc := range []struct {
		name, script string
		kind         kind
		paths        []string
		act          Act
		look         Look
		command      string
	}{
		{"a read", `const r = await tools.exec_command({cmd:"sed -n '241,520p' ROADMAP.md",workdir:"/p",yield_time_ms:10000}); text(r.output);`,
			CallRead, []string{"/p/ROADMAP.md"}, ActRead, LookContent, ""},
		{"keys in quotation marks", `text((await tools.exec_command({"cmd": 'cat "a b"', 'workdir': "/p"})).output)`, CallRead, []string{"/p/a b"}, ActRead, LookContent, ""},
		{"many reads", "const r = await Promise.all([\n  tools.exec_command({cmd:\"cat a\"}),\n  // it's the second\n  tools.exec_command({cmd:`cat b`}),\n]);\nr.forEach(x => text(x.output))",
			CallRead, []string{"a", "b"}, ActRead, LookContent, ""},
		{"a check", `const r = await tools.exec_command({cmd:"pnpm test"}); text(JSON.stringify({output:r.output, exit_code:r.exit_code}))`, CallOther, nil, ActShell, LookUnknown, "pnpm test"},
		{"a read and a check", `await Promise.all([tools.exec_command({cmd:"cat a"}), tools.exec_command({cmd:"make"})])`, CallRead, []string{"a"}, ActRead, LookUnknown, "make"},
		{"a patch", "const patch = " + jsonString(patchOf) + ";\ntext(await tools.apply_patch(patch));", CallEdit, []string{"src/a.ts"}, ActEdited, LookAct, ""},
		{"a patch in a template", "await tools.apply_patch(`" + strings.ReplaceAll(patchOf, "`", "\\`") + "`)", CallEdit, []string{"src/a.ts"}, ActEdited, LookAct, ""},
		{"a raw patch", "await tools.apply_patch(String.raw`*** Begin Patch\n*** Add File: b\n+\\d\n*** End Patch`)", CallEdit, []string{"b"}, ActEdited, LookAct, ""},
		{"a patch of lines", `const patch = ["*** Begin Patch", '*** Delete File: c', "*** End Patch"].join("\n"); await tools.apply_patch(patch)`, CallEdit, []string{"c"}, ActEdited, LookAct, ""},
		{"a patch of sums", `await tools.apply_patch("*** Begin Patch\n" +
			"*** Delete File: c\n" + "*** End Patch")`, CallEdit, []string{"c"}, ActEdited, LookAct, ""},
		{"an edit, then a check", "await tools.apply_patch(" + jsonString(patchOf) + "); text(await tools.exec_command({cmd:'make'}))", CallEdit, []string{"src/a.ts"}, ActEdited, LookAct, "make"},
		{"a loop", `const files = ["a", "b"]; for (const f of files) { text((await tools.exec_command({cmd: "cat " + f})).output) }`, CallRead, []string{"a", "b"}, ActRead, LookContent, ""},
		{"a map", "const dir = '/p'; await Promise.all(['a', 'b'].map(async (f) => tools.exec_command({cmd: `cat ${f}`, workdir: dir})))", CallRead, []string{"/p/a", "/p/b"}, ActRead, LookContent, ""},
		{"a list of calls", `const cmds = [{cmd:"cat a"},{cmd:"cat b"}]; await Promise.all(cmds.map(c => tools.exec_command(c)))`, CallRead, []string{"a", "b"}, ActRead, LookContent, ""},
		{"members", `const jobs = [{c:"cat a"},{c:"cat b"}]; for (const j of jobs) await tools.exec_command({cmd: j.c})`, CallRead, []string{"a", "b"}, ActRead, LookContent, ""},
		{"another value", `let c = "cat a"; c = f("x"); await tools.exec_command({cmd: c})`, CallOther, nil, ActOther, LookUnknown, ""},
		{"reads and waits", `const r = await tools.exec_command({cmd:"cat a"}); if (r.session_id) await tools.write_stdin({session_id:r.session_id, chars:""})`, CallRead, []string{"a"}, ActRead, LookContent, ""},
		{"then it waits", `const r = await tools.exec_command({cmd:"make"}); if (r.session_id) await tools.write_stdin({session_id:r.session_id, chars:""})`, CallOther, nil, ActShell, LookUnknown, "make"},
		{"a wait", `text(await tools.write_stdin({session_id:7058,chars:""}))`, CallOther, nil, ActOther, LookMoving, ""},
		{"a plan", `await tools.update_plan({plan:[{step:"x",status:"pending"}]})`, CallOther, nil, ActOther, LookAct, ""},
		{"a picture", `await tools.view_image({path:"/p/a.png"})`, CallRead, []string{"/p/a.png"}, ActRead, LookContent, ""},
		{"a regular expression", `const q = r.output.match(/["'\/]/g); await tools.exec_command({cmd:"cat a"})`, CallRead, []string{"a"}, ActRead, LookContent, ""},
		{"an unknown command", `await tools.exec_command({cmd: makeCommand(), workdir: "/p"})`, CallOther, nil, ActOther, LookUnknown, ""},
		{"an unknown part", "await tools.exec_command({cmd: `cat ${name()}`})", CallOther, nil, ActOther, LookUnknown, ""},
		{"a variable that changes kind", `const c = "cat a"; { const c = f("x"); await tools.exec_command({cmd: c}) }`, CallOther, nil, ActOther, LookUnknown, ""},
		{"a conditional", `await tools.exec_command({cmd: "cat a" ? x : y})`, CallOther, nil, ActOther, LookUnknown, ""},
		{"half a string", `await tools.exec_command({cmd:"cat a`, CallOther, nil, ActOther, LookUnknown, ""},
		{"no call", `text("cat a")`, CallOther, nil, ActOther, LookUnknown, ""},
		{"a call in a string", "text('tools.exec_command({cmd:\"rm a\"})')", CallOther, nil, ActOther, LookUnknown, ""},
		{"nothing", ``, CallOther, nil, ActOther, LookUnknown, ""},
	} {
		c := Read("exec", tc.script)
		if c.Kind != tc.kind || !slices.Equal(c.Paths, tc.paths) || c.Act != tc.act || c.Look != tc.look || c.Command != tc.command {
			t.Errorf("%s: kind %d, paths %q, act %d, look %d, command %q", tc.name, c.Kind, c.Paths, c.Act, c.Look, c.Command)
		}
		if k, ps := Classify("functions.exec", tc.script); k != c.Kind || !slices.Equal(ps, c.Paths) {
			t.Errorf("%s: classified as %d %q", tc.name, k, ps)
		}
	}
}

// A script says the same as the calls that it makes.
func TestScriptIsItsCalls(t *testing.T) {
	direct := Written("apply_patch", patchOf)
	script := "const patch = " + jsonString(patchOf) + "; text(await tools.apply_patch(patch))"
	if d := cmp.Diff(direct, Written("exec", script)); d != "" {
		t.Error(d)
	}
	for _, same := range []string{
		`const r = await tools.exec_command({cmd:"cat a", workdir:"/p", yield_time_ms:1000}); text(r.output)`,
		"const out = await tools.exec_command({ workdir: '/p', cmd: `cat a` });\ntext(out.output);",
	} {
		if got, want := Canonical("exec", same), `exec exec_command {"cmd":"cat a","workdir":"/p"}`; got != want {
			t.Errorf("%s: %s", same, got)
		}
	}
	if Canonical("exec", `tools.exec_command({cmd:f(1)})`) == Canonical("exec", `tools.exec_command({cmd:f(2)})`) {
		t.Error("two unknown commands are one")
	}
	if c := Read("exec", `{"command":"cat a"}`); c.Kind != CallRead {
		t.Error("the tool exec of another host takes a command")
	}
}

func TestScriptStrings(t *testing.T) {
	for literal, want := range map[string]string{
		`'a\'b"c'`: `a'b"c`, `"a\"b'c"`: `a"b'c`, "`a\\`b\\${c}`": "a`b${c}", `"\n\t\\\r\b\f\v"`: "\n\t\\\r\b\f\v", `"\x41\u0042\u00e9"`: "ABé",
		`"\ud83d\ude00\u{1F600}"`: "😀😀", "'a\\\nb'": "ab", `"a" + 'b'`: "ab", `("a")`: "a", "`a\nb`": "a\nb", `"é\é"`: "éé", `'$(x) ${y}'`: "$(x) ${y}",
	} {
		calls, whole := Unwrap("exec", "await tools.say("+literal+")")
		if !whole || len(calls) != 1 || calls[0] != (Inner{"say", want}) {
			t.Errorf("%s: %q %v", literal, calls, whole)
		}
	}
}

// A text is read from each spelling of it.
func TestScriptSpellings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-z'"\x60\\\n\r\t${}/é😀-]*`).Draw(t, "text")
		mark := rapid.SampledFrom([]string{`"`, `'`, "`"}).Draw(t, "mark")
		escape := strings.NewReplacer(`\`, `\\`, mark, `\`+mark, "\n", `\n`, "\r", `\r`, "$", `\$`)
		script := "const p = " + mark + escape.Replace(text) + mark + "; await tools.say({p, 'q': p + " + mark + "!" + mark + "})"
		if calls, whole := Unwrap("exec", script); !whole || len(calls) != 1 || ArgsOf(calls[0].Input).Get("q") != jsonString(text+"!") {
			t.Fatalf("%s: %q %v", script, calls, whole)
		}
	})
}

// Any text is read to its end, and the arguments of its calls are texts or valid objects.
func FuzzScript(f *testing.F) {
	for _, s := range []string{"const p = `a${b}`; tools.x(p)", "tools.x({a:[1,'b',{c}],...d})", `for (const a of ["x"].map(b => b)) tools.exec_command({cmd:a + "y"})`,
		"/['\"]/ //x\n/*y*/ tools.x(-1_0.5)", `"\u{110000}\ud800\x4" tools.x("\`, "`${`${`${", "[[[[[[[[[[[[[[[[[[[[", `tools.x(["a"].join(","))`, "tools.x(String.raw`\\n`)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, script string) {
		calls, _ := Unwrap("exec", "tools.x({a:"+script+"})")
		for _, in := range calls {
			if in.Name == "x" && strings.HasPrefix(in.Input, "{") && ArgsOf(in.Input) == nil {
				t.Errorf("%q", in.Input)
			}
		}
		Read("exec", script)
		Written("exec", script)
		Canonical("exec", script)
	})
}
