package recall

import (
	"testing"

	"github.com/memkernel/memkernel"
)

const (
	readA   = `{"file_path":"/p/src/a.go"}`
	editA   = `{"file_path":"/p/src/a.go","old_string":"return nil","new_string":"return err"}`
	patched = "*** Begin Patch\n*** Update File: src/a.go\n@@\n-return nil\n+return err\n*** Delete File: b.go\n*** End Patch"
)

// step is a call with its result.
type step struct{ tool, input, result string }

func told(steps []step) *Tracker {
	tr := New()
	for i, s := range steps {
		id := string(rune('a' + i))
		if s.tool != "" {
			tr.Append(tool(id, s.tool, s.input))
			tr.Append(outcome(id, s.result))
		} else {
			tr.Append(text(memkernel.RoleUser, s.result))
		}
	}
	return tr
}

func TestEditsAreFreshUntilTheFileIsEdited(t *testing.T) {
	read, edit := step{"Read", readA, "return nil"}, step{"Edit", editA, "return err"}
	for _, c := range []struct {
		name    string
		steps   []step
		changed bool
	}{
		{"read", []step{read}, false},
		{"seen by a search alone", []step{{"Grep", `{"pattern":"nil"}`, "a.go: return nil"}}, false},
		{"edited in place", []step{read, edit}, true},
		{"edited and read again", []step{read, edit, read}, false},
		{"read again by a shell", []step{read, edit, {"Bash", `{"command":"cd /p && sed -n 1,9p src/a.go"}`, "return nil"}}, false},
		{"a patch names the file from its folder", []step{read, {"apply_patch", patched, "Done"}}, true},
		{"written", []step{{"Write", `{"file_path":"/p/src/a.go","content":"return nil"}`, "created"}}, true},
		{"another file edited", []step{read, {"Edit", `{"file_path":"/p/src/b.go","old_string":"x","new_string":"y"}`, "ok"}}, false},
		{"a read that shows nothing", []step{read, edit, {"Read", readA, "File unchanged since last read."}}, true},
	} {
		got := told(c.steps).Actions(&Prompt{}, tool("z", "Edit", editA))[0]
		if want := (Quoted{1, 1, 1, 0}); c.changed && (got.Changed != want || got.Fresh != Quoted{}) || !c.changed && (got.Fresh != want || got.Changed != Quoted{}) {
			t.Errorf("%s: fresh %v, changed %v", c.name, got.Fresh, got.Changed)
		}
	}
	tr := told([]step{read})
	failed := outcome("y", "no such text")
	failed.Parts[0].Result.IsError = true
	tr.Append(tool("y", "Edit", editA))
	tr.Append(failed)
	if got := tr.Actions(&Prompt{}, tool("z", "Edit", editA))[0]; got.Fresh.Lines != 1 {
		t.Error("an edit that failed changed the file")
	}
}

func TestResultsOfFilesDieAndFinish(t *testing.T) {
	read := step{"Read", readA, "return nil"}
	commit := step{"Bash", `{"command":"git -C /p commit -m done"}`, "1 file changed"}
	for _, c := range []struct {
		name           string
		then           []step
		dead, finished bool
	}{
		{"nothing since", nil, false, false},
		{"edited", []step{{"Edit", editA, "ok"}}, false, false},
		{"read whole", []step{read}, true, false},
		{"read in part", []step{{"Read", `{"file_path":"/p/src/a.go","offset":3}`, "x"}}, false, false},
		{"written over", []step{{"Write", `{"file_path":"/p/src/a.go","content":"x"}`, "ok"}}, true, false},
		{"removed", []step{{"Bash", `{"command":"rm /p/src/a.go"}`, ""}}, true, false},
		{"copied over by sed", []step{{"Bash", `{"command":"sed -i s/nil/err/ /p/src/a.go"}`, ""}}, false, false},
		{"committed", []step{commit}, false, true},
		{"committed and named since", []step{commit, {"", "", "look at a.go again"}}, false, false},
		{"named before the commit", []step{{"", "", "look at a.go"}, commit}, false, true},
		{"touched after the commit", []step{commit, {"Read", readA, "return nil"}}, true, false},
		{"the log alone", []step{{"Bash", `{"command":"git log -1"}`, "commit 7"}}, false, false},
		{"a task completed", []step{{"TaskUpdate", `{"taskId":"1","status":"completed"}`, "ok"}}, false, true},
		{"a task begun", []step{{"TaskUpdate", `{"taskId":"1","status":"in_progress"}`, "ok"}}, false, false},
		{"a list with an entry completed", []step{{"TodoWrite", `{"todos":[{"content":"x","status":"completed"}]}`, "ok"}}, false, true},
		{"a list with the same entries completed", []step{{"TodoWrite", `{"todos":[{"status":"completed"}]}`, "ok"}, {"", "", "a.go"},
			{"TodoWrite", `{"todos":[{"status":"completed"},{"status":"pending"}]}`, "ok"}}, false, false},
	} {
		got := told(append([]step{read}, c.then...)).FileResults()[0]
		if got.Dead != c.dead || got.Finished != c.finished || got.Text != "return nil" {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}
