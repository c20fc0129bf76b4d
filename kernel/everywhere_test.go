package kernel_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/api"
)

// holdingWords are the files below a folder that hold words, by any case.
func holdingWords(t *testing.T, dir, words string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(bytes.ToLower(data), []byte(strings.ToLower(words))) {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Words that two sessions, the memory's files, a backup of these and the index hold are
// nowhere after they were forgotten, and nothing else is gone.
func TestForgetEverywhere(t *testing.T) {
	const words1, elsewhere = "Elm Street 7", "the crane is greased on Tuesdays"
	dir := t.TempDir()
	put(t, dir, "MEMORY.md", "# Memory\n\n- Anna lives at elm  street 7.\n- And "+elsewhere+".\n")
	put(t, dir, "memory/2026-03-08.md", "# 2026-03-08\n\n- [decision] Parcels for Elm\n  Street 7 go by boat.\n- [decision] We agreed that "+elsewhere+" by two people.\n")
	k := nightKernel(t, dir)
	defer func() { k.Close() }()
	for n, key := range []string{"one", "two"} {
		c := newConversation(int64(n))
		c.add(memkernel.RoleUser, words("Please note: Anna lives at ELM STREET 7, and "+elsewhere+"."))
		c.ask("Read", `{"file_path":"/p/elm.txt"}`, strings.Repeat("berth 9 is free\n", 40)+"Elm Street 7\n")
		c.say()
		if _, err := k.ObserveTurn(t.Context(), api.Turn{SessionKey: key, Messages: c.msgs, Private: true, Now: nightAt}); err != nil {
			t.Fatal(err)
		}
		if _, err := k.Checkpoint(t.Context(), api.Boundary{SessionKey: key, Messages: c.msgs, Private: true, Now: nightAt}); err != nil {
			t.Fatal(err)
		}
	}
	curated(t, k, true)
	if _, err := k.Reindex(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	before := holdingWords(t, dir, words1)
	if len(before) < 4 {
		t.Fatalf("only %v hold it", before)
	}
	preview, err := k.ForgetEverywhere(t.Context(), api.EverywhereRequest{Words: words1})
	if err != nil || preview.Applied || len(preview.Sessions) != 2 || len(preview.Lines) < 3 {
		t.Fatalf("%+v, %v", preview, err)
	}
	if now := holdingWords(t, dir, words1); len(now) != len(before) {
		t.Errorf("a preview changed something: %v, there were %v", now, before)
	}
	out, err := k.ForgetEverywhere(t.Context(), api.EverywhereRequest{Words: words1, Reason: "she asked", Apply: true})
	if err != nil || len(out.Left) > 0 || !out.Indexed || out.Files == 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	if left := holdingWords(t, dir, words1); len(left) > 0 {
		t.Errorf("%v hold it", left)
	}
	for _, path := range []string{"MEMORY.md", "memory/2026-03-08.md"} {
		if text, err := os.ReadFile(filepath.Join(dir, path)); err != nil || !strings.Contains(string(text), elsewhere) {
			t.Errorf("%s lost more: %v\n%s", path, err, text)
		}
	}
	clean(t, k)
	again, err := k.ForgetEverywhere(t.Context(), api.EverywhereRequest{Words: words1, Apply: true})
	if err != nil || len(again.Sessions)+len(again.Lines)+len(again.Backups)+len(again.Left) > 0 {
		t.Errorf("again: %+v, %v", again, err)
	}
}

// A session is forgotten by its key, and what was said in it stands nowhere.
func TestForgetSessionEverywhere(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	c := newConversation(5)
	const long = "The lighthouse keeper of Skerry wants his letters brought by the second boat of the day."
	c.add(memkernel.RoleUser, words(long))
	c.say()
	if _, err := k.ObserveTurn(t.Context(), api.Turn{SessionKey: "keeper", Messages: c.msgs, Private: true}); err != nil {
		t.Fatal(err)
	}
	out, err := k.ForgetEverywhere(t.Context(), api.EverywhereRequest{Words: "keeper", Apply: true})
	if err != nil || len(out.Sessions) != 1 || !out.Sessions[0].Whole || len(out.Left) > 0 {
		t.Fatalf("%+v, %v", out, err)
	}
	if left := holdingWords(t, dir, long); len(left) > 0 {
		t.Errorf("%v hold it", left)
	}
	if _, err := k.ForgetEverywhere(t.Context(), api.EverywhereRequest{Words: "ab"}); err == nil || !strings.Contains(err.Error(), "too short") {
		t.Error(err)
	}
}
