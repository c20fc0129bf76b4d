package kernel_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"pgregory.net/rapid"
)

func sessionsDir(dir string) string { return filepath.Join(dir, ".memkernel", "sessions") }

// sayAs plans a short session of a key, and gives the text that only it has.
func sayAs(t fataler, k *kernel.Kernel, key string, seed int64) *conversation {
	t.Helper()
	c := session(seed, 1, 0, 200)
	req := request(c)
	req.SessionKey = key
	mustPlan(t, k, req)
	return c
}

// keys that meet others on one disk or another.
var keysThatMeet = []string{"a/b", "a_b", "a_b-c14cddc033f64b9d", "abc", "ABC", "Abc", "abc.", "con", "CON", "NUL", "com1", "aux.txt", "aux.t/x", "caf\u00e9", "cafe\u0301", "\xff", "\xfe", "..", "trail ", "trail", strings.Repeat("k", 101), strings.Repeat("k", 102)}

// TestKeysShareNoFolder: sessions of keys that were made to meet keep their own, and
// whatever lists them says the keys.
func TestKeysShareNoFolder(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	keys := slices.Clone(keysThatMeet)
	for _, key := range keysThatMeet {
		keys = append(keys, kernel.SafeKey(key), kernel.SafeKey(kernel.SafeKey(key)))
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	for i, key := range keys {
		sayAs(t, k, key, int64(i))
	}
	entries, err := os.ReadDir(sessionsDir(dir))
	if err != nil || len(entries) != len(keys) {
		t.Fatalf("%d folders of %d keys, %v", len(entries), len(keys), err)
	}
	folded := map[string]bool{}
	for _, e := range entries {
		folded[strings.ToLower(strings.TrimRight(e.Name(), ". "))] = true
	}
	if len(folded) != len(keys) {
		t.Errorf("%d folders of %d keys on a disk that doesn't tell case", len(folded), len(keys))
	}
	k.Close()
	k = openKernel(t, dir)
	defer k.Close()
	st, err := k.Status(context.Background(), &api.StatusOptions{All: true})
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, s := range st.Sessions {
		listed = append(listed, s.Key)
	}
	slices.Sort(listed)
	if !slices.Equal(listed, keys) {
		t.Errorf("status lists %q", listed)
	}
	clean(t, k)
}

// TestKeysNeverShare: the same of keys that are drawn, two at a time.
func TestKeysNeverShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.OneOf(rapid.SampledFrom(keysThatMeet), rapid.String(), rapid.StringMatching(`[a-cA-C_./-]{1,4}`),
			rapid.Map(rapid.SliceOfN(rapid.Byte(), 1, 8), func(b []byte) string { return string(b) }))
		a := key.Draw(t, "a")
		b := rapid.SampledFrom([]func() string{func() string { return key.Draw(t, "b") }, func() string { return kernel.SafeKey(a) }, func() string { return strings.ToUpper(a) },
			func() string { return strings.ToLower(a) }, func() string { return a + "." }}).Draw(t, "how")()
		if a == "" || b == "" || a == b {
			t.Skip("one key")
		}
		dir := tempDir(t)
		k := openKernel(t, dir)
		defer k.Close()
		sayAs(t, k, a, 1)
		sayAs(t, k, b, 2)
		entries, err := os.ReadDir(sessionsDir(dir))
		if err != nil || len(entries) != 2 || strings.EqualFold(entries[0].Name(), entries[1].Name()) {
			t.Fatalf("%q and %q: %v, %v", a, b, entries, err)
		}
	})
}

// TestFolderOfAnother: a folder that says another key is an error that names both, and
// is left as it is; so is one that can't be read, or that a newer version wrote.
func TestFolderOfAnother(t *testing.T) {
	for _, c := range []struct{ says, want string }{
		{`{"format":1,"key":"other"}`, `"other"`},
		{`{"format":1,"key":`, "restore the file"},
		{`{"format":2,"key":"mine"}`, "newer version"},
		{`{}`, "no format"},
	} {
		dir := t.TempDir()
		k := openKernel(t, dir)
		sayAs(t, k, "mine", 1)
		k.Close()
		path := filepath.Join(sessionsDir(dir), "mine", "session.json")
		if err := os.WriteFile(path, []byte(c.says), 0o600); err != nil {
			t.Fatal(err)
		}
		before := read(t, sessionsDir(dir), filepath.Join("mine", "journal.jsonl"))
		k = openKernel(t, dir)
		conv := session(2, 2, 0, 200)
		req := request(conv)
		req.SessionKey = "mine"
		_, err := k.PlanContext(context.Background(), req)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "mine") {
			t.Errorf("%s: %v", c.says, err)
		}
		if read(t, sessionsDir(dir), filepath.Join("mine", "journal.jsonl")) != before {
			t.Errorf("%s: the journal was written to", c.says)
		}
		k.Close()
	}
}

// TestTwoProcessesOneFolder: two kernels that open a session first at the same time
// come to one folder.
func TestTwoProcessesOneFolder(t *testing.T) {
	dir := t.TempDir()
	done := make(chan *kernel.Kernel)
	for range 4 {
		go func() {
			k := openKernel(t, dir)
			sayAs(t, k, "Agent X", 1)
			done <- k
		}()
	}
	for range 4 {
		k := <-done
		defer k.Close()
		clean(t, k)
	}
	if entries, err := os.ReadDir(sessionsDir(dir)); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}
