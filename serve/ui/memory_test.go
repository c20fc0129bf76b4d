package ui

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/kernel/api"
)

// post sends a change and decodes what came of it.
func post[T any](t *testing.T, o *opened, path string, c change, status int) (out T) {
	t.Helper()
	body, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	res, text := o.do(t, http.MethodPost, "/api/"+path, string(body), "Origin", o.base)
	if err := json.Unmarshal([]byte(text), &out); err != nil || res.StatusCode != status {
		t.Fatalf("%s: %s %v %s", path, res.Status, err, text)
	}
	return out
}

// file is what is in MEMORY.md.
func (o *opened) file(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(o.o.Workspace, "MEMORY.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// A person adds a note, edits a line, takes one out and takes it all back; the file is then what
// it was.
func TestChangesByHand(t *testing.T) {
	o := openWindow(t, Options{Voice: api.VoicePerson})
	o.enter(t)
	before := o.file(t)
	added := post[api.EntryEdited](t, o, "remember", change{Text: "Staging listens on 8081.", Path: "MEMORY.md"}, http.StatusOK)
	if !strings.Contains(o.file(t), "- Staging listens on 8081.") || added.Edit == "" {
		t.Fatalf("%+v: %s", added, o.file(t))
	}
	edited := post[api.EntryEdited](t, o, "edit", change{Path: "MEMORY.md", Line: 3, EndLine: 3, Was: "We deploy on Tuesdays.", Text: "We deploy on Fridays."}, http.StatusOK)
	if !strings.Contains(o.file(t), "- We deploy on Fridays.") || strings.Contains(o.file(t), "Tuesdays") {
		t.Errorf("%s", o.file(t))
	}
	gone := post[api.EntryEdited](t, o, "edit", change{Path: "MEMORY.md", Line: added.Line, Was: "Staging listens on 8081."}, http.StatusOK)
	if strings.Contains(o.file(t), "8081") {
		t.Errorf("%s", o.file(t))
	}
	for _, e := range []string{gone.Edit, edited.Edit, added.Edit} {
		post[api.EditUndone](t, o, "undo", change{Edit: e}, http.StatusOK)
	}
	if o.file(t) != before {
		t.Errorf("it was %q and is %q", before, o.file(t))
	}
}

// An entry that somebody changed or moved meanwhile stays as it is, and the answer says so.
func TestChangedMeanwhile(t *testing.T) {
	o := openWindow(t, Options{Voice: api.VoicePerson})
	o.enter(t)
	for _, now := range []string{"# MEMORY.md\n\n- We deploy on Mondays.\n", "# MEMORY.md\n\n- Another line.\n- We deploy on Tuesdays.\n", "# MEMORY.md\n"} {
		if err := os.WriteFile(filepath.Join(o.o.Workspace, "MEMORY.md"), []byte(now), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"We deploy on Fridays.", ""} {
			got := post[refusal](t, o, "edit", change{Path: "MEMORY.md", Line: 3, Was: "We deploy on Tuesdays.", Text: text}, http.StatusConflict)
			if !strings.Contains(got.Error, "reads otherwise") || o.file(t) != now {
				t.Errorf("%q: %s; %q", text, got.Error, o.file(t))
			}
		}
	}
	if got := post[refusal](t, o, "edit", change{Path: "MEMORY.md", Line: 3, Text: "x"}, http.StatusBadRequest); !strings.Contains(got.Error, "the text that the entry had") {
		t.Errorf("an edit that does not say what it read: %s", got.Error)
	}
	if got := post[refusal](t, o, "remember", change{Text: "x", Path: "../elsewhere.md"}, http.StatusBadRequest); got.Error == "" {
		t.Error("a file elsewhere")
	}
}

// A window that an agent opened changes no line of a person.
func TestAgentsWindow(t *testing.T) {
	o := openWindow(t, Options{Voice: api.VoiceAgent})
	o.enter(t)
	before := o.file(t)
	if got := post[refusal](t, o, "edit", change{Path: "MEMORY.md", Line: 3, Was: "We deploy on Tuesdays.", Text: "We never deploy."}, http.StatusBadRequest); !strings.Contains(got.Error, "person") || o.file(t) != before {
		t.Errorf("%s; %q", got.Error, o.file(t))
	}
}
