package toolcall

import (
	"encoding/json"
	"strings"
	"testing"
)

// Which calls only look, and what an equal result depends on.
func TestLooks(t *testing.T) {
	tools := map[string]string{
		"Read": "content", "Grep": "content", "Glob": "content", "LS": "content", "search_files": "content", "mcp__fs__read_text_file": "content",
		"WebFetch": "content WebFetch", "WebSearch": "content WebSearch", "web_search": "content web_search", "mcp__linear-server__get_issue": "content linear-server",
		"mcp__gh__pull_request_read": "content gh", "ListMcpResourcesTool": "content ListMcpResourcesTool", "memory_search": "content memory_search",
		"Task": "act Task", "Agent": "act Agent", "todowrite": "act todowrite", "request_user_input": "act request_user_input", "read_bash": "moving read_bash",
		"list_files": "content", "search_file_content": "content", "grep_files": "content",
		"list_time_entries": "content list_time_entries", "getUserByID": "content getUserByID", "weather": "content weather", "TaskGet": "content TaskGet",
		"mcp__linear-server__create_issue": "act linear-server", "TodoWrite": "act TodoWrite", "update_plan": "act update_plan", "mcp__mail__send": "act mail",
		"AskUserQuestion": "act AskUserQuestion", "browser_navigate": "act browser_navigate", "Skill": "act Skill", "ExitPlanMode": "act ExitPlanMode",
		"Edit": "act files", "apply_patch": "act files", "mcp__fs__write_file": "act files",
		"BashOutput": "moving BashOutput", "write_stdin": "moving write_stdin", "wait": "moving wait", "get_current_time": "moving get_current_time",
		"mcp__ci__build_status": "moving ci", "wait_for_agent": "moving wait_for_agent", "date": "moving date", "—": "unknown —",
	}
	for tool, want := range tools {
		checkLook(t, tool, `{"file_path":"/a/b.go","q":1}`, want)
	}
	commands := map[string]string{
		"cat a.go": "content", "cd /x && sed -n '1,80p' a.go | head -20": "content", "rg -n 'a|b' . || true": "content", "find . -name '*.go' | wc -l": "content",
		"ls -la; tree -L 2": "content", "FOO=1 grep -rn x . 2>/dev/null": "content", "timeout 5 cat a": "content", "xargs -n1 cat": "content", "curl -s https://a.example/x": "content",
		"jq -r '.a[] | .b' < x.json": "content", "sudo cat /etc/hosts": "content", "git log -5 > /dev/null; cat b": "state git",
		"git log --oneline -5": "state git", "git -C /x show HEAD:a.go": "state git", "git --no-pager blame a.go": "state git", "git status": "state git files",
		"git diff HEAD~1 -- a.go | head -50": "state git files", "kubectl get pods -n web": "state kubectl", "kubectl -n web describe pod/a": "state kubectl",
		"docker ps -a": "state docker", "gh pr view 12 --json title": "state gh", "aws s3 ls": "state aws files", "npm ls --depth 0": "state npm files", "go doc fmt": "state go",
		"git log -3 && kubectl get pods": "state git kubectl",
		"go test ./...":                  "unknown go files", "make": "unknown make files", "./x report": "unknown ./x files", "git commit -m x": "unknown git files", "git fetch origin": "unknown git files",
		"kubectl apply -f get.yaml": "unknown kubectl files", "docker exec a cat /etc/x": "unknown docker files", "gh pr create --title list": "unknown gh files",
		"cat a && git add a": "unknown git files", "cat $(ls)": "unknown files", "grep x $DIR": "unknown files", "python3 - <<'E'\nprint(1)\nE": "unknown python3 files",
		"find . -name x -delete": "unknown find files", "curl -X POST https://a.example": "unknown curl files", "curl -so out https://a.example && cat x": "content",
		`echo "$(date)"`: "unknown files", "cat 'unclosed": "unknown files",
		"echo x > a.go": "act files", "rm a.go": "act files", "sed -i s/a/b/ a.go": "act files", "cat a | tee b": "act files",
		"date": "moving", "ps aux | grep x": "moving", "sleep 5 && kubectl get pods": "moving", "tail -f log": "moving", "kubectl get pods -w": "moving",
		"journalctl --follow": "unknown journalctl files", "gh run watch 12": "moving", "kubectl logs -f pod": "moving", "cd /x": "act", "echo done": "act", "": "act",
		"while true; do kubectl get pods; sleep 5; done": "moving", "watch kubectl get pods": "moving", "pwd": "moving", "bun x/cli.ts grade --help | head": "content bun",
	}
	for cmd, want := range commands {
		b, _ := json.Marshal(map[string]string{"command": cmd})
		checkLook(t, "Bash", string(b), want)
		b, _ = json.Marshal(map[string]any{"command": []string{"bash", "-lc", cmd}})
		checkLook(t, "shell", string(b), want)
	}
}

func checkLook(t *testing.T, tool, input, want string) {
	t.Helper()
	c := Read(tool, input)
	got := strings.TrimSpace([]string{"unknown", "act", "state", "content", "moving"}[c.Look] + " " + strings.Join(c.Of, " "))
	if got != want {
		t.Errorf("%s %s: %s, want %s", tool, input, got, want)
	}
}

func TestCanonicalResult(t *testing.T) {
	const a = "Chunk ID: a1\nWall time: 0.1 seconds\nProcess exited with code 0\nOriginal token count: 2\nOutput:\nx\nWall time: 3\n"
	b := strings.NewReplacer("a1", "b2", "0.1", "12.5").Replace(a)
	if one, _ := CanonicalResult(a); one == a || !strings.HasSuffix(one, "Output:\nx\nWall time: 3\n") {
		t.Errorf("%q", one)
	} else if two, _ := CanonicalResult(b); one != two {
		t.Errorf("%q against %q", one, two)
	}
	if one, _ := CanonicalResult(a); one == "" {
		t.Error("nothing left")
	} else if failed, _ := CanonicalResult(strings.Replace(a, "code 0", "code 1", 1)); failed == one {
		t.Error("another status is the same")
	}
	const script = "Script completed\nWall time 0.3 seconds\nOutput:\n" + `{"chunk_id":"a1","wall_time_seconds":1.25,"exit_code":0,"output":"x"}`
	one, _ := CanonicalResult(script)
	two, _ := CanonicalResult(strings.NewReplacer("a1", "b2", "1.25", "0.5", "0.3", "7.1").Replace(script))
	if other, _ := CanonicalResult(strings.Replace(script, `:"x"`, `:"y"`, 1)); one != two || one == other {
		t.Errorf("%q against %q and %q", one, two, other)
	}
	for text, nothing := range map[string]bool{"": true, " \n": true, "No matches found": true, "(no output)": true, "Wall time: 1\nOutput:\n": true, "Script completed\nWall time 0.1 seconds\nOutput:\n\n": true, "Wall time: 1\nOutput:\n0": false,
		"no": false, "Output:\n": false, "a": false} {
		if _, got := CanonicalResult(text); got != nothing {
			t.Errorf("%q says nothing: %v", text, got)
		}
	}
}
